// SPDX-License-Identifier: Apache-2.0
// detail::invoke does what std::invoke does.
#include <tulle/detail/invoke.hpp>

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include <gtest/gtest.h>

namespace {

using tulle::detail::invoke;

struct base {
    int value = 7;
    [[nodiscard]] int plus(int more) const { return value + more; }
    int& reference() & { return value; }
    int moved() && { return std::exchange(value, 0); }
};
struct derived : base {};

int twice(int x) noexcept { return 2 * x; }

TEST(invoke, callables) {
    EXPECT_EQ(invoke(twice, 4), 8);
    EXPECT_EQ(invoke(&twice, 4), 8);
    EXPECT_EQ(invoke([](std::unique_ptr<int> p) { return *p; }, std::make_unique<int>(3)), 3);
    EXPECT_TRUE(noexcept(invoke(twice, 4)));
    EXPECT_FALSE(noexcept(invoke([](int) {}, 4)));
    static_assert(invoke([](int x) { return x + 1; }, 1) == 2);
}

TEST(invoke, pointers_to_members) {
    derived d;
    derived const c;
    EXPECT_EQ(invoke(&base::plus, d, 1), 8);
    EXPECT_EQ(invoke(&base::plus, &c, 1), 8);
    EXPECT_EQ(invoke(&base::plus, std::ref(d), 1), 8);
    EXPECT_EQ(invoke(&base::plus, std::make_unique<base>(), 1), 8);
    invoke(&base::reference, d) = 9;
    EXPECT_EQ(invoke(&base::value, d), 9);
    invoke(&base::value, &d) = 10;
    EXPECT_EQ(invoke(&base::value, std::cref(d)), 10);
    EXPECT_EQ(invoke(&base::moved, std::move(d)), 10);
    static_assert(std::is_same_v<decltype(invoke(&base::value, d)), int&>);
    static_assert(std::is_same_v<decltype(invoke(&base::value, c)), int const&>);
    static_assert(std::is_same_v<decltype(invoke(&base::value, derived())), int&&>);
}

template <class... A>
concept invocable = requires(A... arguments) {
    invoke(arguments...);
};
static_assert(invocable<int (*)(int), int> && !invocable<int (*)(int)> &&
              !invocable<int (*)(int), base> && !invocable<int base::*, int>);

} // namespace
