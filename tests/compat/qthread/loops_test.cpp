// SPDX-License-Identifier: Apache-2.0
// Loops, reductions and sorts.
#include <qthread/futurelib.h>
#include <qthread/hash.h>
#include <qthread/qloop.hpp>
#include <qthread/qthread.h>
#include <qthread/qutil.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

namespace {

class qloop : public testing::Test {
protected:
    void SetUp() override { ASSERT_EQ(qthread_initialize(), QTHREAD_SUCCESS); }
};
using qloop_queue = qloop;
using qutil = qloop;

// How often each iteration has run, and in how many calls.
struct tally {
    explicit tally(std::size_t n) : times(n) {}
    std::vector<std::atomic<int>> times;
    std::atomic<int> calls{0};
    std::mutex lock;
    std::set<unsigned> threads;

    void note(std::size_t from, std::size_t to) {
        for (std::size_t i = from; i != to; ++i) ++times[i];
        ++calls;
        std::lock_guard const held(lock);
        threads.insert(qthread_id());
    }
    // Exactly those from `start` to `stop` have run, each once.
    [[nodiscard]] bool has_run(std::size_t start, std::size_t stop) const {
        for (std::size_t i = 0; i != times.size(); ++i)
            if (times[i] != (i >= start && i < stop ? 1 : 0)) return false;
        return true;
    }
};
void note(std::size_t from, std::size_t to, void* arg) { static_cast<tally*>(arg)->note(from, to); }

using loop_function = void (*)(std::size_t, std::size_t, qt_loop_f, void*);
constexpr loop_function k_each[] = {qt_loop,         qt_loop_simple, qt_loop_sv,    qt_loop_dc,
                                    qt_loop_aligned, qt_loop_sinc,   qt_loop_future};
constexpr loop_function k_balance[] = {
    qt_loop_balance,         qt_loop_balance_simple, qt_loop_balance_sv,    qt_loop_balance_dc,
    qt_loop_balance_aligned, qt_loop_balance_sinc,   qt_loop_balance_future};

TEST_F(qloop, a_thread_for_each_iteration) {
    for (loop_function const loop : k_each) {
        for (std::size_t const stop : {11U, 1000U}) {
            tally t(1001);
            loop(10, stop, note, &t);
            EXPECT_TRUE(t.has_run(10, stop));
            EXPECT_EQ(t.calls, static_cast<int>(stop - 10));
            EXPECT_EQ(t.threads.size(), stop - 10) << "threads have ids of their own";
        }
    }
}

TEST_F(qloop, equal_distribution) {
    for (loop_function const loop : k_balance) {
        for (std::size_t const stop : {11U, 12U, 1000U}) {
            tally t(1001);
            loop(10, stop, note, &t);
            EXPECT_TRUE(t.has_run(10, stop));
            EXPECT_EQ(t.calls, std::min<int>(static_cast<int>(stop - 10), qthread_num_workers()));
        }
    }
}

TEST_F(qloop, nothing_to_do) {
    tally t(10);
    for (loop_function const loop : k_each) {
        loop(5, 5, note, &t);
        loop(6, 5, note, &t);
        loop(0, 5, nullptr, &t);
    }
    for (loop_function const loop : k_balance) {
        loop(5, 5, note, &t);
        loop(6, 5, note, &t);
        loop(0, 5, nullptr, &t);
    }
    qt_loop_step(
        0, 5, 0, [](void* arg) { static_cast<tally*>(arg)->note(0, 1); }, &t);
    EXPECT_EQ(t.calls, 0);
}

TEST_F(qloop, iterations_wait_for_each_other) {
    struct shared {
        std::vector<aligned_t> words = std::vector<aligned_t>(1000);
    } s;
    for (auto& w : s.words) qthread_empty(&w);
    // Iteration i waits for i + 1.
    auto const body = [](std::size_t i, std::size_t, void* arg) {
        auto& words = static_cast<shared*>(arg)->words;
        aligned_t value = 0;
        if (i + 1 != words.size()) qthread_readFF(&value, &words[i + 1]);
        qthread_writeEF_const(&words[i], value + 1);
    };
    qt_loop(0, s.words.size(), body, &s);
    EXPECT_EQ(s.words[0], s.words.size());
}

TEST_F(qloop, loops_nest) {
    std::atomic<int> count{0};
    auto const inner = [](std::size_t, std::size_t, void* arg) {
        ++*static_cast<std::atomic<int>*>(arg);
    };
    struct context {
        qt_loop_f inner;
        std::atomic<int>* count;
    } c{inner, &count};
    auto const outer = [](std::size_t from, std::size_t to, void* arg) {
        auto const& in = *static_cast<context*>(arg);
        for (std::size_t i = from; i != to; ++i) qt_loop(0, 10, in.inner, in.count);
    };
    qt_loop_balance(0, 20, outer, &c);
    EXPECT_EQ(count, 200);
}

TEST_F(qloop, step) {
    std::atomic<int> count{0};
    auto const body = [](void* arg) { ++*static_cast<std::atomic<int>*>(arg); };
    qt_loop_step(0, 10, 3, body, &count);
    EXPECT_EQ(count, 4);
    qt_loop_step(0, 9, 3, body, &count);
    EXPECT_EQ(count, 7);
    qt_loop_step(std::numeric_limits<std::size_t>::max() - 1,
                 std::numeric_limits<std::size_t>::max(), 10, body, &count);
    EXPECT_EQ(count, 8);
}

// The caller is the worker of a shepherd: as it must not wait for OS threads otherwise, it waits
// for words.
TEST_F(qloop, foreign_threads_run_loops) {
    tally first(500), second(500);
    aligned_t ends[2] = {0, 0};
    for (aligned_t& end : ends) qthread_empty(&end);
    std::thread a([&] {
        qt_loop(0, 500, note, &first);
        qthread_fill(&ends[0]);
    });
    std::thread b([&] {
        qt_loop_balance(0, 500, note, &second);
        qthread_fill(&ends[1]);
    });
    for (aligned_t& end : ends) qthread_readFF(nullptr, &end);
    a.join();
    b.join();
    EXPECT_TRUE(first.has_run(0, 500));
    EXPECT_TRUE(second.has_run(0, 500));
}

// Without threads to give them to, the caller runs the iterations.
TEST(qloop_without_library, the_caller_runs_all) {
    qthread_finalize(); // what another test has left
    tally t(100);
    qt_loop(0, 50, note, &t);
    qt_loop_balance(50, 90, note, &t);
    qt_loop_queue_run(qt_loop_queue_create(GUIDED, 90, 100, 1, note, &t));
    EXPECT_TRUE(t.has_run(0, 100));
    EXPECT_EQ(t.threads, std::set<unsigned>{QTHREAD_NON_TASK_ID});
}

TEST(qloop_again, after_finalize_and_initialize) {
    qthread_finalize();
    for (qthread_shepherd_id_t shepherds = 1; shepherds != 4; ++shepherds) {
        ASSERT_EQ(qthread_init(shepherds), QTHREAD_SUCCESS);
        EXPECT_EQ(qthread_num_shepherds(), shepherds);
        tally t(1000);
        qt_loop(0, 500, note, &t);
        qt_loop_balance(500, 1000, note, &t);
        EXPECT_TRUE(t.has_run(0, 1000));
        EXPECT_EQ(t.calls, 500 + shepherds);
        qthread_finalize();
    }
}

// --- as the paper has them -----------------------------------------------------------------------

std::atomic<int> s_calls{0};
aligned_t call(void*) { return ++s_calls, 0; }
aligned_t call_me(qthread_t* me, void*) { return s_calls += me == nullptr ? 1 : 1000, 0; }
void note_me(qthread_t*, std::size_t const from, std::size_t const to, void* arg) {
    static_cast<tally*>(arg)->note(from, to);
}
void sum_me(qthread_t*, std::size_t const from, std::size_t const to, void*, void* ret) {
    *static_cast<std::size_t*>(ret) = (from + to - 1) * (to - from) / 2;
}
void add_me(void* a, void* b) { *static_cast<std::size_t*>(a) += *static_cast<std::size_t*>(b); }

TEST_F(qloop, of_2008_with_a_stride) {
    s_calls = 0;
    qt_loop(0, 10, 2, call, nullptr);
    EXPECT_EQ(s_calls, 5);
    qt_loop(0, 10, 2, call_me, nullptr);
    EXPECT_EQ(s_calls, 10);
    qt_loop_future(0, 9, 4, call, nullptr);
    EXPECT_EQ(s_calls, 13);
    qt_loop_future(0, 9, 4, call_me, nullptr);
    EXPECT_EQ(s_calls, 16);
}

TEST_F(qloop, of_2008_with_me) {
    tally t(100);
    qt_loop_balance(0, 50, note_me, &t);
    qt_loop_balance_future(50, 100, note_me, &t);
    EXPECT_TRUE(t.has_run(0, 100));
    std::size_t sum = 0;
    qt_loopaccum_balance(0, 1000, sizeof sum, &sum, sum_me, nullptr, add_me);
    EXPECT_EQ(sum, 499500U);
    qt_loopaccum_balance_future(0, 100, sizeof sum, &sum, sum_me, nullptr, add_me);
    EXPECT_EQ(sum, 4950U);
}

// No more futures at once than the limit on each shepherd, though the threads give way.
TEST_F(qloop, futures_keep_the_limit) {
    ASSERT_EQ(future_init(3), QTHREAD_SUCCESS);
    struct shared {
        std::atomic<int> alive{0};
        std::atomic<int> most{0};
    } s;
    qt_loop_future(
        0, 500,
        [](std::size_t, std::size_t, void* arg) {
            auto& shared_state = *static_cast<shared*>(arg);
            int const now = ++shared_state.alive;
            for (int most = shared_state.most;
                 most < now && !shared_state.most.compare_exchange_weak(most, now);) {}
            for (int k = 0; k != 3; ++k) qthread_yield();
            --shared_state.alive;
        },
        &s);
    EXPECT_LE(s.most, 3 * qthread_num_shepherds());
    EXPECT_EQ(s.alive, 0);
    ASSERT_EQ(future_init(0), QTHREAD_SUCCESS);
}

// --- with results --------------------------------------------------------------------------------

void sum_range(std::size_t const from, std::size_t const to, void*, void* ret) {
    *static_cast<aligned_t*>(ret) = (from + to - 1) * (to - from) / 2;
}

TEST_F(qloop, accumulates) {
    aligned_t sum = 1000000; // what the first result replaces
    for (auto const loop :
         {static_cast<decltype(&qt_loopaccum_balance_sv)>(qt_loopaccum_balance),
          qt_loopaccum_balance_sv, qt_loopaccum_balance_dc,
          static_cast<decltype(&qt_loopaccum_balance_sv)>(qt_loopaccum_balance_future)}) {
        loop(10, 1000, sizeof sum, &sum, sum_range, nullptr, qt_uint_add_acc);
        EXPECT_EQ(sum, 499500U - 45);
    }
    qt_loopaccum_balance_sinc(0, 10, sizeof sum, &sum, sum_range, nullptr, qt_uint_add_acc);
    EXPECT_EQ(sum, 499500U) << "with what was there";
    qt_loopaccum_balance(5, 5, sizeof sum, &sum, sum_range, nullptr, qt_uint_add_acc);
    EXPECT_EQ(sum, 499500U);
}

// The parts are combined in order: strings, which do not commute.
struct text {
    std::size_t length;
    char letters[100];
};
TEST_F(qloop, accumulates_in_order) {
    text all{};
    qt_loopaccum_balance(
        0, 100, sizeof all, &all,
        [](std::size_t const from, std::size_t const to, void*, void* ret) {
            auto& part = *static_cast<text*>(ret);
            part.length = 0;
            for (std::size_t i = from; i != to; ++i)
                part.letters[part.length++] = static_cast<char>(i);
        },
        nullptr,
        [](void* a, void const* b) {
            auto& x = *static_cast<text*>(a);
            auto const& y = *static_cast<text const*>(b);
            std::copy(y.letters, y.letters + y.length, x.letters + x.length);
            x.length += y.length;
        });
    ASSERT_EQ(all.length, 100U);
    for (std::size_t i = 0; i != 100; ++i) EXPECT_EQ(all.letters[i], static_cast<char>(i));
}

TEST_F(qloop, accumulators) {
    auto const apply = [](qt_accum_f f, auto a, auto b) {
        f(&a, &b);
        return a;
    };
    EXPECT_EQ(apply(qt_dbl_add_acc, 2.0, 3.0), 5.0);
    EXPECT_EQ(apply(qt_dbl_prod_acc, 2.0, 3.0), 6.0);
    EXPECT_EQ(apply(qt_dbl_max_acc, 2.0, 3.0), 3.0);
    EXPECT_EQ(apply(qt_dbl_min_acc, 2.0, 3.0), 2.0);
    EXPECT_EQ(apply(qt_int_add_acc, saligned_t{-2}, saligned_t{3}), 1);
    EXPECT_EQ(apply(qt_int_prod_acc, saligned_t{-2}, saligned_t{3}), -6);
    EXPECT_EQ(apply(qt_int_max_acc, saligned_t{-2}, saligned_t{3}), 3);
    EXPECT_EQ(apply(qt_int_min_acc, saligned_t{-2}, saligned_t{3}), -2);
    EXPECT_EQ(apply(qt_uint_add_acc, aligned_t{2}, aligned_t{3}), 5U);
    EXPECT_EQ(apply(qt_uint_prod_acc, aligned_t{2}, aligned_t{3}), 6U);
    EXPECT_EQ(apply(qt_uint_max_acc, aligned_t{2}, aligned_t{3}), 3U);
    EXPECT_EQ(apply(qt_uint_min_acc, aligned_t{2}, aligned_t{3}), 2U);
}

// --- templates -----------------------------------------------------------------------------------

struct squares {
    std::vector<int>* answer;
    void operator()(std::size_t from, std::size_t to) const {
        for (std::size_t i = from; i != to; ++i) (*answer)[i] = static_cast<int>(i * i);
    }
};
struct sum_of_squares {
    using acctype = aligned_t;
    static constexpr acctype identity = 0;
    static void accumulate(void* a, void const* b) {
        *static_cast<acctype*>(a) += *static_cast<acctype const*>(b);
    }
    acctype operator()(std::size_t from, std::size_t to) {
        acctype sum = 0;
        for (std::size_t i = from; i != to; ++i) sum += i * i;
        return sum;
    }
};

TEST_F(qloop, templates) {
    std::vector<int> expected(100);
    for (std::size_t i = 0; i != 100; ++i) expected[i] = static_cast<int>(i * i);
    for (auto const loop :
         {static_cast<void (*)(std::size_t, std::size_t, squares const&)>(qt_loop<squares>),
          static_cast<void (*)(std::size_t, std::size_t, squares const&)>(qt_loop_future<squares>),
          static_cast<void (*)(std::size_t, std::size_t, squares const&)>(qt_loop_balance<squares>),
          static_cast<void (*)(std::size_t, std::size_t, squares const&)>(
              qt_loop_balance_simple<squares>),
          static_cast<void (*)(std::size_t, std::size_t, squares const&)>(
              qt_loop_balance_future<squares>)}) {
        std::vector<int> answer(100);
        loop(0, 100, squares{&answer});
        EXPECT_EQ(answer, expected);
    }
    EXPECT_EQ(qt_loopaccum_balance(0, 100, sum_of_squares()), 328350U);
    EXPECT_EQ(qt_loopaccum_balance(0, 0, sum_of_squares()), 0U);
}

// --- queues of iterations ------------------------------------------------------------------------

constexpr qt_loop_queue_type k_types[] = {CHUNK, GUIDED, FACTORED, TIMED};

TEST_F(qloop_queue, each_iteration_once) {
    for (qt_loop_queue_type const type : k_types) {
        for (std::size_t const stop : {0U, 5U, 6U, 100U, 10000U}) {
            tally t(10001);
            qqloop_handle_t* const l = qt_loop_queue_create(type, 5, stop, 1, note, &t);
            ASSERT_NE(l, nullptr);
            qt_loop_queue_run(l);
            EXPECT_TRUE(t.has_run(5, std::max<std::size_t>(stop, 5))) << type << " " << stop;
        }
    }
}

TEST_F(qloop_queue, chunks_have_the_size_that_is_set) {
    tally t(100);
    qqloop_handle_t* const l = qt_loop_queue_create(CHUNK, 0, 100, 1, note, &t);
    qt_loop_queue_setchunk(l, 10);
    qt_loop_queue_run(l);
    EXPECT_EQ(t.calls, 10);
    EXPECT_TRUE(t.has_run(0, 100));
}

TEST_F(qloop_queue, chunks_begin_at_steps) {
    std::atomic<int> wrong{0};
    for (qt_loop_queue_type const type : k_types) {
        qt_loop_queue_run(qt_loop_queue_create(
            type, 1, 1000, 7,
            [](std::size_t from, std::size_t to, void* arg) {
                if ((from - 1) % 7 != 0 || from >= to || (to != 1000 && (to - 1) % 7 != 0))
                    ++*static_cast<std::atomic<int>*>(arg);
            },
            &wrong));
    }
    EXPECT_EQ(wrong, 0);
}

TEST_F(qloop_queue, steps) {
    std::atomic<int> count{0};
    auto* const l = qt_loop_step_queue_create(
        GUIDED, 0, 100, 3, [](void* arg) { ++*static_cast<std::atomic<int>*>(arg); }, &count);
    qt_loop_queue_run(reinterpret_cast<qqloop_handle_t*>(l));
    EXPECT_EQ(count, 34);
}

TEST_F(qloop_queue, runs_there) {
    struct shared {
        std::atomic<int> elsewhere{0};
        tally all{100};
    } s;
    auto const body = [](std::size_t from, std::size_t to, void* arg) {
        auto& state = *static_cast<shared*>(arg);
        if (qthread_shep() != 0) ++state.elsewhere;
        state.all.note(from, to);
    };
    qt_loop_queue_run_there(qt_loop_queue_create(GUIDED, 0, 100, 1, body, &s), 0);
    EXPECT_EQ(s.elsewhere, 0);
    EXPECT_TRUE(s.all.has_run(0, 100));
}

struct growing {
    qqloop_handle_t* loop;
    tally all{1000};
};
TEST_F(qloop_queue, gets_workers_while_it_runs) {
    growing g{nullptr};
    g.loop = qt_loop_queue_create(
        CHUNK, 0, 1000, 1,
        [](std::size_t from, std::size_t to, void* arg) {
            auto& state = *static_cast<growing*>(arg);
            if (from % 100 == 0)
                qt_loop_queue_addworker(state.loop, static_cast<qthread_shepherd_id_t>(
                                                        from / 100 % qthread_num_shepherds()));
            state.all.note(from, to);
        },
        &g);
    qt_loop_queue_setchunk(g.loop, 1);
    qt_loop_queue_addworker(g.loop, 0); // runs at once
    qt_loop_queue_run(g.loop);
    EXPECT_TRUE(g.all.has_run(0, 1000));
}

// Workers whose shepherd is disabled leave, but not the last one: no iteration is forgotten.
TEST(qloop_queue_without_a_shepherd, each_iteration_once) {
    qthread_finalize(); // what another test has left
    ASSERT_EQ(qthread_init(3), QTHREAD_SUCCESS);
    for (qt_loop_queue_type const type : k_types) {
        tally t(3000);
        auto const body = [](std::size_t from, std::size_t to, void* arg) {
            qthread_disable_shepherd(1);
            qthread_disable_shepherd(2);
            note(from, to, arg);
        };
        qt_loop_queue_run(qt_loop_queue_create(type, 0, 3000, 1, body, &t));
        EXPECT_TRUE(t.has_run(0, 3000)) << type;
        qthread_enable_shepherd(1);
        qthread_enable_shepherd(2);
    }
    qthread_finalize();
}

// Loops are spread over those that are enabled, and may be sent to each by its number.
TEST(qloop_beside_a_disabled_shepherd, goes_to_the_others) {
    qthread_finalize(); // what another test has left
    ASSERT_EQ(qthread_init(3), QTHREAD_SUCCESS);
    ASSERT_EQ(qthread_disable_shepherd(1), QTHREAD_SUCCESS);
    static std::array<std::atomic<int>, 3> s_seen;
    for (auto& count : s_seen) count = 0; // also where the test is repeated
    auto const body = +[](std::size_t, std::size_t, void*) {
        qthread_shepherd_id_t const here = qthread_shep();
        ++s_seen[here < s_seen.size() ? here : 1];
    };
    qt_loop_queue_run_there(qt_loop_queue_create(CHUNK, 0, 100, 1, body, nullptr), 2);
    EXPECT_GT(s_seen[2], 0);
    EXPECT_EQ(s_seen[0] + s_seen[1], 0);
    s_seen[2] = 0;
    auto* const more = qt_loop_queue_create(CHUNK, 0, 1, 1, body, nullptr);
    qt_loop_queue_addworker(more, 2);
    while (s_seen[2] == 0) qthread_yield();
    qt_loop_queue_run(more);
    // One part for each of the two shepherds, which wait for each other.
    auto const both = +[](std::size_t, std::size_t, void*) {
        ++s_seen[qthread_shep() == 2 ? 2 : 0];
        while (s_seen[0] == 0 || s_seen[2] == 0) qthread_yield();
    };
    for (auto& count : s_seen) count = 0;
    qt_loop_balance(0, 2, both, nullptr);
    EXPECT_EQ(s_seen[0], 1);
    EXPECT_EQ(s_seen[2], 1);
    for (auto& count : s_seen) count = 0;
    qt_loop_queue_run(qt_loop_queue_create(CHUNK, 0, 2, 1, both, nullptr));
    EXPECT_EQ(s_seen[0], 1);
    EXPECT_EQ(s_seen[2], 1);
    qthread_finalize();
}

TEST_F(qloop_queue, refuses_what_makes_no_sense) {
    EXPECT_EQ(qt_loop_queue_create(CHUNK, 0, 10, 1, nullptr, nullptr), nullptr);
    EXPECT_EQ(qt_loop_queue_create(CHUNK, 0, 10, 0, note, nullptr), nullptr);
    EXPECT_EQ(qt_loop_step_queue_create(CHUNK, 0, 10, 1, nullptr, nullptr), nullptr);
    qt_loop_queue_run(nullptr);
    qt_loop_queue_run_there(nullptr, 0);
    qt_loop_queue_addworker(nullptr, 0);
    qt_loop_queue_setchunk(nullptr, 1);
}

// --- reductions and sorts ------------------------------------------------------------------------

template <class T> struct reductions {
    T (*sum)(T*, std::size_t, int);
    T (*product)(T*, std::size_t, int);
    T (*max)(T*, std::size_t, int);
    T (*min)(T*, std::size_t, int);
};
template <class T> struct const_reductions {
    T (*sum)(T const*, std::size_t, int);
    T (*product)(T const*, std::size_t, int);
    T (*max)(T const*, std::size_t, int);
    T (*min)(T const*, std::size_t, int);
};

// Small whole numbers: exact in each type, though a product of many wraps around or is 0.
template <class T, class Functions> void check_reductions(Functions const& f) {
    for (std::size_t const n : {1U, 2U, 100U, 50000U}) {
        std::vector<T> array(n);
        for (std::size_t i = 0; i != n; ++i) array[i] = static_cast<T>(i % 1000 + 1);
        T const sum = std::accumulate(array.begin(), array.end(), T{0});
        for (int const checkfeb : {0, 1}) {
            EXPECT_EQ(f.sum(array.data(), n, checkfeb), sum);
            EXPECT_EQ(f.max(array.data(), n, checkfeb),
                      static_cast<T>(std::min<std::size_t>(n, 1000)));
            EXPECT_EQ(f.min(array.data(), n, checkfeb), T{1});
            EXPECT_EQ(f.product(array.data(), std::min<std::size_t>(n, 10), checkfeb),
                      n == 1   ? T{1}
                      : n == 2 ? T{2}
                               : T{3628800});
        }
    }
    EXPECT_EQ(f.sum(nullptr, 0, 0), T{0});
    EXPECT_EQ(f.product(nullptr, 0, 0), T{1});
    EXPECT_EQ(f.max(nullptr, 0, 1), T{0});
    EXPECT_EQ(f.min(nullptr, 0, 1), T{0});
}

TEST_F(qutil, reductions) {
    check_reductions<double>(
        reductions<double>{qt_double_sum, qt_double_prod, qt_double_max, qt_double_min});
    check_reductions<saligned_t>(
        reductions<saligned_t>{qt_int_sum, qt_int_prod, qt_int_max, qt_int_min});
    check_reductions<aligned_t>(
        reductions<aligned_t>{qt_uint_sum, qt_uint_prod, qt_uint_max, qt_uint_min});
    check_reductions<double>(const_reductions<double>{qutil_double_sum, qutil_double_mult,
                                                      qutil_double_max, qutil_double_min});
    check_reductions<saligned_t>(
        const_reductions<saligned_t>{qutil_int_sum, qutil_int_mult, qutil_int_max, qutil_int_min});
    check_reductions<aligned_t>(const_reductions<aligned_t>{qutil_uint_sum, qutil_uint_mult,
                                                            qutil_uint_max, qutil_uint_min});
}

TEST_F(qutil, negative_numbers) {
    saligned_t const numbers[] = {-5, 3, -7, 2};
    EXPECT_EQ(qutil_int_sum(numbers, 4, 0), -7);
    EXPECT_EQ(qutil_int_mult(numbers, 4, 0), 210);
    EXPECT_EQ(qutil_int_min(numbers, 4, 0), -7);
    EXPECT_EQ(qutil_int_max(numbers, 4, 0), 3);
}

struct filling {
    std::vector<aligned_t> words;
};
aligned_t fill_backwards(void* p) {
    auto& words = static_cast<filling*>(p)->words;
    for (std::size_t i = words.size(); i-- != 0;) qthread_writeEF_const(&words[i], i);
    return 0;
}
TEST_F(qutil, waits_for_full_elements) {
    filling f{std::vector<aligned_t>(2000)};
    for (auto& w : f.words) qthread_empty(&w);
    ASSERT_EQ(qthread_fork(fill_backwards, &f, nullptr), QTHREAD_SUCCESS);
    EXPECT_EQ(qutil_uint_sum(f.words.data(), f.words.size(), 1), 1999000U);
}

template <class T> std::vector<T> shuffled(std::size_t n, std::size_t values) {
    std::vector<T> array(n);
    for (std::size_t i = 0; i != n; ++i) array[i] = static_cast<T>(qt_hash64(i) % values);
    return array;
}
template <class T> void check_sort(void (*sort)(T*, std::size_t)) {
    for (std::size_t const n : {0U, 1U, 2U, 100U, 10000U, 300000U}) {
        for (std::size_t const values : {2U, 1000000U}) {
            auto array = shuffled<T>(n, values);
            auto expected = array;
            std::sort(expected.begin(), expected.end());
            sort(array.data(), n);
            ASSERT_EQ(array, expected) << n;
        }
    }
    sort(nullptr, 0);
}

TEST_F(qutil, qsort) { check_sort<double>(qutil_qsort); }
TEST_F(qutil, qt_qsort) { check_sort<double>(::qt_qsort); }
TEST_F(qutil, mergesort) { check_sort<double>(qutil_mergesort); }
TEST_F(qutil, aligned_qsort) { check_sort<aligned_t>(qutil_aligned_qsort); }

aligned_t sort_inside(void* p) {
    auto& array = *static_cast<std::vector<double>*>(p);
    qutil_qsort(array.data(), array.size());
    return 0;
}
TEST_F(qutil, sorts_in_qthreads) {
    std::vector<std::vector<double>> arrays(4, shuffled<double>(100000, 1000000));
    std::vector<aligned_t> ends(arrays.size());
    for (std::size_t k = 0; k != arrays.size(); ++k)
        ASSERT_EQ(qthread_fork(sort_inside, &arrays[k], &ends[k]), QTHREAD_SUCCESS);
    for (std::size_t k = 0; k != arrays.size(); ++k) {
        qthread_readFF(nullptr, &ends[k]);
        EXPECT_TRUE(std::is_sorted(arrays[k].begin(), arrays[k].end()));
    }
}

} // namespace
