// SPDX-License-Identifier: Apache-2.0
//
// The list under futures: what is added before it is closed is run once, by the closer; who comes
// later is told so, and sees the result.
#include "base/sanitize.hpp"
#include "explorer/explore.hpp"
#include "sync/callback_list.hpp"

#include <gtest/gtest.h>

#include <array>

namespace {

using namespace tulle;

struct node {
    model::plain<int> note{0}; // what its thread has left for the closer
    int runs = 0;
    node* next = nullptr;
};

struct future {
    sync::callback_list<model::machine, node> list;
    model::plain<int> result{0};
    std::array<node, 4> nodes;

    void add(std::size_t k) {
        nodes[k].note.store(1);
        if (list.add(nodes[k])) return;
        ++nodes[k].runs;
        model::check(result.load() == 5, "who comes too late sees the result");
    }
    void close() {
        result.store(5);
        auto all = list.close();
        while (node* const n = all.pop_front()) {
            model::check(n->note.load() == 1, "what came before an addition comes before its run");
            ++n->runs;
        }
    }
    void poll() {
        if (list.is_closed())
            model::check(result.load() == 5, "closed means that the result is there");
    }
};

model::test_body body(bool* in_order = nullptr) {
    return [=](model::test& t) {
        auto& f = t.make<future>();
        t.thread([&f] {
            f.add(0);
            f.add(1);
        });
        t.thread([&f] { f.add(2); });
        t.thread([&f] { f.close(); });
        t.thread([&f] { f.poll(); });
        t.at_end([&f, in_order] {
            for (std::size_t k = 0; k < 3; ++k)
                model::check(f.nodes[k].runs == 1, "each is run once");
            if (in_order != nullptr && f.nodes[0].next == &f.nodes[1]) *in_order = true;
        });
    };
}

TEST(callback_list, each_is_run_once) {
    model::options const o = model::exhaustive(2, base::k_thread_sanitizer ? 4000 : 50000);
    bool in_order = false;
    model::result const r = model::explore("callbacks", o, body(&in_order));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_TRUE(in_order) << "the first comes first";
}

TEST(callback_list, every_order_is_needed) {
    model::options const o = model::random(20000);
    auto const mutants = model::weaken_each("callbacks_weakened", o, body());
    EXPECT_GE(mutants.size(), 4U);
    EXPECT_EQ(model::survivors(mutants), "");
}

} // namespace
