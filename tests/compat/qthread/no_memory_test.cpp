// SPDX-License-Identifier: Apache-2.0
// Reductions and sorts where the caller's OS thread gets no memory: they give their results.
#include "base/sanitize.hpp"

#include <qthread/qloop.h>
#include <qthread/qthread.h>
#include <qthread/qutil.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

namespace {

thread_local bool t_heap_is_empty = false;
thread_local std::size_t t_refused = 0;

void* take(std::size_t size) noexcept {
    if (!t_heap_is_empty) return std::malloc(size);
    ++t_refused;
    return nullptr;
}

} // namespace

[[gnu::noinline]] void* operator new(std::size_t size) {
    void* const memory = take(std::max<std::size_t>(size, 1));
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

// The main thread stays on its OS thread.
template <class F> void without_memory(F call) {
    t_heap_is_empty = true;
    call();
    t_heap_is_empty = false;
}

struct library {
    library() {
        EXPECT_EQ(qthread_init(4), QTHREAD_SUCCESS);
        aligned_t word = 0;
        EXPECT_EQ(qthread_readFF(nullptr, &word), QTHREAD_SUCCESS); // makes what is made once
    }
    ~library() { qthread_finalize(); }
    library(library const&) = delete;
    library& operator=(library const&) = delete;
};

constexpr std::size_t k_count = 100'000;

TEST(no_memory, reductions_go_on) {
    library const running;
    std::vector<aligned_t> numbers(k_count);
    for (std::size_t k = 0; k != k_count; ++k) numbers[k] = k;
    std::vector<double> ones(k_count, 1);
    aligned_t sum = 0, checked = 0;
    double total = 0;
    without_memory([&] {
        sum = qt_uint_sum(numbers.data(), k_count, 0);
        total = qt_double_sum(ones.data(), k_count, 0); // whose parts need memory
        checked = qt_uint_max(numbers.data(), k_count, 1);
    });
    EXPECT_EQ(sum, k_count / 2 * (k_count - 1));
    EXPECT_EQ(checked, k_count - 1);
    EXPECT_EQ(total, static_cast<double>(k_count));
    // The thread sanitizer of clang gives the library an operator new of its own.
    EXPECT_TRUE(tulle::base::k_thread_sanitizer || t_refused != 0);
}

TEST(no_memory, sorts_go_on) {
    library const running;
    std::vector<double> numbers(k_count);
    std::vector<aligned_t> words(k_count);
    for (std::size_t k = 0; k != k_count; ++k) {
        words[k] = k * 7919 % k_count;
        numbers[k] = static_cast<double>(words[k]);
    }
    std::vector<double> merged = numbers;
    without_memory([&] {
        qutil_qsort(numbers.data(), k_count);
        qutil_aligned_qsort(words.data(), k_count);
        qutil_mergesort(merged.data(), k_count);
    });
    for (std::size_t k = 0; k != k_count; ++k) {
        ASSERT_EQ(words[k], k); // 7919 and the length have no common divisor
        ASSERT_EQ(numbers[k], static_cast<double>(k));
        ASSERT_EQ(merged[k], static_cast<double>(k));
    }
}

} // namespace
