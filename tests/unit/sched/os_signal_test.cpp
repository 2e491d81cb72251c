// SPDX-License-Identifier: Apache-2.0
// Signals of the operating system, at any moment and on any thread.
#include "forked_fib.hpp"
#include "runtime_fixture.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sys/time.h>

namespace {

using namespace tulle;

#if defined(TULLE_ANNOTATE_THREAD)
constexpr bool k_handlers_are_put_off =
    // ThreadSanitizer calls them later, from a function that it knows, wherever the thread is then.
    true;
#else
constexpr bool k_handlers_are_put_off = false;
#endif

std::atomic<int> handled{0};
std::atomic<int> on_signal_stack{0};

void count_signal(int) {
    int const kept = errno;
    stack_t where{};
    if (sigaltstack(nullptr, &where) == 0 && (where.ss_flags & SS_ONSTACK) != 0)
        on_signal_stack.fetch_add(1, std::memory_order_relaxed);
    handled.fetch_add(1, std::memory_order_relaxed);
    errno = kept;
}

// More than the stack of a small thread.
void use_much_stack(int signal) {
    volatile char large[24 << 10];
    for (std::size_t k = 0; k < sizeof large; k += 512) large[k] = static_cast<char>(k);
    count_signal(signal);
}

class handler_for {
public:
    handler_for(int signal, void (*handler)(int), int flags) : m_signal(signal) {
        struct sigaction action {};
        action.sa_handler = handler;
        action.sa_flags = flags;
        sigaction(signal, &action, &m_before);
        handled = 0;
        on_signal_stack = 0;
    }
    ~handler_for() { sigaction(m_signal, &m_before, nullptr); }
    handler_for(handler_for const&) = delete;
    handler_for& operator=(handler_for const&) = delete;

private:
    int m_signal;
    struct sigaction m_before {};
};

class os_signals : public over_workers {};

// As a profiler does.
void storm(int flags, int signals) {
    handler_for const profile(SIGPROF, &count_signal, flags);
    itimerval const each_ms{{0, 1000}, {0, 1000}}, none{};
    ASSERT_EQ(setitimer(ITIMER_PROF, &each_ms, nullptr), 0);
    std::atomic<bool> stop{false};
    mutex m;
    long count = 0;
    std::vector<thread<void>> threads;
    for (int k = 0; k < 12; ++k) {
        threads.push_back(spawn([&, k] {
            while (!stop.load(std::memory_order_relaxed)) {
                if (k % 3 == 0 && fib(10) != 55) std::abort();
                if (k % 3 == 1) this_thread::sleep_for(std::chrono::microseconds(5));
                this_thread::yield();
                std::lock_guard const held(m);
                ++count;
            }
        }));
    }
    while (handled.load(std::memory_order_relaxed) < signals) this_thread::yield();
    stop.store(true, std::memory_order_relaxed);
    for (auto& t : threads) t.join();
    EXPECT_EQ(setitimer(ITIMER_PROF, &none, nullptr), 0);
    EXPECT_GT(count, 0);
}

TEST_P(os_signals, a_storm_of_profiling_signals_during_switches) {
    storm(SA_RESTART, 150);
    EXPECT_EQ(on_signal_stack, 0);
    storm(SA_RESTART | SA_ONSTACK, 150);
    EXPECT_TRUE(on_signal_stack > 0 || k_handlers_are_put_off);
    storm(0, 50); // system calls are interrupted
}

TEST_P(os_signals, a_thread_on_a_small_stack_handles_one_on_the_workers_signal_stack) {
    handler_for const user(SIGUSR1, &use_much_stack, SA_ONSTACK);
    attributes small;
    small.stack_size = 16 << 10;
    std::vector<thread<void>> threads;
    for (int k = 0; k < 20; ++k) {
        threads.push_back(spawn(small, [] {
            this_thread::yield();
            std::raise(SIGUSR1);
            this_thread::yield();
        }));
    }
    for (auto& t : threads) t.join();
    EXPECT_EQ(handled, 20);
    EXPECT_EQ(on_signal_stack, 20);
}

// Each worker calls a function that the sanitizer knows, by one of as many threads that go on when
// all of them are there.
void rouse_workers(int workers) {
    std::atomic<int> awake{0};
    std::vector<thread<void>> threads;
    for (int k = 0; k < workers; ++k) {
        threads.push_back(spawn([&] {
            for (awake.fetch_add(1); awake.load() < workers;) std::this_thread::yield();
        }));
    }
    for (auto& t : threads) t.join();
}

// Each of so many threads waits for the others on a stack of its own, and leaves its worker to a
// spare loop.
void rouse_spares(int threads) {
    latch all(threads);
    std::vector<thread<void>> waiting;
    for (int k = 0; k < threads; ++k) waiting.push_back(spawn([&] { all.arrive_and_wait(); }));
    for (auto& t : waiting) t.join();
}

// The sanitizer keeps a signal for the stack that was in use when it came, and calls the handler
// when that stack is in use again: a worker that falls asleep just then must be woken, and a spare
// that its worker has left must be taken out of the stock.
void wait_until_handled(int sent, int workers) {
    for (int spares = 1; handled != sent; spares = std::min(2 * spares, 512)) {
        if (!k_handlers_are_put_off) {
            std::this_thread::yield();
            continue;
        }
        rouse_workers(workers);
        rouse_spares(spares);
    }
}

TEST_P(os_signals, to_every_worker_while_it_sleeps) {
    handler_for const user(SIGUSR1, &count_signal, SA_ONSTACK);
    auto& s = sched::scheduler::instance();
    // They have their signal stacks.
    while (s.idle().sleeping() + 1 != s.workers().size()) std::this_thread::yield();
    int sent = 0;
    while (sched::scheduler::instance().idle().sleeping() + 1 < static_cast<unsigned>(GetParam()))
        std::this_thread::yield();
    for (int round = 0; round < 50; ++round) {
        for (auto const& w : s.workers()) {
            pthread_kill(w->has_os_thread ? w->os_thread : pthread_self(), SIGUSR1);
            ++sent;
        }
        // They find nothing and sleep again.
        std::this_thread::sleep_for(std::chrono::microseconds(100));
        // Each has arrived, so that none is merged with the next.
        wait_until_handled(sent, GetParam());
        EXPECT_EQ(spawn([] { return fib(8); }).join(), 21);
    }
    EXPECT_TRUE(on_signal_stack == sent || k_handlers_are_put_off)
        << on_signal_stack << " of " << sent;
}

TEST_P(os_signals, a_foreign_thread_that_waits_goes_on_waiting) {
    if (GetParam() == 1) GTEST_SKIP() << "its worker waits for the foreign thread";
    handler_for const user(SIGUSR1, &count_signal, 0);
    latch l(1);
    std::atomic<bool> done{false};
    std::thread waits([&] {
        l.wait();
        done.store(true, std::memory_order_release);
    });
    for (int k = 1; k <= 20; ++k) {
        pthread_kill(waits.native_handle(), SIGUSR1);
        while (handled != k) this_thread::yield();
    }
    EXPECT_FALSE(done.load(std::memory_order_acquire));
    l.count_down();
    waits.join();
}

INSTANTIATE_TEST_SUITE_P(workers, os_signals, ::testing::Values(1, 3));

} // namespace
