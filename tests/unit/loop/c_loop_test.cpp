// SPDX-License-Identifier: Apache-2.0
//
// The C functions of loops where C alone does not get: exceptions of C++ that leave functions.
#include <tulle.h>

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <new>
#include <stdexcept>

namespace {

enum class thrown : int { nothing, memory, length, argument, number };

void throw_it(void* what) {
    switch (*static_cast<thrown*>(what)) {
        case thrown::nothing: return;
        case thrown::memory: throw std::bad_alloc();
        case thrown::length: throw std::length_error("a");
        case thrown::argument: throw std::invalid_argument("b");
        case thrown::number: throw 1;
    }
}

struct expected {
    thrown what;
    int error;
};
constexpr std::array<expected, 5> k_cases{{{thrown::nothing, 0},
                                           {thrown::memory, -ENOMEM},
                                           {thrown::length, -ENOMEM},
                                           {thrown::argument, -EINVAL},
                                           {thrown::number, -EREMOTEIO}}};

TEST(c_loop, exceptions_are_numbers) {
    for (int const schedule : {TULLE_AUTOMATIC, TULLE_EVEN, TULLE_DYNAMIC, TULLE_ONE_THREAD_EACH}) {
        tulle_loop_options const options{schedule, 1, nullptr};
        for (expected c : k_cases) {
            auto const each = [](std::int64_t i, void* what) {
                if (i == 7) throw_it(what);
            };
            auto const part = [](std::int64_t, std::int64_t, void* what) { throw_it(what); };
            EXPECT_EQ(tulle_loop_for(0, 100, 1, each, &c.what, &options), c.error);
            EXPECT_EQ(tulle_loop_for(21, 0, -7, each, &c.what, &options), c.error);
            EXPECT_EQ(tulle_loop_chunks(0, 100, part, &c.what, &options), c.error);
        }
    }
}

TEST(c_loop, exceptions_of_parts_and_comparisons_are_numbers) {
    for (expected c : k_cases) {
        auto const part = [](std::size_t, std::int64_t, std::int64_t, void* what) {
            throw_it(what);
        };
        auto const value = [](std::int64_t, std::int64_t, void* what, void*) { throw_it(what); };
        int sum = 0;
        EXPECT_EQ(tulle_loop_parts(0, 100, part, &c.what, nullptr), c.error);
        EXPECT_EQ(tulle_loop_accumulate(0, 100, sizeof sum, &sum, value, &c.what,
                                        [](void*, void const*) {}),
                  c.error);
    }
    std::array<int, 3> numbers{3, 1, 2};
    auto const compare = [](void const*, void const*) -> int { throw std::length_error("c"); };
    EXPECT_EQ(tulle_loop_sort(numbers.data(), numbers.size(), sizeof(int), compare), -ENOMEM);
    EXPECT_EQ(numbers, (std::array<int, 3>{3, 1, 2}));
}

TEST(c_loop, too_many_iterations_are_refused) {
    auto const each = [](std::int64_t, void*) {};
    tulle_loop_options const threads{TULLE_ONE_THREAD_EACH, 1, nullptr};
    EXPECT_EQ(tulle_loop_for(INT64_MIN, INT64_MAX, 1, each, nullptr, nullptr), -EOVERFLOW);
    EXPECT_EQ(tulle_loop_for(INT64_MAX, INT64_MIN, -1, each, nullptr, nullptr), -EOVERFLOW);
    EXPECT_EQ(tulle_loop_for(0, std::int64_t{1} << 31U, 1, each, nullptr, &threads), -EOVERFLOW);
}

} // namespace
