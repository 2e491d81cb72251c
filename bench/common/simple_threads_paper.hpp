// SPDX-License-Identifier: Apache-2.0
// What the papers on switching without a system call measure with a small thread library, over each
// switch backend.
//   paper-simple  Fibonacci(30), a thread with its own stack per call; s and ns per thread
//   paper-create  create and join one thread, n times in turn; ns
#pragma once

#include "harness.hpp"
#include "kernels/fib.hpp"
#include "small_threads.hpp"

#include <algorithm>

namespace tulle::bench {

template <class Backend> class fib_thread final : public small_threads<Backend>::thread {
public:
    explicit fib_thread(int n) : m_n(n) {}

    void run() override { m_result = compute(m_n); }
    [[nodiscard]] long result() const { return m_result; }

private:
    static long compute(int n) {
        if (n < 2) return n;
        fib_thread child(n - 1);
        small_threads<Backend>::create(child);
        long const mine = compute(n - 2);
        small_threads<Backend>::join(child);
        return mine + child.m_result;
    }

    int m_n;
    long m_result = 0;
};

template <class Backend> class create_thread final : public small_threads<Backend>::thread {
public:
    explicit create_thread(long n) : m_n(n) {}

    void run() override {
        for (; m_made < m_n; ++m_made) {
            create_thread child(0);
            small_threads<Backend>::create(child);
            small_threads<Backend>::join(child);
        }
    }
    [[nodiscard]] long made() const { return m_made; }

private:
    long m_n;
    long m_made = 0;
};

template <class Backend> int paper_simple_main(int argc, char** argv, char const* library) {
    settings const s = parse(argc, argv, {30, 20});
    int const n = static_cast<int>(std::min(s.n, 50L));
    pin_if_single(s);
    figure elapsed{"s"};
    figure each{"ns/thread"};
    for (int i = 0; i < s.runs; ++i) {
        small_threads<Backend> threads(s.workers);
        fib_thread<Backend> first(n);
        double const time = time_of([&] { threads.run(first); });
        bool const right = first.result() == kernels::fib_expected(n);
        elapsed.add(time, right);
        each.add(1e9 * time / static_cast<double>(kernels::fib_spawns(n) + 1), right);
    }
    return print_all("paper-simple", library, s, {elapsed, each});
}

template <class Backend> int paper_create_main(int argc, char** argv, char const* library) {
    settings const s = parse(argc, argv, {1'000'000, 20'000});
    pin_if_single(s);
    figure cost{"ns"};
    for (int i = 0; i < s.runs; ++i) {
        small_threads<Backend> threads(s.workers);
        create_thread<Backend> first(s.n);
        double const time = time_of([&] { threads.run(first); });
        cost.add(1e9 * time / static_cast<double>(s.n), first.made() == s.n);
    }
    return print_all("paper-create", library, s, {cost});
}

} // namespace tulle::bench
