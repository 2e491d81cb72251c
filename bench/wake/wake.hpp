// SPDX-License-Identifier: Apache-2.0
// wake: a thread of the operating system, foreign to the library, hands work to an idle program;
// the time until the work runs. Each of the n samples is followed by one of a raw futex, with 2 ms
// of rest before both. Figures: us (median of the samples), and x futex, its ratio to the raw
// futex's median of the same run.
//
// A library takes part with   post(f)   which starts f from a foreign thread and returns at once.
#pragma once

#include "../common/alongside.hpp"
#include "../common/harness.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tulle::bench {

struct wake_result {
    double seconds = 0;
    bool right = false;
};

// What `f` of one sample has done. Shared with it, as it may run late, or never.
struct wake_mark {
    std::atomic<int> runs{0};
    std::atomic<bool> in_caller{false}; // f ran in the thread that posted it
    std::atomic<double> at{0};
};

// Right: f has run, once, in another thread than the one that posted it.
template <class Library> wake_result wake_sample(Library& library) {
    constexpr double k_patience_s = 5;
    auto const mark = std::make_shared<wake_mark>();
    double const posted = seconds();
    library.post([mark, poster = std::this_thread::get_id()] {
        double const now = seconds();
        mark->in_caller.store(std::this_thread::get_id() == poster, std::memory_order_relaxed);
        mark->runs.fetch_add(1, std::memory_order_relaxed);
        mark->at.store(now, std::memory_order_release); // pairs with the load below
    });
    double at = 0;
    while (at == 0 && seconds() < posted + k_patience_s) {
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        at = mark->at.load(std::memory_order_acquire);
    }
    bool const once = mark->runs.load(std::memory_order_relaxed) == 1;
    return {at - posted, at != 0 && once && !mark->in_caller.load(std::memory_order_relaxed)};
}

// The floor: one thread asleep on a word; who has work for it stores the word and makes one system
// call.
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
    bool right = true;
    bool floor_right = true;
    auto const sample = [](auto& from, std::vector<double>& into, bool& is_right) {
        wake_result const one = wake_sample(from);
        into.push_back(one.seconds);
        is_right = is_right && one.right;
    };
    auto const rest = [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); };
    for (long k = 0; k < n && right && floor_right; ++k) {
        rest();
        sample(library, ours, right);
        rest();
        sample(futex, floor, floor_right);
    }
    time.add(1e6 * median(ours), right);
    ratio.add(median(ours) / median(floor), right && floor_right);
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
