// SPDX-License-Identifier: Apache-2.0
//
// The ring under qswsrqueue: elements come in order, places are not written before they are read,
// and a side that sleeps is woken (a lost wake-up would show as a livelock).
#include "base/sanitize.hpp"
#include "compat/qthread/structures/ring_core.hpp"
#include "explorer/explore.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>

namespace {

using namespace tulle;
using enum std::memory_order;

// Its orders are relaxed: the ring publishes by its indices.
class semaphore {
public:
    explicit semaphore(int units) : m_units(units) {}
    void release() { m_units.fetch_add(1, relaxed); }
    void acquire() {
        ++sleeps;
        while (m_units.load(relaxed) == 0) model::machine::pause();
        m_units.fetch_sub(1, relaxed);
    }
    static inline int sleeps = 0; // for the test itself

private:
    model::atomic<int> m_units;
};

using ring = compat::ring_core<model::machine, semaphore>;

void* element(std::size_t k) { return reinterpret_cast<void*>(k); }

model::test_body blocking(std::size_t count) {
    return [count](model::test& t) {
        auto& r = t.make<ring>(2U);
        t.thread([&r, count] {
            for (std::size_t k = 1; k <= count; ++k) r.wait_and_put(element(k));
        });
        t.thread([&r, count] {
            for (std::size_t k = 1; k <= count; ++k)
                model::check(r.wait_and_take() == element(k), "in order");
        });
        t.at_end([&r] {
            model::check(r.is_empty() && r.try_take() == nullptr, "it is empty in the end");
        });
    };
}

model::test_body trying() {
    return [](model::test& t) {
        auto& r = t.make<ring>(2U);
        t.thread([&r] {
            for (std::size_t k = 1; k <= 3;)
                k += r.try_put(element(k)) ? 1 : (model::machine::pause(), 0);
        });
        t.thread([&r] {
            for (std::size_t k = 1; k <= 3;) {
                void* const elem = r.try_take();
                model::check(elem == nullptr || elem == element(k), "in order");
                k += elem != nullptr ? 1 : (model::machine::pause(), 0);
            }
        });
    };
}

model::options exhaustive() {
    return model::exhaustive(2, base::k_thread_sanitizer ? 4000 : 40000);
}

TEST(qswsrqueue, sides_wait_for_each_other) {
    semaphore::sleeps = 0;
    model::result const r = model::explore("qswsrqueue_blocking", exhaustive(), blocking(4));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(semaphore::sleeps, 100) << "or nothing was tested";
}

TEST(qswsrqueue, sides_try) {
    model::result const r = model::explore("qswsrqueue_trying", exhaustive(), trying());
    EXPECT_TRUE(r.passed()) << r;
}

TEST(qswsrqueue, every_order_is_needed) {
    model::options const o = model::random(5000);
    auto const mutants = model::weaken_each("qswsrqueue_weakened", o, blocking(4));
    EXPECT_GE(mutants.size(), 4U);
    EXPECT_EQ(model::survivors(mutants), "");
}

} // namespace
