// SPDX-License-Identifier: Apache-2.0
// What is said when the heap has nothing left for a thread's record, or for an OS thread that is to
// be attached.
#include "base/sanitize.hpp"
#include "expect_error.hpp"
#include "runtime_fixture.hpp"

#include <cerrno>
#include <new>
#include <thread>

namespace {

std::atomic<bool> g_heap_is_empty{false};

} // namespace

// The library's own allocations that must not throw; all others go on.
void* operator new(std::size_t size, std::nothrow_t const&) noexcept try {
    return g_heap_is_empty.load(std::memory_order_relaxed) ? nullptr : ::operator new(size);
} catch (std::bad_alloc const&) {
    return nullptr;
}
void* operator new(std::size_t size, std::align_val_t alignment, std::nothrow_t const&) noexcept
    try {
    return g_heap_is_empty.load(std::memory_order_relaxed) ? nullptr
                                                           : ::operator new(size, alignment);
} catch (std::bad_alloc const&) {
    return nullptr;
}

namespace {

using namespace tulle;

#if defined(__clang__)
// The library's object files are given the sanitizer's functions.
constexpr bool k_has_heap_of_its_own = tulle::base::k_thread_sanitizer;
#else
constexpr bool k_has_heap_of_its_own = false;
#endif

TEST(no_memory, for_the_record_of_a_thread) {
    if (k_has_heap_of_its_own) GTEST_SKIP() << "the sanitizer has the heap";
    initialize({.workers = 1});
    g_heap_is_empty = true;
    expect_system_error([] { static_cast<void>(spawn([] {})); }, ENOMEM,
                        "tulle::spawn: no memory for the record of a thread");
    g_heap_is_empty = false;
    EXPECT_EQ(spawn([] { return 3; }).join(), 3);
    finalize();
}

void attach_without_memory() {
    initialize({.workers = 1});
    g_heap_is_empty = true;
    std::thread([] { static_cast<void>(this_thread::get_id()); }).join();
}

TEST(no_memory_death_test, to_attach_an_os_thread) {
    if (k_has_heap_of_its_own) GTEST_SKIP() << "the sanitizer has the heap";
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(attach_without_memory(),
                 R"(tulle: no memory to attach an OS thread \([0-9]+ bytes\))");
}

} // namespace
