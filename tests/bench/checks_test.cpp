// SPDX-License-Identifier: Apache-2.0
//
// The checks of benchmark programs can fail: here they measure libraries with a planted fault, and
// must say so.
#include "base/sanitize.hpp"

#include "at/at.hpp"
#include "barrier/threads.hpp"
#include "blocked/blocked.hpp"
#include "common/forked.hpp"
#include "common/kernels/hpccg_parts.hpp"
#include "common/libraries/pthread.hpp"
#include "common/libraries/serial.hpp"
#include "common/libraries/socket_calls.hpp"
#include "common/libraries/tulle_blocking.hpp"
#include "common/visits.hpp"
#include "echo/echo.hpp"
#include "global-lock/global_lock.hpp"
#include "grain1/grain1.hpp"
#include "local-start/local_start.hpp"
#include "mutex/mutex.hpp"
#include "noise/noise.hpp"
#include "one-way/one_way.hpp"
#include "onesided-sizes/onesided_sizes.hpp"
#include "process-barrier/arrivals.hpp"
#include "process-lock/counting.hpp"
#include "region/region.hpp"
#include "rwlock/rwlock.hpp"
#include "spanning/spanning.hpp"
#include "startup/startup.hpp"
#include "wake/wake.hpp"

#include <tulle/tulle.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace tulle::bench;

settings few() {
    settings s;
    s.n = 1000;
    s.runs = 1;
    s.quick = true;
    return s;
}

// --- global-lock ---------------------------------------------------------------------------------

// Others run in the middle of an increment: if they are not kept out, within a millisecond, also
// where many programs share the processors.
struct slow_counter {
    tulle::global_ptr<long> word;

    void increment() const {
        long const before = word.load();
        double const until = seconds() + 1e-3;
        do tulle::this_thread::yield();
        while (word.load() == before && seconds() < until);
        word.store(before + 1);
    }
    [[nodiscard]] long exchange(long value) const { return global_counter{word}.exchange(value); }
};

struct no_lock {
    void lock() const {}
    void unlock() const {}
};

class global_lock : public testing::Test {
protected:
    global_lock() { counter.word.store(0); }
    ~global_lock() override { tulle::free_global(counter.word); }

    slow_counter counter{tulle::allocate_global_at<long>(tulle::here())};
};

TEST_F(global_lock, a_mutex_is_right) {
    auto const mutex = tulle::global_mutex::make(tulle::here());
    EXPECT_TRUE(lock_from_all(mutex, counter, 4, 400));
    mutex.destroy();
}

TEST_F(global_lock, a_lock_that_does_not_lock_is_wrong) {
    if (tulle::base::k_thread_sanitizer) GTEST_SKIP() << "the sanitizer finds it first";
    EXPECT_FALSE(lock_from_all(no_lock(), counter, 4, 400));
}

// --- processes -----------------------------------------------------------------------------------

struct yielding_lock {
    void lock() {
        while (held.exchange(1) != 0) sched_yield();
    }
    void unlock() { held.store(0); }

    std::atomic<int> held{0};
};
// As if a turn had been lost.
struct leaving_lock : yielding_lock {
    void unlock() {
        yielding_lock::unlock();
        if (++turns == 300) _exit(0);
    }
    int turns = 0;
};

// Each turn of a process that waits is over only when all have begun it.
template <bool FirstWaits> class arriving {
public:
    explicit arriving(int processes) : m_processes(processes) { m_all.begin(processes); }

    void turn(int number) {
        m_all.turn(number, [&] {
            long const round = ++m_rounds.at(static_cast<std::size_t>(number));
            m_arrived.fetch_add(1);
            while ((FirstWaits || number != 0) && m_arrived.load() < round * m_processes)
                sched_yield();
        });
    }
    [[nodiscard]] counted finish(long turns) const { return m_all.finish(turns); }

private:
    int m_processes;
    std::array<long, 3> m_rounds{};
    std::atomic<long> m_arrived{0};
    arrivals m_all;
};

TEST(processes, a_lock_is_right) {
    EXPECT_TRUE(work_in_forks<counting<yielding_lock>>(3, 200).right);
}
TEST(processes, a_turn_that_is_left_out_is_wrong) {
    EXPECT_FALSE(work_in_forks<counting<leaving_lock>>(3, 200).right);
}
TEST(processes, a_barrier_is_right) { EXPECT_TRUE(work_in_forks<arriving<true>>(3, 200).right); }
TEST(processes, a_barrier_that_keeps_one_of_them_too_short_is_wrong) {
    EXPECT_FALSE(work_in_forks<arriving<false>>(3, 200).right);
}

// --- loops ---------------------------------------------------------------------------------------

template <class Index> void every(Index n, std::function<void(Index)> const& body) {
    for (Index k = 0; k < n; ++k) body(k);
}
template <class Index> void all_but_one(Index n, std::function<void(Index)> const& body) {
    for (Index k = 1; k < n; ++k) body(k);
}
template <class Index> void one_twice(Index n, std::function<void(Index)> const& body) {
    for (Index k = 0; k < n; ++k) body(k);
    body(n - 1);
}

TEST(loops, each_iteration_once_is_right) {
    EXPECT_TRUE(visits_each_once(100L, every<long>));
    EXPECT_EQ(grain1_main("serial", few(), every<long>), 0);
    EXPECT_EQ(region_main("serial", few(), every<int>), 0);
}
TEST(loops, an_iteration_that_is_left_out_is_wrong) {
    EXPECT_FALSE(visits_each_once(100L, all_but_one<long>));
    EXPECT_EQ(grain1_main("serial", few(), all_but_one<long>), 1);
    EXPECT_EQ(region_main("serial", few(), all_but_one<int>), 1);
}
TEST(loops, an_iteration_that_runs_twice_is_wrong) {
    EXPECT_FALSE(visits_each_once(100L, one_twice<long>));
    EXPECT_EQ(grain1_main("serial", few(), one_twice<long>), 1);
    EXPECT_EQ(region_main("serial", few(), one_twice<int>), 1);
}

// --- mutex, rwlock -------------------------------------------------------------------------------

struct open_mutex {
    void lock() {}
    void unlock() {}
    bool try_lock() { return true; }
    void lock_shared() {}
    void unlock_shared() {}
};
struct stuck_mutex : open_mutex { // never given back
    bool try_lock() { return false; }
};
template <class Mutex> struct serial_with : serial_runtime { using mutex = Mutex; };

TEST(mutex_check, a_mutex_is_right) {
    tulle::mutex own;
    EXPECT_TRUE(excludes_others<tulle_blocking_runtime>(own));
}
TEST(mutex_check, one_that_does_not_lock_is_wrong) {
    open_mutex open;
    EXPECT_FALSE(excludes_others<serial_with<open_mutex>>(open));
}
TEST(mutex_check, one_that_is_not_given_back_is_wrong) {
    stuck_mutex stuck;
    EXPECT_FALSE(excludes_others<serial_with<stuck_mutex>>(stuck));
}

TEST(rwlock_check, a_shared_mutex_is_right) {
    shared_counter<tulle::shared_mutex> c;
    EXPECT_TRUE(c.excludes_writers<tulle_blocking_runtime>());
    c.share<tulle_blocking_runtime>(100, false);
    EXPECT_TRUE(c.is_right(80));
}
TEST(rwlock_check, one_that_does_not_lock_is_wrong) {
    EXPECT_FALSE(shared_counter<open_mutex>().excludes_writers<serial_runtime>());
}
TEST(rwlock_check, one_that_is_not_given_back_is_wrong) {
    EXPECT_FALSE(shared_counter<stuck_mutex>().excludes_writers<serial_runtime>());
}
TEST(rwlock_check, a_lost_write_is_wrong) {
    shared_counter<tulle::shared_mutex> c;
    c.share<tulle_blocking_runtime>(100, false);
    --c.second;
    EXPECT_FALSE(c.read());
    EXPECT_FALSE(c.is_right(79));
}

// --- wake ----------------------------------------------------------------------------------------

// Hands work to another thread so many times; none: it runs where it is posted.
struct poster {
    int times;

    template <class F> void post(F f) const {
        if (times == 0) return f();
        std::thread([f, this] {
            for (int k = 0; k < times; ++k) f();
        }).join();
    }
};

TEST(wake_check, another_thread_once_is_right) {
    EXPECT_TRUE(wake_sample(*std::make_unique<poster>(poster{1})).right);
}
TEST(wake_check, twice_is_wrong) {
    EXPECT_FALSE(wake_sample(*std::make_unique<poster>(poster{2})).right);
}
TEST(wake_check, the_caller_itself_is_wrong) {
    EXPECT_FALSE(wake_sample(*std::make_unique<poster>(poster{0})).right);
}

// --- startup -------------------------------------------------------------------------------------

bool is_right_process(char const* file) {
    bool ok = true;
    return process_ms(file, "tulle", ok) >= 0 && ok;
}

TEST(startup_check, a_process_that_ends_well_is_right) {
    EXPECT_TRUE(is_right_process("/bin/true"));
}
TEST(startup_check, one_that_fails_is_wrong) { EXPECT_FALSE(is_right_process("/bin/false")); }
TEST(startup_check, none_at_all_is_wrong) { EXPECT_FALSE(is_right_process("/nowhere")); }

// --- barrier -------------------------------------------------------------------------------------

double barriers_of(tulle::barrier* barrier, barrier_check const& check, int threads, long n) {
    auto const wait = [barrier] {
        if (barrier != nullptr) barrier->arrive_and_wait();
    };
    tulle::scope others;
    for (int t = 1; t < threads; ++t)
        others.spawn([&check, n, wait] { pass_barriers(check, n, wait); });
    double const time = time_of_barriers(check, n, wait);
    others.join();
    return time;
}

TEST(barrier_checks, a_barrier_is_right) {
    tulle::barrier all(4);
    auto const by_barrier = [&all](barrier_check const& check, int threads, long n) {
        return barriers_of(&all, check, threads, n);
    };
    EXPECT_TRUE(measure_barriers(few(), 4, by_barrier).ok);
}
TEST(barrier_checks, one_that_does_not_wait_is_wrong) {
    auto const by_nothing = [](barrier_check const& check, int threads, long n) {
        return barriers_of(nullptr, check, threads, n);
    };
    EXPECT_FALSE(measure_barriers(few(), 4, by_nothing).ok);
}

// --- blocked -------------------------------------------------------------------------------------

struct open_gate {
    void wait() {}
    void set() {}
};
struct with_open_gate : tulle_blocking_runtime {
    using event = open_gate;
};
template <class Library> bool all_are_blocked() {
    blocked_crowd<Library> crowd(50);
    crowd.gather();
    while (std::is_same_v<typename Library::event, open_gate> && crowd.left() == 0)
        tulle::this_thread::yield();
    return crowd.release();
}

TEST(blocked_check, threads_that_wait_are_right) {
    EXPECT_TRUE(all_are_blocked<tulle_blocking_runtime>());
}
TEST(blocked_check, threads_that_do_not_wait_are_wrong) {
    EXPECT_FALSE(all_are_blocked<with_open_gate>());
}

// --- at ------------------------------------------------------------------------------------------

// Loses each so many calls; 0: none.
struct counted_calls {
    long loses;
    std::shared_ptr<std::pair<long, long>> asked_served = std::make_shared<std::pair<long, long>>();

    bool call() const {
        if (loses == 0 || ++asked_served->first % loses != 0) ++asked_served->second;
        return true;
    }
    [[nodiscard]] long served() const { return asked_served->second; }
    bool statement(std::size_t) const { return true; }
    bool expression(std::size_t) const { return loses != 1; }
};

TEST(at_check, calls_that_all_arrive_are_right) {
    for (figure const& f : measure_calls(counted_calls{0}, few())) EXPECT_TRUE(f.ok) << f.unit;
}
TEST(at_check, a_lost_call_is_wrong) {
    EXPECT_FALSE(measure_calls(counted_calls{700}, few()).front().ok);
}
TEST(at_check, a_wrong_answer_is_wrong) {
    EXPECT_FALSE(measure_calls(counted_calls{1}, few()).back().ok);
}

// --- local-start ---------------------------------------------------------------------------------

struct forgetful : serial_runtime {
    template <class F, class G> static void invoke(F const& /*f*/, G const& g) { g(); }
};

TEST(local_start_check, children_that_run_are_right) {
    EXPECT_TRUE(take_start_samples<serial_runtime>(1000).right);
    EXPECT_TRUE(take_start_samples<tulle_runtime>(1000).right);
}
TEST(local_start_check, children_that_do_not_run_are_wrong) {
    EXPECT_FALSE(take_start_samples<forgetful>(1000).right);
}

// --- one-way -------------------------------------------------------------------------------------

// Runs the activity so many times: between the start and the end, or before.
struct at_once {
    int times = 1;
    bool is_early = false;

    [[nodiscard]] start_times start(int /*place*/) const {
        if (is_early) note_begin();
        std::uint64_t const before = cycles() + (is_early ? 1U : 0U);
        for (int k = is_early ? 1 : 0; k < times; ++k) note_begin();
        return {before, before, cycles()};
    }
};

TEST(one_way_check, an_activity_between_its_start_and_its_end_is_right) {
    delays const taken = take_delays(at_once{}, 0, 100);
    EXPECT_TRUE(taken.right);
    EXPECT_EQ(taken.run.size(), 100U);
}
TEST(one_way_check, one_that_does_not_run_is_wrong) {
    EXPECT_FALSE(take_delays(at_once{0}, 0, 100).right);
}
TEST(one_way_check, one_that_runs_twice_is_wrong) {
    EXPECT_FALSE(take_delays(at_once{2}, 0, 100).right);
}
TEST(one_way_check, one_that_runs_before_its_start_is_wrong) {
    EXPECT_FALSE(take_delays(at_once{1, true}, 0, 100).right);
}
TEST(one_way_check, a_wrong_delay_is_told) {
    one_way_figures taken("async");
    taken.add(take_delays(at_once{0}, 0, 100));
    for (figure const& f : taken.all()) EXPECT_FALSE(f.ok) << f.unit;
}
TEST(one_way_check, a_ratio_of_wrong_delays_is_wrong) {
    delays const right = take_delays(at_once{}, 0, 100), wrong = take_delays(at_once{0}, 0, 100);
    one_way_ratios below("async", "C"), above("async", "C");
    below.add(right, wrong);
    above.add(wrong, right);
    for (figure const& f : below.all()) EXPECT_FALSE(f.ok) << f.unit;
    for (figure const& f : above.all()) EXPECT_FALSE(f.ok) << f.unit;
}
TEST(one_way_check, a_ratio_is_that_of_the_medians) {
    one_way_ratios taken("async", "C");
    taken.add({{30, 90, 60}, {10, 10, 10}, {100, 100, 100}, true},
              {{20, 1, 40}, {5, 5, 5}, {200, 200, 200}, true});
    EXPECT_EQ(taken.all()[0].values, std::vector<double>{3});
    EXPECT_EQ(taken.all()[1].values, std::vector<double>{2});
    EXPECT_EQ(taken.all()[2].values, std::vector<double>{0.5});
}
TEST(one_way_check, the_least_is_that_of_twenty) {
    std::vector<double> values(60, 7);
    values[3] = 1; // of the first twenty
    values[59] = 5;
    EXPECT_EQ(least_of_twenty(values), 5);
}

// --- hpccg ---------------------------------------------------------------------------------------

// Sums that are under way, and come out so many times as large.
struct late_sums : kernels::hpccg_alone {
    double factor = 1;

    struct under_way {
        double value;
        [[nodiscard]] double get() const { return value; }
    };
    [[nodiscard]] under_way begin_sum(double value) const { return {factor * value}; }
    [[nodiscard]] static int rank() { return 0; }
    [[nodiscard]] static int size() { return 1; }
};
kernels::hpccg_outcome solve(late_sums const& sums) {
    using loops = kernels::fork_join_loops<serial_runtime>;
    return kernels::hpccg_by_parts<loops>({9, 8, 7}, 30, 1, sums);
}

TEST(hpccg_check, sums_that_are_under_way_change_nothing) {
    auto const late = solve({});
    EXPECT_TRUE(late.right);
    using loops = kernels::fork_join_loops<serial_runtime>;
    kernels::hpccg_problem problem(kernels::hpccg_domain{9, 8, 7});
    problem.fill<loops>();
    EXPECT_EQ(late.residuals, problem.solve<loops>(30));
}
TEST(hpccg_check, a_wrong_sum_is_wrong) {
    late_sums wrong;
    wrong.factor = 2;
    EXPECT_FALSE(solve(wrong).right);
}
TEST(hpccg_check, the_time_in_sums_is_a_part_of_all) {
    auto const out = solve({});
    EXPECT_GT(out.in_sums.front(), 0);
    EXPECT_LE(out.in_sums.front(), out.seconds.front());
}

// --- echo ----------------------------------------------------------------------------------------

struct calls_that_spoil_a_byte : system_calls {
    static ssize_t write(int file, void const* from, std::size_t size) {
        std::array<char, echo_clients::k_buffer> sent;
        std::memcpy(sent.data(), from, size);
        sent[size / 2] = static_cast<char>(sent[size / 2] + 1);
        return ::write(file, sent.data(), size);
    }
};
struct calls_that_lose_a_connection : system_calls {
    static ssize_t read(int file, void* to, std::size_t size) {
        ssize_t const got = ::read(file, to, size);
        return size > 1 && ++t_reads == 3 ? 0 : got; // the thread of the connection ends it
    }
    static thread_local int t_reads;
};
thread_local int calls_that_lose_a_connection::t_reads = 0;

template <class Calls> bool echo_is_right() {
    return echo_run(3, 0.01,
                    [](echo_clients const& clients, int connections, auto while_held) {
                        pthread_runtime library(1);
                        bool ok = false;
                        library.run([&] {
                            ok = serve_clients<pthread_runtime, Calls>(clients, connections,
                                                                       while_held);
                        });
                        return ok;
                    })
        .ok;
}

TEST(echo_check, answers_that_are_what_was_sent_are_right) {
    EXPECT_TRUE(echo_is_right<system_calls>());
}
TEST(echo_check, an_answer_with_another_byte_is_wrong) {
    EXPECT_FALSE(echo_is_right<calls_that_spoil_a_byte>());
}
TEST(echo_check, a_connection_that_the_server_ends_is_wrong) {
    EXPECT_FALSE(echo_is_right<calls_that_lose_a_connection>());
}

// --- noise ---------------------------------------------------------------------------------------

TEST(noise_check, work_that_is_done_is_right) {
    EXPECT_TRUE(do_quanta(100, &quantum_of_work).right);
}
TEST(noise_check, work_that_is_left_out_is_wrong) {
    EXPECT_FALSE(do_quanta(100, [done = 0](std::uint64_t x) mutable {
                     return ++done == 50 ? x : quantum_of_work(x);
                 }).right);
}
TEST(noise_check, quanta_that_take_longer_are_counted) {
    quanta q;
    q.cycles = {100, 100, 100, 130, 570}; // 500 of 1000 would be enough
    noise_figures figures(1);
    figures.add({q});
    auto const all = figures.all();
    EXPECT_EQ(all[0].values.front(), 50);          // % lost
    EXPECT_DOUBLE_EQ(all[1].values.front(), 0.57); // us
    EXPECT_EQ(all[2].values.front(), 2);           // above 1.1
    EXPECT_EQ(all[2].unit, "quanta, above 1.1");
    EXPECT_EQ(all[6].values.front(), 1);     // above 4
    EXPECT_EQ(all.back().values.front(), 0); // above 1024
    for (figure const& f : all) EXPECT_TRUE(f.ok);
}

// --- spanning ------------------------------------------------------------------------------------

struct spanned_bytes {
    std::size_t forgotten; // so many of the last
    std::vector<unsigned char> bytes = std::vector<unsigned char>(2 * k_span_of_each);

    void read(unsigned char* to, std::size_t size) const { std::memcpy(to, bytes.data(), size); }
    void write(unsigned char const* from, std::size_t size) {
        std::memcpy(bytes.data(), from, size - forgotten);
    }
};
bool spans_are_right(std::size_t forgotten) {
    spanned_bytes memory{forgotten};
    settings s = few();
    s.n = 3;
    s.places = 2;
    auto const figures = measure_spans(memory, s);
    return std::all_of(figures.begin(), figures.end(), [](figure const& f) { return f.ok; });
}

TEST(spanning_check, bytes_of_all_places_are_right) { EXPECT_TRUE(spans_are_right(0)); }
TEST(spanning_check, a_place_that_is_left_out_is_wrong) {
    EXPECT_FALSE(spans_are_right(k_span_of_each));
}

// --- onesided-sizes ------------------------------------------------------------------------------

struct own_bytes {
    bool forgets_last;
    std::vector<std::vector<unsigned char>> of{2, std::vector<unsigned char>(k_largest)};

    void read(int place, unsigned char* to, std::size_t bytes) {
        std::memcpy(to, of[static_cast<std::size_t>(place)].data(), bytes);
    }
    void write(int place, unsigned char const* from, std::size_t bytes) {
        std::memcpy(of[static_cast<std::size_t>(place)].data(), from,
                    bytes - (forgets_last ? 1 : 0));
    }
};
bool copies_are_right(bool forget) {
    settings s = few();
    own_bytes memory{forget};
    auto const figures = size_measurement(memory, s).measure();
    return std::all_of(figures.begin(), figures.end(), [](figure const& f) { return f.ok; });
}

TEST(onesided_sizes_check, bytes_that_are_copied_are_right) {
    EXPECT_TRUE(copies_are_right(false));
}
TEST(onesided_sizes_check, a_byte_that_is_not_written_is_wrong) {
    EXPECT_FALSE(copies_are_right(true));
}

} // namespace
