// SPDX-License-Identifier: Apache-2.0
// Mutexes of each type, conditions, reader-writer locks, barriers, counters, full/empty locks,
// meetings, once, spin locks and sleep queues: what each does in each state, and who waits.
#include "support.hpp"

#include <myth/myth_sleep_queue_func.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <thread>
#include <vector>

namespace {

using namespace myth_test;

struct sync : running_library {};
using mutex = sync;
using rwlock = sync;
using condition = sync;
using barrier = sync;
using join_counter = sync;
using felock = sync;
using uncond = sync;
using once = sync;

// --- mutexes -------------------------------------------------------------------------------------

template <class Body> void in_threads(int count, Body body) {
    std::vector<std::unique_ptr<thread>> all;
    for (int k = 0; k < count; ++k)
        all.push_back(std::make_unique<thread>([&body, k]() -> void* {
            body(k);
            return nullptr;
        }));
}

class mutex_type : public running_library, public testing::WithParamInterface<int> {
protected:
    mutex_type() {
        myth_mutexattr_t attributes;
        EXPECT_EQ(myth_mutexattr_init(&attributes), 0);
        EXPECT_EQ(myth_mutexattr_settype(&attributes, GetParam()), 0);
        int type = -1;
        EXPECT_EQ(myth_mutexattr_gettype(&attributes, &type), 0);
        EXPECT_EQ(type, GetParam());
        EXPECT_EQ(myth_mutex_init(&m, &attributes), 0);
        EXPECT_EQ(myth_mutexattr_destroy(&attributes), 0);
    }
    ~mutex_type() override { EXPECT_EQ(myth_mutex_destroy(&m), 0); }

    myth_mutex_t m;
};
INSTANTIATE_TEST_SUITE_P(each, mutex_type,
                         testing::Values(MYTH_MUTEX_NORMAL, MYTH_MUTEX_ERRORCHECK,
                                         MYTH_MUTEX_RECURSIVE));

TEST_P(mutex_type, excludes) {
    long count = 0;
    in_threads(8, [&](int) {
        for (int k = 0; k < 200; ++k) {
            ASSERT_EQ(myth_mutex_lock(&m), 0);
            long const seen = count;
            if (k % 10 == 0) myth_yield();
            count = seen + 1;
            ASSERT_EQ(myth_mutex_unlock(&m), 0);
        }
    });
    EXPECT_EQ(count, 8 * 200);
}

TEST_P(mutex_type, makes_others_wait) {
    ASSERT_EQ(myth_mutex_lock(&m), 0);
    EXPECT_EQ(myth_mutex_destroy(&m), EBUSY);
    thread([this]() -> void* {
        EXPECT_EQ(myth_mutex_trylock(&m), EBUSY);
        EXPECT_EQ(myth_mutex_timedlock(&m, &k_past), ETIMEDOUT);
        timespec const soon = in_ms(10);
        EXPECT_EQ(myth_mutex_timedlock(&m, &soon), ETIMEDOUT);
        EXPECT_EQ(myth_mutex_timedlock(&m, &k_no_time), EINVAL);
        EXPECT_EQ(myth_mutex_timedlock(&m, nullptr), EINVAL);
        return nullptr;
    }).join();
    expect_to_wait(
        [this] {
            EXPECT_EQ(myth_mutex_lock(&m), 0);
            EXPECT_EQ(myth_mutex_unlock(&m), 0);
        },
        [this] { EXPECT_EQ(myth_mutex_unlock(&m), 0); });
    timespec const late = in_ms(60'000);
    EXPECT_EQ(myth_mutex_timedlock(&m, &late), 0);
    EXPECT_EQ(myth_mutex_unlock(&m), 0);
    EXPECT_EQ(myth_mutex_trylock(&m), 0);
    EXPECT_EQ(myth_mutex_unlock(&m), 0);
    EXPECT_EQ(myth_mutex_unlock(&m), EPERM); // nobody holds it
}

TEST_P(mutex_type, knows_its_holder_if_it_is_not_normal) {
    int const type = GetParam();
    timespec const soon = in_ms(5);
    ASSERT_EQ(myth_mutex_lock(&m), 0);
    if (type == MYTH_MUTEX_RECURSIVE) {
        EXPECT_EQ(myth_mutex_lock(&m), 0);
        EXPECT_EQ(myth_mutex_trylock(&m), 0);
        EXPECT_EQ(myth_mutex_timedlock(&m, &soon), 0);
        for (int k = 0; k < 3; ++k) EXPECT_EQ(myth_mutex_unlock(&m), 0);
        thread([this]() -> void* {
            EXPECT_EQ(myth_mutex_trylock(&m), EBUSY);
            return nullptr;
        }).join();
    } else if (type == MYTH_MUTEX_ERRORCHECK) {
        EXPECT_EQ(myth_mutex_lock(&m), EDEADLK);
        EXPECT_EQ(myth_mutex_trylock(&m), EBUSY);
        EXPECT_EQ(myth_mutex_timedlock(&m, &soon), EDEADLK);
    } else {
        EXPECT_EQ(myth_mutex_trylock(&m), EBUSY);
        EXPECT_EQ(myth_mutex_timedlock(&m, &soon), ETIMEDOUT);
    }
    if (type != MYTH_MUTEX_NORMAL)
        thread([this]() -> void* {
            EXPECT_EQ(myth_mutex_unlock(&m), EPERM);
            return nullptr;
        }).join();
    EXPECT_EQ(myth_mutex_unlock(&m), 0);
}

TEST_P(mutex_type, is_given_up_by_a_thread_that_waits_for_a_condition) {
    myth_cond_t cond = MYTH_COND_INITIALIZER;
    bool is_true = false;
    int const depth = GetParam() == MYTH_MUTEX_RECURSIVE ? 3 : 1;
    thread waits([&]() -> void* {
        for (int k = 0; k < depth; ++k) EXPECT_EQ(myth_mutex_lock(&m), 0);
        while (!is_true) EXPECT_EQ(myth_cond_wait(&cond, &m), 0);
        for (int k = 0; k < depth; ++k) EXPECT_EQ(myth_mutex_unlock(&m), 0);
        return nullptr;
    });
    let_others_run();
    EXPECT_EQ(myth_mutex_lock(&m), 0);
    is_true = true;
    EXPECT_EQ(myth_cond_signal(&cond), 0);
    EXPECT_EQ(myth_mutex_unlock(&m), 0);
    waits.join();
    timespec const late = in_ms(1000);
    EXPECT_EQ(myth_cond_wait(&cond, &m), EPERM); // nobody holds it
    EXPECT_EQ(myth_cond_timedwait(&cond, &m, &late), EPERM);
    EXPECT_EQ(myth_mutex_trylock(&m), 0);
    EXPECT_EQ(myth_mutex_unlock(&m), 0);
}

myth_mutex_t s_static = MYTH_MUTEX_INITIALIZER;
myth_mutex_t s_zero;
TEST_F(mutex, may_be_static) {
    for (myth_mutex_t* const m : {&s_static, &s_zero}) {
        EXPECT_EQ(myth_mutex_trylock(m), 0);
        EXPECT_EQ(myth_mutex_trylock(m), EBUSY);
        EXPECT_EQ(myth_mutex_unlock(m), 0);
        EXPECT_EQ(myth_mutex_lock(m), 0);
        EXPECT_EQ(myth_mutex_unlock(m), 0);
    }
}

TEST_F(mutex, refuses_what_makes_no_sense) {
    timespec const late = in_ms(1000);
    EXPECT_EQ(myth_mutex_init(nullptr, nullptr), EINVAL);
    EXPECT_EQ(myth_mutex_destroy(nullptr), EINVAL);
    EXPECT_EQ(myth_mutex_lock(nullptr), EINVAL);
    EXPECT_EQ(myth_mutex_trylock(nullptr), EINVAL);
    EXPECT_EQ(myth_mutex_timedlock(nullptr, &late), EINVAL);
    EXPECT_EQ(myth_mutex_unlock(nullptr), EINVAL);
    EXPECT_EQ(myth_mutexattr_init(nullptr), EINVAL);
    EXPECT_EQ(myth_mutexattr_destroy(nullptr), EINVAL);
    myth_mutexattr_t attributes;
    int type = 0;
    myth_mutexattr_init(&attributes);
    EXPECT_EQ(myth_mutexattr_gettype(nullptr, &type), EINVAL);
    EXPECT_EQ(myth_mutexattr_gettype(&attributes, nullptr), EINVAL);
    EXPECT_EQ(myth_mutexattr_settype(nullptr, 0), EINVAL);
    for (int const unknown : {-1, static_cast<int>(MYTH_MUTEX_INVALID), 99}) {
        EXPECT_EQ(myth_mutexattr_settype(&attributes, unknown), EINVAL);
        myth_mutexattr_t const wrong{unknown};
        myth_mutex_t m;
        EXPECT_EQ(myth_mutex_init(&m, &wrong), EINVAL);
        myth_mutex_t damaged = MYTH_MUTEX_INITIALIZER;
        damaged.attr.type = unknown;
        EXPECT_EQ(myth_mutex_lock(&damaged), EINVAL);
        EXPECT_EQ(myth_mutex_unlock(&damaged), EINVAL);
    }
}

// --- reader-writer locks -------------------------------------------------------------------------

myth_rwlock_t s_rwlock = MYTH_RWLOCK_INITIALIZER;

TEST_F(rwlock, admits_readers_or_a_writer) {
    myth_rwlock_t l;
    ASSERT_EQ(myth_rwlock_init(&l, nullptr), 0);
    for (myth_rwlock_t* const lock : {&l, &s_rwlock}) {
        timespec const soon = in_ms(5);
        EXPECT_EQ(myth_rwlock_rdlock(lock), 0);
        EXPECT_EQ(myth_rwlock_tryrdlock(lock), 0);
        EXPECT_EQ(myth_rwlock_timedrdlock(lock, &soon), 0);
        EXPECT_EQ(myth_rwlock_trywrlock(lock), EBUSY);
        EXPECT_EQ(myth_rwlock_timedwrlock(lock, &k_past), ETIMEDOUT);
        EXPECT_EQ(myth_rwlock_destroy(lock), EBUSY);
        EXPECT_EQ(myth_rwlock_unlock(lock), 0);
        EXPECT_EQ(myth_rwlock_unlock(lock), 0);
        expect_to_wait(
            [lock] {
                EXPECT_EQ(myth_rwlock_wrlock(lock), 0);
                EXPECT_EQ(myth_rwlock_unlock(lock), 0);
            },
            [lock] { EXPECT_EQ(myth_rwlock_unlock(lock), 0); });
        EXPECT_EQ(myth_rwlock_trywrlock(lock), 0);
        EXPECT_EQ(myth_rwlock_tryrdlock(lock), EBUSY);
        EXPECT_EQ(myth_rwlock_timedrdlock(lock, &k_past), ETIMEDOUT);
        expect_to_wait(
            [lock] {
                EXPECT_EQ(myth_rwlock_rdlock(lock), 0);
                EXPECT_EQ(myth_rwlock_unlock(lock), 0);
            },
            [lock] { EXPECT_EQ(myth_rwlock_unlock(lock), 0); });
        timespec const late = in_ms(60'000);
        EXPECT_EQ(myth_rwlock_timedwrlock(lock, &late), 0);
        EXPECT_EQ(myth_rwlock_unlock(lock), 0);
        EXPECT_EQ(myth_rwlock_unlock(lock), EPERM);
        EXPECT_EQ(myth_rwlock_destroy(lock), 0);
    }
}

TEST_F(rwlock, keeps_its_kind_and_refuses_unknown_ones) {
    myth_rwlockattr_t attributes;
    int kind = -1;
    ASSERT_EQ(myth_rwlockattr_init(&attributes), 0);
    EXPECT_EQ(myth_rwlockattr_getkind(&attributes, &kind), 0);
    EXPECT_EQ(kind, MYTH_RWLOCK_PREFER_READER);
    EXPECT_EQ(myth_rwlockattr_setkind(&attributes, MYTH_RWLOCK_PREFER_WRITER_NONRECURSIVE), 0);
    EXPECT_EQ(myth_rwlockattr_getkind(&attributes, &kind), 0);
    EXPECT_EQ(kind, MYTH_RWLOCK_PREFER_WRITER_NONRECURSIVE);
    myth_rwlock_t l;
    EXPECT_EQ(myth_rwlock_init(&l, &attributes), 0);
    EXPECT_EQ(l.attr.kind, MYTH_RWLOCK_PREFER_WRITER_NONRECURSIVE);
    for (int const unknown : {-1, static_cast<int>(MYTH_RWLOCK_PREFER_INVALID)}) {
        EXPECT_EQ(myth_rwlockattr_setkind(&attributes, unknown), EINVAL);
        myth_rwlockattr_t const wrong{unknown};
        EXPECT_EQ(myth_rwlock_init(&l, &wrong), EINVAL);
    }
    timespec const late = in_ms(1000);
    EXPECT_EQ(myth_rwlockattr_init(nullptr), EINVAL);
    EXPECT_EQ(myth_rwlockattr_destroy(nullptr), EINVAL);
    EXPECT_EQ(myth_rwlockattr_destroy(&attributes), 0);
    EXPECT_EQ(myth_rwlockattr_getkind(nullptr, &kind), EINVAL);
    EXPECT_EQ(myth_rwlockattr_getkind(&attributes, nullptr), EINVAL);
    EXPECT_EQ(myth_rwlockattr_setkind(nullptr, 0), EINVAL);
    EXPECT_EQ(myth_rwlock_init(nullptr, nullptr), EINVAL);
    EXPECT_EQ(myth_rwlock_destroy(nullptr), EINVAL);
    EXPECT_EQ(myth_rwlock_rdlock(nullptr), EINVAL);
    EXPECT_EQ(myth_rwlock_tryrdlock(nullptr), EINVAL);
    EXPECT_EQ(myth_rwlock_timedrdlock(nullptr, &late), EINVAL);
    EXPECT_EQ(myth_rwlock_timedrdlock(&l, nullptr), EINVAL);
    EXPECT_EQ(myth_rwlock_wrlock(nullptr), EINVAL);
    EXPECT_EQ(myth_rwlock_trywrlock(nullptr), EINVAL);
    EXPECT_EQ(myth_rwlock_timedwrlock(nullptr, &late), EINVAL);
    EXPECT_EQ(myth_rwlock_timedwrlock(&l, &k_no_time), EINVAL);
    EXPECT_EQ(myth_rwlock_unlock(nullptr), EINVAL);
}

// --- conditions ----------------------------------------------------------------------------------

TEST_F(condition, wakes_one_or_all) {
    myth_mutex_t m = MYTH_MUTEX_INITIALIZER;
    myth_cond_t cond;
    ASSERT_EQ(myth_cond_init(&cond, nullptr), 0);
    int waiting = 0, tokens = 0;
    auto const take = [&](int) {
        myth_mutex_lock(&m);
        ++waiting;
        while (tokens == 0) EXPECT_EQ(myth_cond_wait(&cond, &m), 0);
        --tokens;
        myth_mutex_unlock(&m);
    };
    auto const give = [&](int count, int (*wake)(myth_cond_t*)) {
        for (;;) {
            myth_mutex_lock(&m);
            if (waiting == 4) break;
            myth_mutex_unlock(&m);
            myth_yield();
        }
        EXPECT_EQ(myth_cond_destroy(&cond), EBUSY);
        tokens = count;
        for (int k = 0; k < (wake == &myth_cond_signal ? count : 1); ++k) EXPECT_EQ(wake(&cond), 0);
        myth_mutex_unlock(&m);
    };
    for (auto* const wake : {&myth_cond_signal, &myth_cond_broadcast}) {
        waiting = 0;
        thread giver([&]() -> void* {
            give(4, wake);
            return nullptr;
        });
        in_threads(4, take);
        giver.join();
        EXPECT_EQ(tokens, 0);
    }
    EXPECT_EQ(myth_cond_destroy(&cond), 0);
}

TEST_F(condition, waits_no_longer_than_told) {
    myth_mutex_t m = MYTH_MUTEX_INITIALIZER;
    myth_cond_t cond = MYTH_COND_INITIALIZER;
    timespec const soon = in_ms(10);
    ASSERT_EQ(myth_mutex_lock(&m), 0);
    EXPECT_EQ(myth_cond_timedwait(&cond, &m, &soon), ETIMEDOUT);
    EXPECT_EQ(myth_cond_timedwait(&cond, &m, &k_past), ETIMEDOUT);
    EXPECT_EQ(myth_mutex_trylock(&m), EBUSY); // held again
    EXPECT_EQ(myth_cond_timedwait(&cond, &m, &k_no_time), EINVAL);
    EXPECT_EQ(myth_cond_timedwait(&cond, &m, nullptr), EINVAL);
    EXPECT_EQ(myth_cond_timedwait(nullptr, &m, &soon), EINVAL);
    EXPECT_EQ(myth_cond_timedwait(&cond, nullptr, &soon), EINVAL);
    EXPECT_EQ(myth_cond_wait(nullptr, &m), EINVAL);
    EXPECT_EQ(myth_cond_wait(&cond, nullptr), EINVAL);
    EXPECT_EQ(myth_mutex_unlock(&m), 0);
    myth_condattr_t attributes;
    EXPECT_EQ(myth_condattr_init(&attributes), 0);
    EXPECT_EQ(myth_cond_init(&cond, &attributes), 0);
    EXPECT_EQ(myth_condattr_destroy(&attributes), 0);
    EXPECT_EQ(myth_condattr_init(nullptr), EINVAL);
    EXPECT_EQ(myth_condattr_destroy(nullptr), EINVAL);
    EXPECT_EQ(myth_cond_init(nullptr, nullptr), EINVAL);
    EXPECT_EQ(myth_cond_destroy(nullptr), EINVAL);
    EXPECT_EQ(myth_cond_signal(nullptr), EINVAL);
    EXPECT_EQ(myth_cond_broadcast(nullptr), EINVAL);
}

// --- barriers, join counters ---------------------------------------------------------------------

TEST_F(barrier, lets_nobody_go_before_all_have_come) {
    constexpr int k_threads = 7, k_rounds = 100;
    myth_barrier_t b;
    ASSERT_EQ(myth_barrier_init(&b, nullptr, k_threads), 0);
    std::atomic<int> came{0}, serial{0};
    in_threads(k_threads, [&](int) {
        for (int round = 1; round <= k_rounds; ++round) {
            ++came;
            int const result = myth_barrier_wait(&b);
            EXPECT_GE(came, round * k_threads);
            EXPECT_TRUE(result == MYTH_BARRIER_SERIAL_THREAD || result == 0);
            serial += result == MYTH_BARRIER_SERIAL_THREAD;
        }
    });
    EXPECT_EQ(serial, k_rounds);
    EXPECT_EQ(myth_barrier_destroy(&b), 0);
    EXPECT_EQ(myth_barrier_destroy(&b), EINVAL);
    EXPECT_EQ(myth_barrier_wait(&b), EINVAL);
    ASSERT_EQ(myth_barrier_init(&b, nullptr, 1), 0);
    EXPECT_EQ(myth_barrier_wait(&b), MYTH_BARRIER_SERIAL_THREAD);
}

// A new thread goes first, and main goes on when it waits.
struct barrier_of_one_worker : running_library {
    barrier_of_one_worker() : running_library(1) {}
};

TEST_F(barrier_of_one_worker, is_busy_while_a_thread_waits) {
    myth_barrier_t b;
    ASSERT_EQ(myth_barrier_init(&b, nullptr, 2), 0);
    expect_to_wait([&b] { myth_barrier_wait(&b); },
                   [&b] {
                       EXPECT_EQ(myth_barrier_destroy(&b), EBUSY);
                       myth_barrier_wait(&b);
                   });
    EXPECT_EQ(myth_barrier_destroy(&b), 0);
}

TEST_F(barrier, refuses_what_makes_no_sense) {
    myth_barrier_t b{};
    myth_barrierattr_t attributes;
    EXPECT_EQ(myth_barrierattr_init(&attributes), 0);
    EXPECT_EQ(myth_barrier_wait(&b), EINVAL); // not initialised
    EXPECT_EQ(myth_barrier_init(&b, &attributes, 0), EINVAL);
    EXPECT_EQ(myth_barrier_init(nullptr, nullptr, 1), EINVAL);
    EXPECT_EQ(myth_barrier_init(&b, &attributes, 3), 0);
    EXPECT_EQ(myth_barrierattr_destroy(&attributes), 0);
    EXPECT_EQ(myth_barrierattr_init(nullptr), EINVAL);
    EXPECT_EQ(myth_barrierattr_destroy(nullptr), EINVAL);
    EXPECT_EQ(myth_barrier_wait(nullptr), EINVAL);
    EXPECT_EQ(myth_barrier_destroy(nullptr), EINVAL);
}

TEST_F(join_counter, opens_at_zero) {
    myth_join_counter_t jc;
    ASSERT_EQ(myth_join_counter_init(&jc, nullptr, 3), 0);
    expect_to_wait([&jc] { EXPECT_EQ(myth_join_counter_wait(&jc), 0); },
                   [&jc] {
                       for (int k = 0; k < 3; ++k) EXPECT_EQ(myth_join_counter_dec(&jc), 0);
                   });
    EXPECT_EQ(myth_join_counter_wait(&jc), 0);
    EXPECT_EQ(myth_join_counter_dec(&jc), EINVAL);
    myth_join_counterattr_t attributes;
    EXPECT_EQ(myth_join_counterattr_init(&attributes), 0);
    EXPECT_EQ(myth_join_counter_init(&jc, &attributes, 0), 0);
    EXPECT_EQ(myth_join_counter_wait(&jc), 0);
    EXPECT_EQ(myth_join_counter_init(&jc, nullptr, -1), EINVAL);
    EXPECT_EQ(myth_join_counter_init(nullptr, nullptr, 1), EINVAL);
    EXPECT_EQ(myth_join_counter_wait(nullptr), EINVAL);
    EXPECT_EQ(myth_join_counter_dec(nullptr), EINVAL);
    EXPECT_EQ(myth_join_counterattr_destroy(&attributes), 0);
    EXPECT_EQ(myth_join_counterattr_init(nullptr), EINVAL);
    EXPECT_EQ(myth_join_counterattr_destroy(nullptr), EINVAL);
}

// --- full/empty locks ----------------------------------------------------------------------------

TEST_F(felock, hands_values_over) {
    myth_felock_t fe;
    ASSERT_EQ(myth_felock_init(&fe, nullptr), 0);
    EXPECT_EQ(myth_felock_status(&fe), 0);
    int cell = 0;
    long sum = 0;
    thread consumer([&]() -> void* {
        for (int k = 0; k < 500; ++k) {
            EXPECT_EQ(myth_felock_wait_and_lock(&fe, 1), 0);
            sum += cell;
            EXPECT_EQ(myth_felock_mark_and_signal(&fe, 0), 0);
        }
        return nullptr;
    });
    for (int k = 1; k <= 500; ++k) {
        EXPECT_EQ(myth_felock_wait_and_lock(&fe, 0), 0);
        cell = k;
        EXPECT_EQ(myth_felock_mark_and_signal(&fe, 1), 0);
    }
    consumer.join();
    EXPECT_EQ(sum, 500 * 501 / 2);
    EXPECT_EQ(myth_felock_lock(&fe), 0);
    EXPECT_EQ(myth_felock_status(&fe), 0);
    EXPECT_EQ(myth_felock_destroy(&fe), EBUSY);
    EXPECT_EQ(myth_felock_unlock(&fe), 0);
    EXPECT_EQ(myth_felock_unlock(&fe), EPERM);
    EXPECT_EQ(myth_felock_destroy(&fe), 0);
}

TEST_F(felock, refuses_what_makes_no_sense) {
    myth_felock_t fe;
    myth_felockattr_t attributes;
    EXPECT_EQ(myth_felockattr_init(&attributes), 0);
    EXPECT_EQ(myth_felock_init(&fe, &attributes), 0);
    EXPECT_EQ(myth_felockattr_destroy(&attributes), 0);
    for (int const unknown : {-1, 2}) {
        EXPECT_EQ(myth_felock_wait_and_lock(&fe, unknown), EINVAL);
        EXPECT_EQ(myth_felock_mark_and_signal(&fe, unknown), EINVAL);
    }
    EXPECT_EQ(myth_felock_init(nullptr, nullptr), EINVAL);
    EXPECT_EQ(myth_felock_destroy(nullptr), EINVAL);
    EXPECT_EQ(myth_felock_lock(nullptr), EINVAL);
    EXPECT_EQ(myth_felock_unlock(nullptr), EINVAL);
    EXPECT_EQ(myth_felock_wait_and_lock(nullptr, 0), EINVAL);
    EXPECT_EQ(myth_felock_mark_and_signal(nullptr, 0), EINVAL);
    EXPECT_EQ(myth_felock_status(nullptr), EINVAL);
    EXPECT_EQ(myth_felockattr_init(nullptr), EINVAL);
    EXPECT_EQ(myth_felockattr_destroy(nullptr), EINVAL);
}

// --- meetings ------------------------------------------------------------------------------------

using uncond_of_one_worker = barrier_of_one_worker;

TEST_F(uncond_of_one_worker, wakes_the_thread_that_waits) {
    myth_uncond_t u;
    ASSERT_EQ(myth_uncond_init(&u), 0);
    expect_to_wait([&u] { EXPECT_EQ(myth_uncond_wait(&u), 0); },
                   [&u] {
                       EXPECT_EQ(myth_uncond_destroy(&u), EBUSY);
                       EXPECT_EQ(myth_uncond_wait(&u), EBUSY);
                       EXPECT_EQ(myth_uncond_signal(&u), 0);
                   });
    EXPECT_EQ(myth_uncond_destroy(&u), 0);
}

TEST_F(uncond, makes_the_one_that_signals_wait_for_a_partner) {
    myth_uncond_t u{};
    expect_to_wait([&u] { EXPECT_EQ(myth_uncond_signal(&u), 0); },
                   [&u] { EXPECT_EQ(myth_uncond_wait(&u), 0); });
    EXPECT_EQ(myth_uncond_destroy(&u), 0);
}

TEST_F(uncond, pairs_each_signal_with_a_wait) {
    constexpr int k_signallers = 5, k_each = 200;
    myth_uncond_t u{};
    thread waits([&u]() -> void* {
        for (int k = 0; k < k_signallers * k_each; ++k) EXPECT_EQ(myth_uncond_wait(&u), 0);
        return nullptr;
    });
    in_threads(k_signallers, [&u](int) {
        for (int k = 0; k < k_each; ++k) EXPECT_EQ(myth_uncond_signal(&u), 0);
    });
    waits.join();
    EXPECT_EQ(u.waiting, 0U);
    EXPECT_EQ(myth_uncond_init(nullptr), EINVAL);
    EXPECT_EQ(myth_uncond_destroy(nullptr), EINVAL);
    EXPECT_EQ(myth_uncond_wait(nullptr), EINVAL);
    EXPECT_EQ(myth_uncond_signal(nullptr), EINVAL);
}

// Threads that come to wait at once: one of them has the signal, or is told that another one waits.
TEST_F(uncond, tells_all_but_one_that_come_to_wait) {
    constexpr int k_threads = 4, k_each = 500;
    myth_uncond_t u{};
    std::atomic<int> met{0};
    in_threads(2 * k_threads, [&](int number) {
        for (int k = 0; k < k_each; ++k) {
            int result = number % 2 == 0 ? myth_uncond_signal(&u) : EBUSY;
            while (result == EBUSY) {
                result = myth_uncond_wait(&u);
                if (result == EBUSY) myth_yield();
            }
            EXPECT_EQ(result, 0);
            ++met;
        }
    });
    EXPECT_EQ(met.load(), 2 * k_threads * k_each);
    EXPECT_EQ(u.waiting, 0U);
}

// --- once ----------------------------------------------------------------------------------------

myth_once_t s_once = MYTH_ONCE_INIT;
std::atomic<int> s_calls{0};
bool s_leaves = false;

TEST_F(once, calls_once) {
    s_once = {};
    s_calls = 0;
    auto* const function = +[] {
        myth_yield();
        ++s_calls;
    };
    in_threads(10, [&](int) {
        EXPECT_EQ(myth_once(&s_once, function), 0);
        EXPECT_EQ(s_calls, 1);
    });
    EXPECT_EQ(s_once.state, myth_once_state_completed);
    EXPECT_EQ(myth_once(nullptr, function), EINVAL);
    EXPECT_EQ(myth_once(&s_once, nullptr), EINVAL);
}

TEST_F(once, is_as_if_not_called_where_the_function_does_not_return) {
    static myth_once_t control;
    control = {};
    s_calls = 0;
    auto* const function = +[] {
        ++s_calls;
        if (s_leaves) myth_exit(as_pointer(5));
    };
    s_leaves = true;
    thread leaves([&]() -> void* {
        EXPECT_EQ(myth_once(&control, function), 0);
        return nullptr;
    });
    EXPECT_EQ(as_number(leaves.join()), 5);
    s_leaves = false;
    EXPECT_EQ(myth_once(&control, function), 0);
    EXPECT_EQ(s_calls, 2);
}

// --- spin locks, sleep queues and stacks ---------------------------------------------------------

TEST(spinlock, excludes_os_threads) {
    myth_spinlock_t lock = MYTH_SPINLOCK_INITIALIZER;
    ASSERT_EQ(myth_spin_init(&lock), 0);
    long count = 0;
    std::vector<std::thread> all;
    for (int t = 0; t < 4; ++t)
        all.emplace_back([&] {
            for (int k = 0; k < 2000; ++k) {
                myth_spin_lock(&lock);
                ++count;
                myth_spin_unlock(&lock);
            }
        });
    for (auto& t : all) t.join();
    EXPECT_EQ(count, 8000);
    EXPECT_EQ(myth_spin_trylock(&lock), 1);
    EXPECT_EQ(myth_spin_trylock(&lock), 0);
    EXPECT_EQ(myth_spin_unlock(&lock), 0);
    EXPECT_EQ(myth_spin_destroy(&lock), 0);
    EXPECT_EQ(myth_spin_init(nullptr), EINVAL);
    EXPECT_EQ(myth_spin_destroy(nullptr), EINVAL);
    EXPECT_EQ(myth_spin_lock(nullptr), EINVAL);
    EXPECT_EQ(myth_spin_trylock(nullptr), 0);
    EXPECT_EQ(myth_spin_unlock(nullptr), EINVAL);
}

struct one_worker_spins : running_library {
    one_worker_spins() : running_library(1) {}
};
TEST_F(one_worker_spins, and_the_holder_runs) {
    myth_spinlock_t lock = MYTH_SPINLOCK_INITIALIZER;
    thread holder([&lock]() -> void* {
        myth_spin_lock(&lock);
        let_others_run();
        myth_spin_unlock(&lock);
        return nullptr;
    });
    myth_spin_lock(&lock);
    myth_spin_unlock(&lock);
}

struct item {
    myth_sleep_queue_item link{};
    int number = 0;
};

TEST(sleep_queue, is_first_in_first_out) {
    myth_sleep_queue_t q = MYTH_SLEEP_QUEUE_INITIALIZER;
    myth_sleep_queue_init(&q);
    EXPECT_EQ(myth_sleep_queue_deq(&q), nullptr);
    item items[3];
    for (int round = 0; round < 2; ++round) {
        for (item& i : items) EXPECT_EQ(myth_sleep_queue_enq(&q, &i.link), 0);
        for (item& i : items) EXPECT_EQ(myth_sleep_queue_deq(&q), &i.link);
        EXPECT_EQ(myth_sleep_queue_deq(&q), nullptr);
    }
    EXPECT_EQ(q.head, nullptr);
    EXPECT_EQ(q.tail, nullptr);
    myth_sleep_queue_destroy(&q);
}

TEST(sleep_queue, loses_nothing_between_os_threads) {
    myth_sleep_queue_t q = MYTH_SLEEP_QUEUE_INITIALIZER;
    std::vector<item> items(4);
    for (item& i : items) myth_sleep_queue_enq(&q, &i.link);
    std::vector<std::thread> all;
    for (int t = 0; t < 4; ++t)
        all.emplace_back([&q] {
            for (int k = 0; k < 1000; ++k) {
                myth_sleep_queue_item_t taken = nullptr;
                while ((taken = myth_sleep_queue_deq(&q)) == nullptr) std::this_thread::yield();
                ++reinterpret_cast<item*>(taken)->number;
                myth_sleep_queue_enq(&q, taken);
            }
        });
    for (auto& t : all) t.join();
    int sum = 0;
    for (item const& i : items) sum += i.number;
    EXPECT_EQ(sum, 4000);
    for (int k = 0; k < 4; ++k) EXPECT_NE(myth_sleep_queue_deq(&q), nullptr);
}

TEST(sleep_stack, is_last_in_first_out) {
    myth_sleep_stack_t s;
    myth_sleep_stack_init(&s);
    EXPECT_EQ(myth_sleep_stack_pop(&s), nullptr);
    item items[3];
    for (item& i : items) EXPECT_EQ(myth_sleep_stack_push(&s, &i.link), 0);
    for (int k = 2; k >= 0; --k) EXPECT_EQ(myth_sleep_stack_pop(&s), &items[k].link);
    EXPECT_EQ(myth_sleep_stack_pop(&s), nullptr);
    myth_sleep_stack_destroy(&s);
}

} // namespace
