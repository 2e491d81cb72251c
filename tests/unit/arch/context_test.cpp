// SPDX-License-Identifier: Apache-2.0
#include "arch/context.hpp"

#include <array>
#include <cerrno>
#include <cfenv>
#include <cstdint>
#include <cstring>
#include <memory>
#include <semaphore>
#include <stdexcept>
#include <thread>
#include <vector>

#include <signal.h>
#include <sys/time.h>
#include <unwind.h>

#include "backends.hpp"

namespace {

constexpr int k_rounds = k_sanitized ? 2'000 : 50'000;

template <class Backend> class context_of : public over_backends<Backend> {};
TYPED_TEST_SUITE(context_of, all_backends);

TYPED_TEST(context_of, ping_pong) {
    long inside = 0;
    test_fiber<TypeParam> fiber([&](auto& self) {
        for (int i = 0; i < k_rounds; ++i) {
            ++inside;
            self.yield();
        }
    });
    for (int i = 0; i < k_rounds; ++i) {
        ASSERT_EQ(inside, i);
        fiber.resume();
    }
    EXPECT_FALSE(fiber.done());
    fiber.resume();
    EXPECT_TRUE(fiber.done());
}

TYPED_TEST(context_of, entry_stack_is_aligned_and_inside) {
    // Sizes need not be multiples of anything.
    for (std::size_t odd : {0U, 1U, 8U, 15U, 16U, 24U, 40U}) {
        std::vector<std::byte> stack(65536 + odd);
        struct state {
            typename TypeParam::context fiber, caller;
            std::uintptr_t frame = 0;
            std::uintptr_t misalignment = 1;
            tulle::arch::sanitizer_fiber annotation, caller_annotation;
        } shared;
        shared.annotation.create(stack.data(), stack.size());
        shared.caller_annotation.adopt_current_thread();
        auto const entry = +[](void* argument) {
            auto& s = *static_cast<state*>(argument);
            tulle::arch::after_switch(s.annotation);
            std::max_align_t volatile local{}; // where the compiler trusts the ABI to put it
            s.frame = reinterpret_cast<std::uintptr_t>(&local);
            s.misalignment = s.frame % alignof(std::max_align_t);
            tulle::arch::before_switch(s.annotation, s.caller_annotation, true);
            TypeParam::set(s.caller);
        };
        TypeParam::make(shared.fiber, stack.data(), stack.size(), entry, &shared);
        tulle::arch::before_switch(shared.caller_annotation, shared.annotation, false);
        TypeParam::switch_to(shared.caller, shared.fiber);
        tulle::arch::after_switch(shared.caller_annotation);
        tulle::arch::forget_stack(stack.data(), stack.size());
        shared.annotation.destroy();
        auto const low = reinterpret_cast<std::uintptr_t>(stack.data());
        EXPECT_GT(shared.frame, low);
        EXPECT_LT(shared.frame, low + stack.size());
        EXPECT_EQ(shared.misalignment, 0U) << odd;
    }
}

TYPED_TEST(context_of, live_values_survive) {
    auto const body = [](auto& self, std::uint64_t seed) {
        std::uint64_t a = seed, b = seed * 3, c = seed * 5, d = seed * 7, e = seed * 11,
                      f = seed * 13, g = seed * 17;
        double x = double(seed) * 0.5, y = double(seed) * 0.25;
        long double z = static_cast<long double>(seed) / 3;
        for (int i = 0; i < 100; ++i) {
            self.yield();
            a += b, b += c, c += d, d += e, e += f, f += g, g += a;
            x += y, y += 1.0, z += 1.0L;
        }
        return double(a ^ b ^ c ^ d ^ e ^ f ^ g) + x + y + double(z);
    };
    struct alone {
        void yield() {}
    } nobody;
    std::vector<std::unique_ptr<test_fiber<TypeParam>>> fibers;
    std::array<double, 3> results{};
    for (std::size_t i = 0; i < results.size(); ++i) {
        fibers.push_back(std::make_unique<test_fiber<TypeParam>>(
            [&, i](auto& self) { results[i] = body(self, i + 1); }));
    }
    for (int round = 0; round <= 100; ++round) {
        for (auto& fiber : fibers) {
            fiber->resume();
        }
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
        EXPECT_TRUE(fibers[i]->done());
        // In memory it has the precision of results[i].
        double volatile const alone_result = body(nobody, i + 1);
        EXPECT_EQ(results[i], alone_result);
    }
}

TYPED_TEST(context_of, rounding_mode_belongs_to_the_context) {
    static_assert(!TestFixture::k_is_assembly || TypeParam::k_keeps_rounding_mode);
    if (!TypeParam::k_keeps_rounding_mode)
        GTEST_SKIP() << "the C library's switch does not keep the FP control words";
    test_fiber<TypeParam> upward([](auto& self) {
        std::fesetround(FE_UPWARD);
        for (int i = 0; i < 10; ++i) {
            self.yield();
            EXPECT_EQ(std::fegetround(), FE_UPWARD);
            double volatile one = 1.0;
            EXPECT_GT(one + 1e-30, 1.0) << "SSE control word";
            long double volatile wide = 1.0L;
            EXPECT_GT(wide + 1e-30L, 1.0L) << "x87 control word";
        }
    });
    test_fiber<TypeParam> inheriting([](auto&) { EXPECT_EQ(std::fegetround(), FE_TONEAREST); });
    while (!upward.done()) {
        upward.resume();
        ASSERT_EQ(std::fegetround(), FE_TONEAREST);
        double volatile one = 1.0;
        ASSERT_EQ(one + 1e-30, 1.0) << "SSE control word, outside";
    }
    inheriting.resume();
}

thread_local int g_thread_mark = 0;

[[gnu::noinline]] int& thread_mark() {
    int* here = &g_thread_mark;
    asm volatile("" : "+r"(here) : : "memory"); // else the caller takes it for a constant
    return *here;
}

[[gnu::noinline]] int& current_errno() {
    int* here = &errno;
    asm volatile("" : "+r"(here) : : "memory");
    return *here;
}

TYPED_TEST(context_of, migrates_between_os_threads) {
    std::vector<int> seen;
    test_fiber<TypeParam> fiber([&](auto& self) {
        for (int i = 0; i < 20; ++i) {
            seen.push_back(thread_mark());
            seen.push_back(current_errno());
            self.yield();
        }
    });
    std::binary_semaphore here{1}, there{0};
    auto const run = [&](int mark, std::binary_semaphore& mine, std::binary_semaphore& other) {
        thread_mark() = mark;
        for (int i = 0; i < 10; ++i) {
            mine.acquire();
            current_errno() = mark + 100;
            fiber.resume();
            other.release();
        }
    };
    std::thread second([&] { run(2, there, here); });
    run(1, here, there);
    second.join();
    ASSERT_EQ(seen.size(), 40U);
    for (std::size_t i = 0; i < 20; ++i) {
        int const mark = i % 2 == 0 ? 1 : 2;
        EXPECT_EQ(seen[2 * i], mark);
        EXPECT_EQ(seen[2 * i + 1], mark + 100);
    }
    fiber.resume();
    EXPECT_TRUE(fiber.done());
}

template <class Fiber> [[gnu::noinline]] int descend(Fiber& self, int depth, int turn) {
    int const local = depth * turn;
    if (depth % 8 == 0) {
        self.yield();
    }
    int const below = depth == 0 ? 0 : descend(self, depth - 1, turn);
    if (depth % 8 == 4) {
        self.yield();
    }
    return below + local;
}

TYPED_TEST(context_of, deep_recursion_interleaves) {
    constexpr int k_depth = 400;
    std::array<int, 3> sums{};
    std::vector<std::unique_ptr<test_fiber<TypeParam>>> fibers;
    for (int i = 0; i < 3; ++i) {
        fibers.push_back(std::make_unique<test_fiber<TypeParam>>([&sums, i](auto& self) {
            sums[static_cast<std::size_t>(i)] = descend(self, k_depth, i + 1);
        }));
    }
    while (!fibers.back()->done()) {
        for (auto& fiber : fibers) {
            fiber->resume();
        }
    }
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(sums[static_cast<std::size_t>(i)], (i + 1) * k_depth * (k_depth + 1) / 2);
    }
}

int volatile g_signals = 0;
double volatile g_handler_result = 0;

void on_alarm(int) {
    g_signals = g_signals + 1;
    double volatile sum = 0;
    for (int i = 1; i < 50; ++i) {
        sum = sum + 1.0 / i;
    }
    g_handler_result = sum;
}

TYPED_TEST(context_of, survives_signals_during_switches) {
    struct sigaction action {};
    struct sigaction before {};
    action.sa_handler = &on_alarm;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, &before);
    g_signals = 0;
    itimerval const every_ms{{0, 500}, {0, 500}};
    setitimer(ITIMER_REAL, &every_ms, nullptr);

    std::uint64_t inside = 0;
    test_fiber<TypeParam> fiber([&](auto& self) {
        for (std::uint64_t i = 0;; ++i) {
            inside = i;
            self.yield();
        }
    });
    std::uint64_t rounds = 0;
    bool right = true;
    while (g_signals < 100 || rounds <= 100) { // a round may take longer than a signal
        fiber.resume();
        right = right && inside == rounds++;
    }
    itimerval const off{};
    setitimer(ITIMER_REAL, &off, nullptr);
    sigaction(SIGALRM, &before, nullptr);
    EXPECT_TRUE(right);
}

struct walk {
    int frames = 0;
    std::uintptr_t last = 0;
};

_Unwind_Reason_Code count_frame(_Unwind_Context* context, void* argument) {
    auto& state = *static_cast<walk*>(argument);
    state.frames += 1;
    state.last = _Unwind_GetIP(context) != 0 ? _Unwind_GetIP(context) : state.last;
    return state.frames > 1000 ? _URC_END_OF_STACK : _URC_NO_REASON;
}

template <class Fiber> [[gnu::noinline]] int walk_at(Fiber& self, int depth, walk& state) {
    int const result =
        depth > 0 ? walk_at(self, depth - 1, state) : int(_Unwind_Backtrace(&count_frame, &state));
    asm volatile("");
    return result;
}

extern "C" char const tulle_context_entry[];

#if defined(__arm__)
constexpr int k_end_of_stack = _URC_FAILURE; // it has no code of its own for that
constexpr bool k_reports_last_frame = false;
#else
constexpr int k_end_of_stack = _URC_END_OF_STACK;
constexpr bool k_reports_last_frame = true;
#endif

TYPED_TEST(context_of, unwinding_ends_at_the_entry) {
    walk state;
    int result = 0;
    test_fiber<TypeParam> fiber([&](auto& self) {
        self.yield();
        result = walk_at(self, 10, state);
    });
    fiber.resume();
    fiber.resume();
    EXPECT_GE(state.frames, 11);
    EXPECT_EQ(result, k_end_of_stack);
    EXPECT_LT(state.frames, 100);
    if (!this->k_is_assembly || !k_reports_last_frame) return;
    auto const entry = reinterpret_cast<std::uintptr_t>(&tulle_context_entry);
    EXPECT_GT(state.last, entry);
    EXPECT_LE(state.last, entry + 48);
}

template <class Backend> void let_an_exception_escape() {
    typename Backend::context fiber, caller;
    std::vector<std::byte> stack(test_fiber<Backend>::k_stack);
    tulle::arch::sanitizer_fiber annotation, caller_annotation;
    annotation.create(stack.data(), stack.size());
    caller_annotation.adopt_current_thread();
    Backend::make(
        fiber, stack.data(), stack.size(), [](void*) { throw std::runtime_error("escaped"); },
        nullptr);
    tulle::arch::before_switch(caller_annotation, annotation, false);
    Backend::switch_to(caller, fiber);
}

template <class Backend> class context_of_death_test : public over_backends<Backend> {};
TYPED_TEST_SUITE(context_of_death_test, all_backends);

TYPED_TEST(context_of_death_test, escaping_exception_ends_the_process) {
    EXPECT_DEATH(let_an_exception_escape<TypeParam>(), "terminate called");
}

} // namespace
