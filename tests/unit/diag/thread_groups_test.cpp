// SPDX-License-Identifier: Apache-2.0
#include "diag/thread_groups.hpp"

#include <gtest/gtest.h>

#include <tulle/latch.hpp>
#include <tulle/this_thread.hpp>
#include <tulle/thread.hpp>

#include <memory_resource>
#include <new>
#include <numeric>
#include <vector>

#include "runtime_fixture.hpp"

namespace {

using namespace tulle;

// Gives memory so many times.
class short_memory : public std::pmr::memory_resource {
public:
    explicit short_memory(int times) : m_left(times) {}

private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        if (m_left == 0) throw std::bad_alloc();
        --m_left;
        return m_from.allocate(bytes, alignment);
    }
    void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override {
        m_from.deallocate(memory, bytes, alignment);
    }
    [[nodiscard]] bool do_is_equal(memory_resource const& other) const noexcept override {
        return this == &other;
    }

    int m_left;
    std::pmr::memory_resource& m_from = *std::pmr::new_delete_resource();
};

TEST(thread_groups, without_memory_something_is_missing) {
    latch go(1);
    latch begun(5);
    std::vector<thread<void>> waiting;
    for (int k = 0; k < 5; ++k)
        waiting.push_back(spawn([&] {
            begun.count_down();
            go.wait();
        }));
    begun.wait(); // one that has not begun would be run by the thread that joins it
    latch joining(1);
    thread<void> const joins = spawn([&] {
        joining.count_down();
        waiting.front().join();
    });
    joining.wait();
    this_thread::sleep_for(std::chrono::milliseconds(20)); // they wait by now, most times
    bool is_complete = false;
    for (int times = 0; !is_complete; ++times) {
        ASSERT_LT(times, 100);
        short_memory memory(times);
        diag::thread_groups found(memory);
        is_complete = found.collect(sched::scheduler::instance());
        std::size_t const sum =
            std::accumulate(found.groups().begin(), found.groups().end(), std::size_t{0},
                            [](std::size_t total, auto const& g) { return total + g.count; });
        EXPECT_LE(sum, 7U);
        EXPECT_TRUE(!is_complete || sum == 7) << sum; // with main
        for (auto const& g : found.groups()) EXPECT_NE(g.count, 0U);
    }
    go.count_down();
}

} // namespace
