// SPDX-License-Identifier: Apache-2.0
//
// What the stack pool does when the system refuses: every call of the memory seam fails in turn,
// and address space ends.
#include "emulated.hpp"
#include "stack/stack_pool.hpp"

#include <cerrno>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "test_fiber.hpp"

namespace {

using namespace tulle::stack;
using tulle::os::memory_calls;
using tulle::os::strided_range;
using tulle::os::system_memory;

constexpr size_class k_small{1};

int g_calls_until_failure = 0; ///< of reserve
int g_failing_errno = ENOMEM;

bool fails_now() {
    if (g_calls_until_failure > 0 && --g_calls_until_failure > 0) {
        return false;
    }
    errno = g_failing_errno;
    return true;
}

memory_calls refusing_after(int successes) {
    g_calls_until_failure = successes + 1;
    memory_calls calls = system_memory();
    calls.reserve = [](std::size_t bytes, std::size_t alignment) noexcept -> void* {
        return fails_now() ? nullptr : system_memory().reserve(bytes, alignment);
    };
    return calls;
}

TEST(stack_pool_exhaustion, any_failed_reserve_is_an_error_not_a_crash) {
    bool succeeded = false;
    for (int successes = 0; !succeeded && successes < 20; ++successes) {
        memory_calls const calls = refusing_after(successes);
        settings chosen;
        chosen.memory = &calls;
        chosen.guard = guard_choice::none;
        stack_pool pool(chosen);
        errno = 0;
        span const one = pool.allocate(k_small);
        if (one) {
            succeeded = true;
            EXPECT_EQ(successes, 3) << "slab table, slab, its words";
            pool.release(one);
        } else {
            EXPECT_EQ(errno, ENOMEM);
            EXPECT_EQ(one.size, 0U);
            EXPECT_EQ(pool.stats().in_use, 0U);
            g_calls_until_failure = 1000;
            span const later = pool.allocate(k_small);
            EXPECT_TRUE(later) << "the pool must recover";
            pool.release(later);
        }
    }
    EXPECT_TRUE(succeeded);
}

TEST(stack_pool_exhaustion, many_returns_what_there_is) {
    memory_calls const calls = refusing_after(3);
    settings chosen;
    chosen.memory = &calls;
    chosen.guard = guard_choice::none;
    stack_pool pool(chosen);
    std::vector<span> spans(10'000);
    std::size_t const got = pool.allocate_many(k_small, spans.data(), spans.size());
    EXPECT_EQ(got, 4096U) << "one slab";
    EXPECT_EQ(errno, ENOMEM);
    pool.release_many(spans.data(), got);
    EXPECT_TRUE(pool.allocate(k_small)) << "released stacks serve again";
}

TEST(stack_pool_exhaustion, refused_guard_regions_fall_back_to_mprotect) {
    static int s_installs = 0;
    s_installs = 0;
    memory_calls calls = system_memory();
    calls.install_guards = [](strided_range const& ranges) noexcept {
        errno = EINVAL;
        if (++s_installs > 2) return false; // the probe and the first growth
        for (std::size_t i = 0; i < ranges.count; ++i)
            system_memory().protect(ranges.first + i * ranges.stride, ranges.bytes);
        return true;
    };
    settings chosen;
    chosen.memory = &calls;
    stack_pool pool(chosen);
    EXPECT_EQ(pool.guard(), guard_kind::install);
    std::vector<span> spans(600);
    ASSERT_EQ(pool.allocate_many(k_small, spans.data(), spans.size()), spans.size());
    EXPECT_EQ(pool.guard(), guard_kind::mprotect);
    EXPECT_EQ(pool.stats().unguarded, 0U);
    pool.release_many(spans.data(), spans.size());
}

TEST(stack_pool_exhaustion, refused_mprotect_falls_back_to_canaries) {
    memory_calls calls = system_memory();
    calls.protect = [](void*, std::size_t) noexcept {
        errno = ENOMEM;
        return false;
    };
    settings chosen;
    chosen.memory = &calls;
    chosen.guard = guard_choice::mprotect;
    stack_pool pool(chosen);
    span const one = pool.allocate(k_small);
    ASSERT_TRUE(one);
    EXPECT_EQ(pool.guard(), guard_kind::canary);
    EXPECT_STREQ(pool.guard_text(), text(guard_kind::canary));
    EXPECT_EQ(pool.stats().unguarded, pool.stats().created);
    pool.release(one);
}

TEST(stack_pool_exhaustion, refused_advice_changes_nothing) {
    memory_calls calls = system_memory();
    calls.advise_huge = [](void*, std::size_t, bool) noexcept { return false; };
    calls.populate = [](strided_range const&) noexcept { return false; };
    calls.discard = [](void*, std::size_t) noexcept { return false; };
    settings chosen;
    chosen.memory = &calls;
    stack_pool pool(chosen);
    std::vector<span> spans(3000);
    ASSERT_EQ(pool.allocate_many(k_small, spans.data(), spans.size()), spans.size());
    pool.release_many(spans.data(), spans.size());
    pool.trim();
    EXPECT_EQ(pool.stats().in_use, 0U);
}

TEST(stack_pool_exhaustion, pages_are_populated_only_on_demand) {
    static std::size_t s_populated = 0;
    s_populated = 0;
    memory_calls calls = system_memory();
    calls.populate = [](strided_range const& ranges) noexcept {
        s_populated += ranges.count;
        return system_memory().populate(ranges);
    };
    settings chosen;
    chosen.memory = &calls;
    stack_pool pool(chosen);
    std::vector<span> spans(1536);
    ASSERT_EQ(pool.allocate_many(k_small, spans.data(), 512), 512U);
    EXPECT_EQ(s_populated, 0U) << "there may be no more of them";
    ASSERT_EQ(pool.allocate_many(k_small, spans.data() + 512, 512), 512U);
    EXPECT_EQ(s_populated, 512U);
    pool.release(spans[0]);
    spans[0] = pool.allocate(k_small);
    ASSERT_EQ(pool.allocate_many(k_small, spans.data() + 1024, 512), 512U);
    EXPECT_EQ(s_populated, 512U) << "stacks came back since";
    pool.release_many(spans.data(), spans.size());
}

/// Runs in a child: takes stacks until a limit on address space stops it. The exit code says what
/// went right.
[[noreturn]] void exhaust_address_space(size_class wanted) {
    stack_pool pool;
    span const first = pool.allocate(class_for(65536)); // everything needed once is there now
    constexpr rlim_t k_limit = rlim_t{600} << 20U;
    rlimit const limit{k_limit, k_limit};
    setrlimit(RLIMIT_AS, &limit);
    std::size_t count = 0;
    while (count < 1'000'000 && pool.allocate(wanted)) {
        ++count;
    }
    bool const right =
        first && count > 0 && count < 1'000'000 && errno == ENOMEM && !pool.allocate(wanted);
    _exit(right ? 0 : 1);
}

TEST(stack_pool_exhaustion_death_test, end_of_address_space_is_an_error) {
    TULLE_SKIP_IF_EMULATED("it takes no limit of address space");
    if (k_sanitized) {
        GTEST_SKIP() << "a sanitizer's shadow memory does not fit below a limit";
    }
    for (std::size_t bytes :
         {std::size_t{1024}, std::size_t{16384}, std::size_t{262144}, std::size_t{64} << 20U}) {
        EXPECT_EXIT(exhaust_address_space(class_for(bytes)), ::testing::ExitedWithCode(0), "")
            << bytes;
    }
}

} // namespace
