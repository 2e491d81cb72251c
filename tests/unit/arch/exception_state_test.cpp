// SPDX-License-Identifier: Apache-2.0
#include "arch/exception_state.hpp"

#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "backends.hpp"

namespace {

template <class Backend> class exceptions_over : public over_backends<Backend> {};
TYPED_TEST_SUITE(exceptions_over, all_backends);

template <class Fiber> struct yield_at_exit {
    Fiber& self;
    int& destroyed;
    ~yield_at_exit() {
        self.yield();
        ++destroyed;
    }
};

template <class Fiber> [[gnu::noinline]] void throw_below(Fiber& self, int depth, int& destroyed) {
    yield_at_exit<Fiber> const guard{self, destroyed};
    if (depth == 0) {
        throw std::runtime_error("thrown");
    }
    throw_below(self, depth - 1, destroyed);
}

TYPED_TEST(exceptions_over, unwinding_may_be_suspended_in_destructors) {
    int destroyed = 0;
    bool caught = false;
    test_fiber<TypeParam> fiber([&](auto& self) {
        try {
            throw_below(self, 20, destroyed);
        } catch (std::runtime_error const& error) {
            caught = error.what() == std::string("thrown");
        }
    });
    int resumes = 0;
    for (; !fiber.done(); ++resumes) {
        EXPECT_EQ(std::uncaught_exceptions(), 0) << "the exception in flight belongs to the fiber";
        fiber.resume();
    }
    EXPECT_TRUE(caught);
    EXPECT_EQ(destroyed, 21);
    EXPECT_EQ(resumes, 22);
}

/// Catches `value`, yields inside of the handler, and says what a rethrow finds there.
template <class Fiber> void rethrow_after_yield(Fiber& self, int value, int& found) {
    try {
        try {
            throw value;
        } catch (int) {
            self.yield();
            throw;
        }
    } catch (int rethrown) {
        found = rethrown;
    }
}

TYPED_TEST(exceptions_over, handlers_of_two_contexts_interleave) {
    int found_one = 0, found_two = 0;
    test_fiber<TypeParam> one([&](auto& self) { rethrow_after_yield(self, 1, found_one); });
    test_fiber<TypeParam> two([&](auto& self) { rethrow_after_yield(self, 2, found_two); });
    one.resume();
    two.resume();
    EXPECT_EQ(std::current_exception(), nullptr);
    one.resume();
    two.resume();
    EXPECT_EQ(found_one, 1);
    EXPECT_EQ(found_two, 2);
}

TYPED_TEST(exceptions_over, handler_migrates_to_another_os_thread) {
    int found = 0;
    test_fiber<TypeParam> fiber([&](auto& self) { rethrow_after_yield(self, 7, found); });
    try {
        throw std::logic_error("the caller handles one of its own");
    } catch (std::logic_error const&) {
        fiber.resume();
        EXPECT_NE(std::current_exception(), nullptr);
    }
    std::thread([&] {
        fiber.resume();
        EXPECT_EQ(std::current_exception(), nullptr);
    }).join();
    EXPECT_TRUE(fiber.done());
    EXPECT_EQ(found, 7);
}

TYPED_TEST(exceptions_over, caller_in_a_handler_is_invisible_to_the_fiber) {
    bool clean = false;
    test_fiber<TypeParam> fiber([&](auto&) { clean = std::current_exception() == nullptr; });
    try {
        throw 1;
    } catch (int) {
        fiber.resume();
    }
    EXPECT_TRUE(clean);
}

// The control: without the exchange of the two words a rethrow finds the other context's exception.
TYPED_TEST(exceptions_over, without_the_exchange_handlers_mix) {
    int found_one = 0, found_two = 0;
    test_fiber<TypeParam> one([&](auto& self) { rethrow_after_yield(self, 1, found_one); }, false);
    test_fiber<TypeParam> two([&](auto& self) { rethrow_after_yield(self, 2, found_two); }, false);
    one.resume();
    two.resume();
    one.resume();
    EXPECT_EQ(found_one, 2);
    EXPECT_EQ(std::current_exception() != nullptr, true)
        << "the caller sees a handler that is not its own";
    two.resume();
}

} // namespace
