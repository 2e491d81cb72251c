// SPDX-License-Identifier: Apache-2.0
// The stack of a thread that had a size of its own is kept, with its fiber, for the next of that
// size.
#include "runtime_fixture.hpp"
#include "sched/scheduler.hpp"

#include <tulle.h>
#include <tulle/detail/stack_attachments.hpp>

#include <cfenv>
#include <cstddef>
#include <exception>
#include <stdexcept>

namespace {

using namespace tulle;

constexpr std::size_t k_kibi = 1024;

attributes of_size(std::size_t bytes) {
    attributes how;
    how.stack_size = bytes;
    how.child_first = true;
    return how;
}

// Each begins in place of its spawner, and goes on with it. Where each thread has a worker to
// itself nobody might wait to go on.
class kept_stack : public over_workers {
protected:
    static std::byte* low_of_one(std::size_t bytes) {
        return spawn(of_size(bytes), [] { return detail::current_stack().low; }).join();
    }
    static sched::worker& worker() { return *sched::this_worker(); }
    static std::size_t stacks_of(std::size_t bytes) {
        return sched::running_scheduler().stacks().stats(stack::class_for(bytes)).in_use;
    }
};
INSTANTIATE_TEST_SUITE_P(workers, kept_stack, ::testing::Values(1));

TEST_P(kept_stack, is_used_by_the_next_of_its_size) {
    std::byte* const first = low_of_one(64 * k_kibi);
    ASSERT_NE(worker().kept, nullptr);
    sched::fiber const* const f = worker().kept;
    for (int k = 0; k < 1000; ++k) {
        ASSERT_EQ(low_of_one(64 * k_kibi), first);
        ASSERT_EQ(worker().kept, f);
    }
}

TEST_P(kept_stack, is_none_for_another_size) {
    std::byte* const first = low_of_one(64 * k_kibi);
    ASSERT_NE(worker().kept, nullptr);
    EXPECT_NE(low_of_one(128 * k_kibi), first);
    EXPECT_EQ(low_of_one(64 * k_kibi), first);
    EXPECT_EQ(worker().kept->stack.low, first);
}

TEST_P(kept_stack, is_for_one_at_a_time) {
    auto const nested = [] {
        std::byte* const outer = detail::current_stack().low;
        return spawn(of_size(64 * k_kibi), [outer] { return detail::current_stack().low != outer; })
            .join();
    };
    for (int k = 0; k < 20; ++k) EXPECT_TRUE(spawn(of_size(64 * k_kibi), nested).join());
    EXPECT_LE(stacks_of(64 * k_kibi), 2 + 64U); // the cache of the worker
}

TEST_P(kept_stack, is_not_a_large_one) {
    low_of_one(8 * k_kibi * k_kibi);
    EXPECT_EQ(worker().kept, nullptr);
}

TEST_P(kept_stack, is_no_thread_in_reports) {
    low_of_one(64 * k_kibi);
    ASSERT_NE(worker().kept, nullptr);
    EXPECT_EQ(worker().kept->alive.load(), 0U);
    EXPECT_EQ(worker().kept->frame, nullptr);
}

TEST_P(kept_stack, goes_when_memory_is_given_back) {
    low_of_one(64 * k_kibi);
    ASSERT_NE(worker().kept, nullptr);
    sched::running_scheduler().trim(worker());
    EXPECT_EQ(worker().kept, nullptr);
    EXPECT_EQ(stacks_of(64 * k_kibi), 0U);
    low_of_one(64 * k_kibi);
}

// Neither roundings nor exceptions, nor what it was left with when it was kept.
TEST_P(kept_stack, has_nothing_left_of_the_one_before) {
    for (int k = 0; k < 20; ++k) {
        int const left_behind = k % 2 == 0 ? FE_UPWARD : FE_DOWNWARD;
        bool const is_as_new = spawn(of_size(64 * k_kibi), [left_behind] {
                                   double volatile one = 1;
                                   bool const is_nearest = std::fegetround() == FE_TONEAREST &&
                                                           one + 1e-30 == 1 && one - 1e-30 == 1;
                                   std::fesetround(left_behind);
                                   return is_nearest && std::current_exception() == nullptr &&
                                          std::uncaught_exceptions() == 0;
                               }).join();
        EXPECT_TRUE(is_as_new);
        EXPECT_EQ(std::fegetround(), FE_TONEAREST);
        EXPECT_THROW(
            spawn(of_size(64 * k_kibi), [] { throw std::runtime_error("its own"); }).join(),
            std::runtime_error);
    }
}

#if defined(__GLIBC__) && defined(__x86_64__)
// It traps where the one who starts it has it so, and not where the one before it was started so.
TEST_P(kept_stack, traps_as_who_starts_the_thread) {
    auto const trapping = [] { return fegetexcept(); };
    for (int k = 0; k < 3; ++k) low_of_one(32 * k_kibi); // from now on no loop is in between
    ASSERT_NE(worker().kept, nullptr);
    feenableexcept(FE_DIVBYZERO);
    int const at_first = spawn(of_size(32 * k_kibi), trapping).join();
    fedisableexcept(FE_DIVBYZERO);
    EXPECT_EQ(at_first, FE_DIVBYZERO);
    for (int k = 0; k < 3; ++k) EXPECT_EQ(spawn(of_size(32 * k_kibi), trapping).join(), 0);
    feenableexcept(FE_OVERFLOW);
    int const then = spawn(of_size(32 * k_kibi), trapping).join();
    fedisableexcept(FE_OVERFLOW);
    EXPECT_EQ(then, FE_OVERFLOW);
}
#endif

} // namespace
