// SPDX-License-Identifier: Apache-2.0
// fork(2): what the child finds. Each child ends with 0 if it found what it should.
#include "emulated.hpp"
#include "expect_error.hpp"
#include "forked_child.hpp"
#include "forked_fib.hpp"
#include "runtime_fixture.hpp"

#include <cerrno>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <tulle.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace tulle;

constexpr unsigned k_seconds_for_a_child = 50;

// The child's status: 0 if `action` returned true there.
int status_of(pid_t child) {
    int status = -1;
    while (waitpid(child, &status, 0) == -1 && errno == EINTR) {}
    return status;
}
int in_child(std::function<bool()> const& action) {
    pid_t const child = ::fork();
    if (child == 0) {
        alarm(k_seconds_for_a_child);
        _exit(action() ? 0 : 1);
    }
    return status_of(child);
}

// In a child that is to end by exit(0): a handler runs. (A leak checker would not find main's stack
// there.)
constexpr int k_exited = 42;
void end_tellingly() {
    alarm(k_seconds_for_a_child);
    std::atexit([] { _exit(k_exited); });
}

bool uses_everything() {
    mutex m;
    condition_variable changed;
    int count = 0;
    std::vector<thread<void>> threads;
    for (int k = 0; k < 50; ++k) {
        threads.push_back(spawn([&] {
            this_thread::sleep_for(std::chrono::microseconds(20));
            m.lock();
            ++count;
            m.unlock();
            changed.notify_all();
        }));
    }
    {
        std::unique_lock held(m);
        changed.wait(held, [&] { return count == 50; });
    }
    for (auto& t : threads) t.join();
    return fib(15) == 610;
}

class process_fork : public ::testing::TestWithParam<int> {
protected:
    void SetUp() override {
        if (!k_child_may_start_threads) GTEST_SKIP() << "not under ThreadSanitizer";
        if (GetParam() > 1)
            TULLE_SKIP_IF_EMULATED("a forked child that starts threads ends it by an assertion");
        if (GetParam() > 1 && !k_may_fork_beside_threads)
            GTEST_SKIP() << "not under AddressSanitizer";
        if (!k_may_fork_beside_threads) set_option("max_substitutes", "off");
        initialize({.workers = GetParam()});
        EXPECT_TRUE(uses_everything());
    }
    void TearDown() override {
        if (!is_initialized()) return;
        EXPECT_TRUE(uses_everything()); // the parent goes on
        finalize();
    }
};

TEST_P(process_fork, the_run_time_is_not_running_in_the_child_and_starts_anew) {
    EXPECT_EQ(in_child([] {
                  bool const was_running = is_initialized();
                  return !was_running && uses_everything() && is_initialized() &&
                         this_thread::worker_index() == 0;
              }),
              0);
}

TEST_P(process_fork, the_child_may_initialize_and_finalize_again_and_again) {
    EXPECT_EQ(in_child([] {
                  for (int round = 0; round < 5; ++round) {
                      initialize({.workers = 1 + round});
                      if (worker_count() != 1 + round || !uses_everything()) return false;
                      finalize();
                  }
                  return true;
              }),
              0);
}

TEST_P(process_fork, children_of_children) {
    if (!k_may_fork_beside_threads) GTEST_SKIP() << "the first child has workers";
    EXPECT_EQ(in_child([] {
                  return uses_everything() && in_child([] {
                                                  return uses_everything() &&
                                                         in_child(uses_everything) == 0 &&
                                                         uses_everything();
                                              }) == 0 &&
                         uses_everything();
              }),
              0);
}

TEST_P(process_fork, while_threads_of_the_parent_run_and_switch) {
    std::atomic<bool> stop{false};
    std::vector<thread<void>> busy;
    for (int k = 0; k < 8; ++k) {
        busy.push_back(spawn([&stop] {
            while (!stop.load(std::memory_order_acquire)) {
                static_cast<void>(fib(6));
                this_thread::set_name("busy");
                this_thread::sleep_for(std::chrono::microseconds(5));
            }
        }));
    }
    for (int round = 0; round < 4; ++round) {
        EXPECT_EQ(in_child(uses_everything), 0);
        this_thread::yield();
    }
    stop.store(true, std::memory_order_release);
    for (auto& t : busy) t.join();
}

TEST_P(process_fork, the_caller_keeps_identity_name_and_values) {
    this_thread::set_name("forker");
    thread_specific<int> own;
    own.local() = 5;
    thread_id const id = this_thread::get_id();
    auto const same = [&] {
        return this_thread::get_id() == id && this_thread::name() == "forker" && *own == 5;
    };
    EXPECT_EQ(in_child([&] { return same() && uses_everything() && same(); }), 0);
    EXPECT_TRUE(same());
}

// From a thread on whatever worker: the child goes on on the thread's stack, as a guest of a new
// run time.
TEST_P(process_fork, by_a_thread) {
    // A guest that has numbers for threads in store.
    if (GetParam() > 1) std::thread(uses_everything).join();
    auto t = spawn([] {
        this_thread::set_name("forker");
        this_thread::sleep_for(std::chrono::microseconds(10)); // on a stack of its own now
        thread_id const id = this_thread::get_id();
        return in_child([id] {
            bool const same = this_thread::get_id() == id && this_thread::name() == "forker";
            bool const good = same && uses_everything() && this_thread::worker_index() == -1 &&
                              this_thread::get_id() == id;
            finalize();
            return good && !is_initialized();
        });
    });
    // Not run in place by this one.
    while (!t.try_join()) this_thread::sleep_for(std::chrono::microseconds(50));
    EXPECT_EQ(t.join(), 0);
}

TEST_P(process_fork, a_thread_that_returns_in_the_child_ends_the_child_with_0) {
    attributes own_stack;
    own_stack.stack_size = std::size_t{1} << 20U;
    for (attributes const& how : {attributes{}, own_stack}) {
        std::atomic<pid_t> child{-1};
        auto t = spawn(how, [&child] {
            this_thread::sleep_for(std::chrono::microseconds(10));
            pid_t const made = ::fork();
            if (made == 0) {
                end_tellingly();
                if (!uses_everything()) _exit(1);
                return;
            }
            child.store(made, std::memory_order_release);
        });
        // Not run in place by this one.
        while (!t.try_join()) this_thread::sleep_for(std::chrono::microseconds(50));
        t.join();
        EXPECT_EQ(WEXITSTATUS(status_of(child)), k_exited);
    }
}

TEST_P(process_fork, a_stolen_child_that_returns_in_the_child_process_ends_it_with_0) {
    if (GetParam() == 1) GTEST_SKIP() << "nobody steals";
    std::atomic<pid_t> made{-1};
    auto forked = tulle::fork([&made] {
        pid_t const child = ::fork();
        if (child == 0) {
            end_tellingly();
            if (!uses_everything()) _exit(1);
            return;
        }
        made.store(child, std::memory_order_release);
    });
    while (made.load(std::memory_order_acquire) == -1) detail::cpu_pause();
    forked.join();
    EXPECT_EQ(WEXITSTATUS(status_of(made)), k_exited);
}

// Its joiner's frames are in the child, too.
TEST_P(process_fork, a_thread_that_its_joiner_runs_returns_to_it_in_the_child) {
    if (GetParam() != 1) GTEST_SKIP() << "another worker may run it";
    bool is_child = false;
    pid_t made = -1;
    auto t = spawn([&] {
        made = ::fork();
        is_child = made == 0;
    });
    t.join();
    if (is_child) {
        alarm(k_seconds_for_a_child);
        bool good = uses_everything();
        finalize();
        good = good && !is_initialized() && uses_everything();
        _exit(good ? 0 : 1);
    }
    EXPECT_EQ(status_of(made), 0);
}

TEST_P(process_fork, children_that_nobody_stole_are_run_by_their_joins) {
    if (GetParam() != 1) GTEST_SKIP() << "somebody may steal them";
    auto a = tulle::fork([] { return 1; });
    auto b = tulle::fork([] { return 2; });
    auto c = tulle::fork([] { return 3; });
    pid_t const child = ::fork();
    bool const started = child != 0 || uses_everything(); // as worker 0 of a new run time
    int const sum = b.join() + c.join() + a.join();
    if (child == 0) _exit(started && sum == 6 ? 0 : 1);
    EXPECT_EQ(sum, 6);
    EXPECT_EQ(status_of(child), 0);
}

TEST_P(process_fork, joining_a_child_that_a_thief_had_is_an_error) {
    if (GetParam() == 1) GTEST_SKIP() << "nobody steals";
    std::atomic<bool> started{false}, stop{false};
    auto stolen = tulle::fork([&] {
        started.store(true, std::memory_order_release);
        compute_until(stop);
        return 1;
    });
    compute_until(started);
    pid_t const child = ::fork();
    if (child == 0) _exit(error_of([&] { stolen.join(); }) == ESRCH && uses_everything() ? 0 : 1);
    stop.store(true, std::memory_order_release);
    EXPECT_EQ(stolen.join(), 1);
    EXPECT_EQ(status_of(child), 0);
}

TEST_P(process_fork, threads_with_a_handle_are_run_by_their_joins_or_lost) {
    one_shot event;
    std::atomic<bool> started{false};
    auto waits = spawn([&] {
        started.store(true, std::memory_order_release);
        event.wait();
        return 1;
    });
    tulle_thread* in_c = nullptr;
    std::atomic<bool> in_c_started{false};
    struct shared {
        std::atomic<bool>& started;
        one_shot event;
    } s{in_c_started, {}};
    tulle_spawn(
        &in_c, nullptr,
        [](void* p) -> void* {
            static_cast<shared*>(p)->started.store(true, std::memory_order_release);
            static_cast<shared*>(p)->event.wait();
            return p;
        },
        &s);
    yield_until(started);
    yield_until(in_c_started);
    attributes nowhere; // only main could run it
    auto not_started = spawn(nowhere, [] { return 2; });
    pid_t const child = ::fork();
    if (child == 0) {
        alarm(k_seconds_for_a_child);
        bool const lost =
            error_of([&] { waits.join(); }) == ESRCH && tulle_thread_join(in_c, nullptr) == -ESRCH;
        int result = 0;
        // Another worker may have been at it.
        int const error = error_of([&] { result = not_started.join(); });
        bool const good = GetParam() == 1 ? result == 2 : result == 2 || error == ESRCH;
        _exit(lost && good && uses_everything() ? 0 : 1);
    }
    EXPECT_EQ(not_started.join(), 2);
    event.fire();
    s.event.fire();
    EXPECT_EQ(waits.join(), 1);
    EXPECT_EQ(tulle_thread_join(in_c, nullptr), 0);
    EXPECT_EQ(status_of(child), 0);
}

// As handlers of pthread_atfork do: what the caller holds at the fork is released in the child.
TEST_P(process_fork, releasing_a_mutex_for_which_threads_of_the_parent_wait) {
    mutex m;
    m.lock();
    std::vector<thread<void>> waiters;
    std::atomic<int> started{0};
    for (int k = 0; k < 3; ++k) {
        waiters.push_back(spawn([&] {
            started.fetch_add(1, std::memory_order_release);
            m.lock();
            m.unlock();
        }));
    }
    while (started.load(std::memory_order_acquire) != 3) this_thread::yield();
    for (int k = 0; k < 100; ++k) this_thread::yield();
    pid_t const child = ::fork();
    if (child == 0) {
        alarm(k_seconds_for_a_child);
        m.unlock();
        _exit(uses_everything() ? 0 : 1);
    }
    m.unlock();
    for (auto& t : waiters) t.join();
    EXPECT_EQ(status_of(child), 0);
}

// The child has started its run time before it releases what they wait for.
TEST_P(process_fork, threads_of_the_parent_do_not_go_on_in_the_child) {
    one_shot event;
    std::atomic<int> started{0};
    std::atomic<int> gone_on{0};
    auto waits = spawn([&] {
        started.store(1, std::memory_order_release);
        event.wait();
        gone_on.fetch_add(1, std::memory_order_relaxed);
    });
    while (started.load(std::memory_order_acquire) != 1) this_thread::yield();
    for (int k = 0; k < 100; ++k) this_thread::yield();
    pid_t const child = ::fork();
    if (child == 0) {
        alarm(k_seconds_for_a_child);
        bool good = uses_everything();
        event.fire();
        good = uses_everything() && good;
        _exit(good && gone_on.load(std::memory_order_relaxed) == 0 ? 0 : 1);
    }
    event.fire();
    waits.join();
    EXPECT_EQ(gone_on.load(std::memory_order_relaxed), 1);
    EXPECT_EQ(status_of(child), 0);
}

TEST_P(process_fork, by_foreign_threads_that_have_used_it_or_not) {
    std::thread([] { EXPECT_EQ(in_child(uses_everything), 0); }).join();
    if (GetParam() == 1) return; // that worker waits for the foreign thread
    std::thread([] {
        EXPECT_TRUE(uses_everything());
        EXPECT_EQ(in_child(uses_everything), 0);
        EXPECT_TRUE(uses_everything());
    }).join();
}

TEST_P(process_fork, of_a_run_time_that_does_not_run) {
    finalize();
    EXPECT_EQ(in_child(uses_everything), 0);
    initialize({.workers = GetParam()});
}

TEST_P(process_fork, by_many_threads_at_once) {
    std::vector<thread<int>> forkers;
    for (int k = 0; k < 6; ++k) {
        forkers.push_back(spawn([] {
            this_thread::sleep_for(std::chrono::microseconds(10));
            return in_child([] { return fib(10) == 55; });
        }));
    }
    for (auto& t : forkers) EXPECT_EQ(t.join(), 0);
}

// The child forgot the timer of the parent, and took the wait for a deadlock.
TEST_P(process_fork, deadlines_of_tokens_hold_in_the_child) {
    cancellation_source source;
    source.request_stop_after(std::chrono::milliseconds(30));
    cancellation_source const part(source.get_token());
    auto const waits_for = [](cancellation_token const& token) {
        latch never(1);
        return !never.wait(token);
    };
    EXPECT_EQ(in_child([&] { return waits_for(part.get_token()); }), 0);
    cancellation_source later;
    later.request_stop_after(std::chrono::milliseconds(30));
    EXPECT_EQ(in_child([&] {
                  initialize({.workers = GetParam()});
                  auto const waits = [&] { return waits_for(later.get_token()); };
                  auto first = spawn(waits), second = spawn(waits);
                  return first.join() && second.join() && later.stop_requested();
              }),
              0);
}

TEST_P(process_fork, the_child_may_exit_in_the_usual_way) {
    pid_t const child = ::fork();
    if (child == 0) std::quick_exit(uses_everything() ? 0 : 1);
    EXPECT_EQ(status_of(child), 0);
    auto t = spawn([] {
        this_thread::sleep_for(std::chrono::microseconds(10));
        pid_t const made = ::fork();
        if (made == 0) std::quick_exit(uses_everything() ? 0 : 1);
        return status_of(made);
    });
    EXPECT_EQ(t.join(), 0);
}

INSTANTIATE_TEST_SUITE_P(workers, process_fork, ::testing::Values(1, 3));

} // namespace
