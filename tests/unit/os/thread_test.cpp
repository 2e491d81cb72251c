// SPDX-License-Identifier: Apache-2.0
#include "emulated.hpp"
#include "os/thread.hpp"

#include <atomic>
#include <cerrno>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include "os/topology.hpp"

namespace {

using namespace tulle::os;

void* note_identity(void* argument) {
    *static_cast<pthread_t*>(argument) = pthread_self();
    return argument;
}

TEST(thread, starts_and_returns_its_result) {
    pthread_t thread{};
    pthread_t seen{};
    ASSERT_EQ(start_thread(thread, &note_identity, &seen), 0);
    void* result = nullptr;
    ASSERT_EQ(pthread_join(thread, &result), 0);
    EXPECT_EQ(result, &seen);
    EXPECT_TRUE(pthread_equal(seen, thread));
}

// Of what is blocked there the kernel makes the end of the process, whatever handler there is.
TEST(thread, that_leaves_signals_to_others_handles_its_own_faults) {
    sigset_t seen;
    auto const note_mask = [](void* mask) -> void* {
        pthread_sigmask(SIG_SETMASK, nullptr, static_cast<sigset_t*>(mask));
        return nullptr;
    };
    pthread_t thread{};
    ASSERT_EQ(with_signals_blocked([&] { return start_thread(thread, note_mask, &seen); }), 0);
    ASSERT_EQ(pthread_join(thread, nullptr), 0);
    for (int const of_fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP})
        EXPECT_EQ(sigismember(&seen, of_fault), 0) << of_fault;
    for (int const other : {SIGTERM, SIGCHLD, SIGUSR1})
        EXPECT_EQ(sigismember(&seen, other), 1) << other;
}

TEST(thread, cuts_long_names) {
    char before[16];
    ASSERT_EQ(pthread_getname_np(pthread_self(), before, sizeof before), 0);
    EXPECT_EQ(set_name("a-name-of-more-than-fifteen"), 0);
    char now[16];
    ASSERT_EQ(pthread_getname_np(pthread_self(), now, sizeof now), 0);
    EXPECT_STREQ(now, "a-name-of-more-");
    set_name(before);
}

TEST(thread, counts_the_others) {
    TULLE_SKIP_IF_EMULATED("its own threads are counted, too");
    int const before = other_threads();
    pthread_t thread{};
    std::atomic<bool> end{false};
    auto const wait_for_end = [](void* flag) -> void* {
        // relaxed: it orders nothing
        while (!static_cast<std::atomic<bool>*>(flag)->load(std::memory_order_relaxed))
            sched_yield();
        return nullptr;
    };
    ASSERT_EQ(start_thread(thread, wait_for_end, &end), 0);
    EXPECT_EQ(other_threads(), before + 1);
    EXPECT_EQ(before, 0);
    end.store(true, std::memory_order_relaxed);
    pthread_join(thread, nullptr);
}

TEST(thread, pins_to_one_cpu_and_refuses_none) {
    auto const machine = discover();
    int const cpu = machine.groups.front().cpus.front();
    ASSERT_EQ(pin_to(pthread_self(), {&cpu, 1}), 0);
    EXPECT_EQ(sched_getcpu(), cpu);
    auto const narrow = discover();
    EXPECT_EQ(narrow.allowed_cpus, 1);
    EXPECT_EQ(narrow.default_workers, 1);
    EXPECT_EQ(narrow.groups.size(), 1U);
    EXPECT_EQ(pin_to(pthread_self(), {}), EINVAL);
    std::vector<int> all;
    for (auto const& group : machine.groups) {
        all.insert(all.end(), group.cpus.begin(), group.cpus.end());
    }
    EXPECT_EQ(pin_to(pthread_self(), all), 0);
}

// --- moving those that are together --------------------------------------------------------------

// An OS thread that restricts itself, if it is to, and rests until the end of the scope.
class resting_thread {
public:
    explicit resting_thread(std::vector<int> cpus = {})
        : m_cpus(std::move(cpus)), m_thread([this] { rest(); }) {
        while (m_tid.load(std::memory_order_acquire) == 0) sched_yield(); // pairs with rest
    }
    ~resting_thread() {
        m_ends.store(true, std::memory_order_relaxed); // relaxed: it orders nothing
        m_thread.join();
    }
    resting_thread(resting_thread const&) = delete;
    resting_thread& operator=(resting_thread const&) = delete;
    // relaxed: seen above
    [[nodiscard]] std::vector<int> affinity() const {
        return affinity_of(m_tid.load(std::memory_order_relaxed));
    }

private:
    void rest() {
        if (!m_cpus.empty()) static_cast<void>(pin_to(pthread_self(), m_cpus));
        // Pairs with the constructor.
        m_tid.store(tulle::os::thread_id(), std::memory_order_release);
        // relaxed: it orders nothing
        while (!m_ends.load(std::memory_order_relaxed)) usleep(1000);
    }

    std::vector<int> m_cpus;
    std::atomic<int> m_tid{0};
    std::atomic<bool> m_ends{false};
    std::thread m_thread;
};

TEST(thread, moves_those_that_were_not_restricted_otherwise) {
    TULLE_SKIP_IF_EMULATED("/proc/self/task lists its own threads");
    std::vector<int> const all = affinity_of(0);
    if (all.size() < 2) GTEST_SKIP() << "one CPU";
    std::vector<int> const first{all[0]};
    std::vector<int> const second{all[1]};
    resting_thread const free;
    resting_thread const restricted({all[1]});
    move_threads(all, first);
    EXPECT_EQ(affinity_of(0), first);
    EXPECT_EQ(free.affinity(), first);
    EXPECT_EQ(restricted.affinity(), second);
    resting_thread const younger;
    EXPECT_EQ(younger.affinity(), first) << "as its maker";
    move_threads(first, all);
    EXPECT_EQ(affinity_of(0), all);
    EXPECT_EQ(younger.affinity(), all);
    EXPECT_EQ(restricted.affinity(), second);
}

} // namespace
