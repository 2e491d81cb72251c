// SPDX-License-Identifier: Apache-2.0
// The machine of the explorer stands for the real one: code that names neither runs on it.
#include "explorer/explore.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace {

using namespace tulle::model;
using enum std::memory_order;

template <class Machine> struct handshake {
    typename Machine::template atomic<std::uint32_t> word{0};
    typename Machine::template plain<int> data{0};

    void post() {
        data.store(1);
        word.store(1, release); // pairs with wait
        Machine::futex_wake(word, 1);
    }
    int wait() {
        while (word.load(acquire) == 0) Machine::futex_wait(word, 0); // pairs with post
        return data.load();
    }
};

TEST(machine, stands_for_the_real_one) {
    options const every = exhaustive(4, 400000);
    result const r = explore("machine", every, [](test& t) {
        auto& h = t.make<handshake<machine>>();
        t.thread([&h] { h.post(); });
        t.thread([&h] { check(h.wait() == 1, "the data arrives with the wake-up"); });
    });
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_TRUE(r.complete);
}

} // namespace
