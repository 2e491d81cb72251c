// SPDX-License-Identifier: Apache-2.0
// wake: a thread of the operating system, foreign to the library, hands work to an idle program; the time until the work
// runs. Each of the n samples is followed by one of a raw futex, with 2 ms of rest before both. Figures: us (median of
// the samples), and x futex, its ratio to the raw futex's median of the same run.
//
// A library takes part with   post(f)   which starts f from a foreign thread and returns at once.
#pragma once

#include "../common/alongside.hpp"
#include "../common/harness.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tulle::bench {

template <class Library> double wake_sample(Library& library) {
    std::atomic<double> ran{0};
    double const posted = seconds();
    library.post([&ran] { ran.store(seconds(), std::memory_order_release); }); // pairs with the load below
    double at = 0;
    while (at == 0) {
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        at = ran.load(std::memory_order_acquire);
    }
    return at - posted;
}

// The floor: one thread asleep on a word; who has work for it stores the word and makes one system call.
class raw_futex {
public:
    static constexpr char const* k_name = "futex";

    explicit raw_futex(int = 1) : m_sleeper([this] { serve(); }) {}
    ~raw_futex() {
        post([this] { m_stop = true; });
        m_sleeper.join();
    }
    raw_futex(raw_futex const&) = delete;
    raw_futex& operator=(raw_futex const&) = delete;

    // One at a time: the last function must have run.
    template <class F> void post(F f) {
        m_work = f;
        m_word.fetch_add(1, std::memory_order_release); // pairs with serve
        syscall(SYS_futex, &m_word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    }

private:
    void serve() {
        for (std::uint32_t seen = 0; !m_stop; ++seen) {
            while (m_word.load(std::memory_order_acquire) == seen) // pairs with post
                syscall(SYS_futex, &m_word, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
            m_work();
        }
    }

    std::atomic<std::uint32_t> m_word{0};
    std::function<void()> m_work;
    bool m_stop = false;
    std::thread m_sleeper;
};

template <class Library> void wake_run(Library& library, long n, figure& time, figure& ratio) {
    std::vector<double> ours;
    std::vector<double> floor;
    raw_futex futex;
    auto const rest = [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); };
    for (long k = 0; k < n; ++k) {
        rest();
        ours.push_back(wake_sample(library));
        rest();
        floor.push_back(wake_sample(futex));
    }
    time.add(1e6 * median(ours), true);
    ratio.add(median(ours) / median(floor), true);
}

template <class Library> int wake_main(int argc, char** argv) {
    settings const s = parse(argc, argv, {300, 30});
    Library library(s.workers);
    figure time{"us"};
    figure ratio{"x futex"};
    run_alongside(library, [&] {
        for (int i = 0; i < s.runs; ++i) wake_run(library, s.n, time, ratio);
    });
    return print_all("wake", Library::k_name, s, {time, ratio});
}

} // namespace tulle::bench
