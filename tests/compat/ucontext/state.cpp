// SPDX-License-Identifier: Apache-2.0
//
// What belongs to a context: registers, the floating-point environment. And OS threads, to which it
// does not belong.
#include "cases.hpp"

#include <array>
#include <cfenv>
#include <cmath>
#include <thread>

namespace cases {
namespace {

ucontext_t s_main;
ucontext_t s_other;

// ---- more live values than there are registers, in both contexts

template <std::size_t... K>
[[gnu::noinline]] long mix(long seed, ucontext_t& self, ucontext_t& next) {
    std::array<long, 24> v{};
    for (std::size_t k = 0; k < v.size(); ++k) v[k] = seed * static_cast<long>(k + 3);
    for (int turn = 0; turn < 100; ++turn) {
        swapcontext(&self, &next);
        for (std::size_t k = 0; k < v.size(); ++k)
            v[k] += v[(k + 1) % v.size()] ^ (seed + static_cast<long>(k));
    }
    long sum = 0;
    for (long const x : v) sum = sum * 31 + x;
    return sum;
}

void mix_here() {
    std::printf("other %lx\n", mix<>(7, s_other, s_main));
    swapcontext(&s_other, &s_main);
}

void live_values() {
    stack memory;
    prepare(s_other, memory, &s_main, &mix_here);
    std::printf("main %lx\n", mix<>(5, s_main, s_other));
    swapcontext(&s_main, &s_other);
}

// ---- rounding and flags, as SSE and the x87 unit (long double) have them

double volatile s_one = 1;
long double volatile s_long_one = 1;

void print_environment(char const* who) {
    std::printf("%s: rounding %d, 1/3 %a %La, flags %x\n", who, std::fegetround(), s_one / 3,
                s_long_one / 3,
                static_cast<unsigned>(std::fetestexcept(FE_ALL_EXCEPT & ~FE_INEXACT)));
}

void round_up() {
    print_environment("context at first");
    std::fesetround(FE_UPWARD);
    std::feraiseexcept(FE_OVERFLOW);
    swapcontext(&s_other, &s_main);
    print_environment("context again");
    std::fesetround(FE_TOWARDZERO);
    std::feclearexcept(FE_ALL_EXCEPT);
    s_long_one = s_long_one / 0.0L; // a flag of the x87 unit alone
    swapcontext(&s_other, &s_main);
    s_long_one = 1;
    print_environment("context at last");
}

void floating_point() {
    stack memory;
    std::fesetround(FE_DOWNWARD);
    prepare(s_other, memory, &s_main, &round_up);
    std::fesetround(FE_TONEAREST);
    for (int k = 0; k < 3; ++k) {
        swapcontext(&s_main, &s_other);
        s_long_one = 1;
        print_environment("main");
    }
}

// ---- a context goes on in other OS threads, where their own thread-locals are

thread_local int t_thread = 0;
ucontext_t* s_home = nullptr;

void wander() {
    for (int k = 0; k < 4; ++k) {
        std::printf("in thread %d\n", t_thread);
        swapcontext(&s_other, s_home);
    }
}

void threads() {
    stack memory;
    prepare(s_other, memory, &s_main, &wander);
    for (int k = 1; k <= 4; ++k) {
        std::thread([k] {
            ucontext_t home;
            t_thread = k;
            s_home = &home;
            swapcontext(&home, &s_other);
            std::printf("back in %d\n", t_thread);
        }).join();
    }
}

// ---- threads that switch all the time, each its own

void many_threads() {
    std::array<std::thread, 4> all;
    std::array<long, 4> sums{};
    struct pair {
        ucontext_t main, other;
        long turns;
        static void answer(unsigned low, unsigned high) {
            auto& self = *reinterpret_cast<pair*>(static_cast<unsigned long>(high) << 32U | low);
            while (true) {
                ++self.turns;
                swapcontext(&self.other, &self.main);
            }
        }
    };
    for (std::size_t k = 0; k < all.size(); ++k) {
        all[k] = std::thread([&sum = sums[k]] {
            stack memory;
            pair p{};
            auto const address = reinterpret_cast<unsigned long>(&p);
            getcontext(&p.other);
            memory.give_to(p.other);
            makecontext(&p.other, reinterpret_cast<void (*)()>(&pair::answer), 2,
                        static_cast<unsigned>(address), static_cast<unsigned>(address >> 32U));
            for (int turn = 0; turn < 20'000; ++turn) swapcontext(&p.main, &p.other);
            sum = p.turns;
        });
    }
    for (std::thread& one : all) one.join();
    for (long const sum : sums) std::printf("%ld\n", sum);
}

named_case const s_live_values("live_values", &live_values);
named_case const s_floating_point("floating_point", &floating_point);
named_case const s_threads("threads", &threads);
named_case const s_many_threads("many_threads", &many_threads);

} // namespace
} // namespace cases
