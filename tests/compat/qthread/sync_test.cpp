// SPDX-License-Identifier: Apache-2.0
// Full/empty words, syncvars, sincs, locks, atomic operations, queues and barriers: what each does
// in each state, and who waits.
#include <qthread/barrier.h>
#include <qthread/feb_barrier.h>
#include <qthread/qthread.h>
#include <qthread/sinc.h>

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

namespace {

class sync : public testing::Test {
protected:
    sync() { EXPECT_EQ(qthread_init(2), QTHREAD_SUCCESS); }
    ~sync() override { qthread_finalize(); }
};
using feb = sync;
using syncvar_word = sync;
using sinc = sync;
using locks = sync;
using queue = sync;
using barrier = sync;

using job = std::function<void()>;
aligned_t run_job(void* j) {
    (*static_cast<job*>(j))();
    return 0;
}
// A qthread that does it; over at the end of the scope.
struct running {
    explicit running(job what) : body(std::move(what)) {
        EXPECT_EQ(qthread_fork(&run_job, &body, &done), QTHREAD_SUCCESS);
    }
    ~running() { wait(); }
    running(running const&) = delete;
    running& operator=(running const&) = delete;
    void wait() { qthread_readFF(nullptr, &done); }
    [[nodiscard]] bool is_over() { return qthread_feb_status(&done) == 1; }

    job body;
    aligned_t done = 0;
};
void let_others_run() {
    for (int k = 0; k < 50; ++k) qthread_yield();
}
// All qthreads but the caller wait in queues or for syncvars.
void wait_until_all_wait() {
    while (qthread_readstate(NODE_BUSYNESS) != 1) qthread_yield();
}
// It waits, and goes on when `release` is called.
void expect_to_wait(job waits, job release) {
    running r(std::move(waits));
    let_others_run();
    EXPECT_FALSE(r.is_over());
    release();
}

// --- full/empty words ----------------------------------------------------------------------------

TEST_F(feb, what_does_not_wait) {
    aligned_t word = 1, seen = 0;
    aligned_t const two = 2;
    EXPECT_EQ(qthread_feb_status(&word), 1);
    EXPECT_EQ(qthread_readFF(&seen, &word), QTHREAD_SUCCESS);
    EXPECT_EQ(seen, 1U);
    EXPECT_EQ(qthread_writeFF(&word, &two), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_writeFF_const(&word, 3), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_writeFF_nb(&word, &two), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_writeFF_const_nb(&word, 3), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_readFE(&seen, &word), QTHREAD_SUCCESS);
    EXPECT_EQ(seen, 3U);
    EXPECT_EQ(qthread_feb_status(&word), 0);
    EXPECT_EQ(qthread_readXX(&seen, &word), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_writeEF(&word, &two), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_feb_status(&word), 1);
    EXPECT_EQ(qthread_purge(&word), QTHREAD_SUCCESS);
    EXPECT_EQ(word, 0U);
    EXPECT_EQ(qthread_purge_to(&word, &two), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_purge_to_const(&word, 9), QTHREAD_SUCCESS);
    EXPECT_EQ(word, 9U);
    EXPECT_EQ(qthread_feb_status(&word), 0);
    EXPECT_EQ(qthread_writeF(&word, &two), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_writeF_const(&word, 4), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_readFE(nullptr, &word), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_writeEF_const(&word, 5), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_empty(&word), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_fill(&word), QTHREAD_SUCCESS);
    EXPECT_EQ(word, 5U);
    EXPECT_EQ(qthread_empty(nullptr), QTHREAD_BADARGS);
}

TEST_F(feb, forms_that_never_wait_say_so) {
    aligned_t word = 1, seen = 7;
    aligned_t const two = 2;
    EXPECT_EQ(qthread_writeEF_nb(&word, &two), QTHREAD_OPFAIL);
    EXPECT_EQ(qthread_writeEF_const_nb(&word, 2), QTHREAD_OPFAIL);
    EXPECT_EQ(qthread_readFF_nb(&seen, &word), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_readFE_nb(&seen, &word), QTHREAD_SUCCESS);
    EXPECT_EQ(seen, 1U);
    EXPECT_EQ(qthread_readFE_nb(&seen, &word), QTHREAD_OPFAIL);
    EXPECT_EQ(qthread_readFF_nb(&seen, &word), QTHREAD_OPFAIL);
    EXPECT_EQ(qthread_writeFF_nb(&word, &two), QTHREAD_OPFAIL);
    EXPECT_EQ(qthread_writeFF_const_nb(&word, 2), QTHREAD_OPFAIL);
    EXPECT_EQ(word, 1U);
    EXPECT_EQ(qthread_writeEF_nb(&word, &two), QTHREAD_SUCCESS);
    EXPECT_EQ(word, 2U);
}

TEST_F(feb, what_waits_until_the_word_is_full) {
    aligned_t word = 0, seen = 0;
    qthread_empty(&word);
    expect_to_wait([&] { qthread_readFF(&seen, &word); }, [&] { qthread_writeEF_const(&word, 6); });
    EXPECT_EQ(seen, 6U);
    qthread_empty(&word);
    expect_to_wait([&] { qthread_readFE(&seen, &word); }, [&] { qthread_writeF_const(&word, 7); });
    EXPECT_EQ(seen, 7U);
    expect_to_wait([&] { qthread_writeFF_const(&word, 8); }, [&] { qthread_fill(&word); });
    EXPECT_EQ(word, 8U);
}

TEST_F(feb, write_waits_until_the_word_is_empty) {
    aligned_t word = 0;
    for (auto const& release :
         {job([&] { qthread_empty(&word); }), job([&] { qthread_purge(&word); }),
          job([&] { qthread_readFE(nullptr, &word); })}) {
        expect_to_wait([&] { qthread_writeEF_const(&word, 1); }, release);
        EXPECT_EQ(word, 1U);
    }
}

TEST_F(feb, from_an_os_thread) {
    aligned_t word = 0, seen = 0;
    qthread_empty(&word);
    std::thread outside([&] { qthread_readFE(&seen, &word); });
    qthread_writeEF_const(&word, 11);
    outside.join();
    EXPECT_EQ(seen, 11U);
    EXPECT_EQ(qthread_feb_status(&word), 0);
    qthread_fill(&word);
}

// --- syncvars ------------------------------------------------------------------------------------

constexpr uint64_t k_largest = UINT64_C(0xfffffffffffffff);

TEST_F(syncvar_word, initialisers_and_layout) {
    static_assert(sizeof(syncvar_t) == 8);
    syncvar_t full = SYNCVAR_STATIC_INITIALIZE_TO(5), empty = SYNCVAR_STATIC_EMPTY_INITIALIZE_TO(6),
              zero = SYNCVAR_STATIC_INITIALIZER;
    syncvar_t const none = SYNCVAR_STATIC_EMPTY_INITIALIZER;
    EXPECT_EQ(full.u.s.data, 5U);
    EXPECT_EQ(empty.u.s.data, 6U);
    EXPECT_EQ(full.u.s.state, 0U);
    EXPECT_EQ(empty.u.s.state, 2U);
    EXPECT_EQ(none.u.s.state, 2U);
    EXPECT_EQ(qthread_syncvar_status(&full), 1);
    EXPECT_EQ(qthread_syncvar_status(&empty), 0);
    zero = SYNCVAR_INITIALIZE_TO(k_largest);
    EXPECT_EQ(zero.u.s.data, k_largest);
    zero = SYNCVAR_INITIALIZER;
    zero = SYNCVAR_EMPTY_INITIALIZER;
    zero = SYNCVAR_EMPTY_INITIALIZE_TO(3);
    EXPECT_EQ(qthread_syncvar_status(&zero), 0);
}

TEST_F(syncvar_word, numbers_to_60_bits_and_back) {
    for (int64_t const n : {INT64_C(0), INT64_C(-1), INT64_C(12345), -INT64_C(0x800000000000000),
                            INT64_C(0x7ffffffffffffff)})
        EXPECT_EQ(INT60TOINT64(INT64TOINT60(n)), n);
    double const in = -2.5;
    double out = 0;
    uint64_t packed = 0;
    DBL64TODBL60(in, packed);
    EXPECT_EQ(packed >> 60U, 0U);
    DBL60TODBL64(packed, out);
    EXPECT_EQ(out, in);
}

TEST_F(syncvar_word, what_does_not_wait) {
    syncvar_t v = SYNCVAR_STATIC_INITIALIZE_TO(1);
    uint64_t seen = 0;
    uint64_t const two = 2;
    EXPECT_EQ(qthread_syncvar_readFF(&seen, &v), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_syncvar_readFF_nb(&seen, &v), QTHREAD_SUCCESS);
    EXPECT_EQ(seen, 1U);
    EXPECT_EQ(qthread_syncvar_writeEF_nb(&v, &two), QTHREAD_OPFAIL);
    EXPECT_EQ(qthread_syncvar_writeEF_const_nb(&v, 2), QTHREAD_OPFAIL);
    EXPECT_EQ(qthread_syncvar_readFE(nullptr, &v), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_syncvar_readFE_nb(&seen, &v), QTHREAD_OPFAIL);
    EXPECT_EQ(qthread_syncvar_readFF_nb(&seen, &v), QTHREAD_OPFAIL);
    EXPECT_EQ(qthread_syncvar_writeEF(&v, &two), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_syncvar_readFE_nb(&seen, &v), QTHREAD_SUCCESS);
    EXPECT_EQ(seen, 2U);
    EXPECT_EQ(qthread_syncvar_writeEF_const(&v, 3), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_syncvar_writeF(&v, &two), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_syncvar_writeF_const(&v, k_largest), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_syncvar_incrF(&v, 1), 0U); // 60 bits
    EXPECT_EQ(qthread_syncvar_incrF(&v, 5), 5U);
    EXPECT_EQ(qthread_syncvar_empty(&v), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_syncvar_status(&v), 0);
    EXPECT_EQ(qthread_syncvar_fill(&v), QTHREAD_SUCCESS);
    EXPECT_EQ(v.u.s.data, 5U);
    EXPECT_EQ(qthread_syncvar_writeF_const(&v, k_largest + 1), QTHREAD_OVERFLOW);
    EXPECT_EQ(qthread_syncvar_fill(nullptr), QTHREAD_BADARGS);
}

TEST_F(syncvar_word, waits_of_each_kind) {
    syncvar_t v = SYNCVAR_STATIC_EMPTY_INITIALIZER;
    uint64_t seen = 0;
    expect_to_wait([&] { qthread_syncvar_readFF(&seen, &v); },
                   [&] { qthread_syncvar_writeEF_const(&v, 4); });
    EXPECT_EQ(seen, 4U);
    expect_to_wait([&] { qthread_syncvar_writeEF_const(&v, 5); },
                   [&] { qthread_syncvar_empty(&v); });
    expect_to_wait([&] { qthread_syncvar_writeEF_const(&v, 6); },
                   [&] { qthread_syncvar_readFE(&seen, &v); });
    EXPECT_EQ(seen, 5U);
    qthread_syncvar_empty(&v);
    EXPECT_EQ(qthread_syncvar_incrF(&v, 10), 16U);
    EXPECT_EQ(qthread_syncvar_status(&v), 0);
    expect_to_wait([&] { qthread_syncvar_readFE(&seen, &v); },
                   [&] {
                       wait_until_all_wait();
                       qthread_syncvar_incrF(&v, 1);
                   });
    EXPECT_EQ(seen, 17U);
    expect_to_wait([&] { qthread_syncvar_readFE(&seen, &v); },
                   [&] { qthread_syncvar_writeF_const(&v, 8); });
    EXPECT_EQ(seen, 8U);
    EXPECT_EQ(v.u.w & 0xfU, 4U); // nobody waits, not locked
}

TEST_F(syncvar_word, readers_go_on_together_and_takers_one_by_one) {
    syncvar_t v = SYNCVAR_STATIC_EMPTY_INITIALIZER;
    std::atomic<int> read{0}, taken{0};
    {
        std::vector<std::unique_ptr<running>> threads;
        for (int k = 0; k < 3; ++k) {
            threads.push_back(std::make_unique<running>([&] {
                qthread_syncvar_readFE(nullptr, &v);
                ++taken;
            }));
            threads.push_back(std::make_unique<running>([&] {
                qthread_syncvar_readFF(nullptr, &v);
                ++read;
            }));
        }
        wait_until_all_wait();
        qthread_syncvar_writeEF_const(&v, 1);
        while (read != 3 || taken == 0) qthread_yield();
        let_others_run();
        EXPECT_EQ(taken, 1);
        qthread_syncvar_writeEF_const(&v, 1);
        qthread_syncvar_writeEF_const(&v, 1);
    }
    EXPECT_EQ(taken, 3);
}

TEST_F(syncvar_word, nothing_is_lost_between_producers_and_consumers) {
    syncvar_t v = SYNCVAR_STATIC_EMPTY_INITIALIZER;
    constexpr uint64_t k_each = 500;
    std::atomic<uint64_t> sum{0};
    {
        std::vector<std::unique_ptr<running>> threads;
        for (int k = 0; k < 4; ++k) {
            threads.push_back(std::make_unique<running>([&] {
                for (uint64_t n = 1; n <= k_each; ++n) qthread_syncvar_writeEF_const(&v, n);
            }));
            threads.push_back(std::make_unique<running>([&] {
                for (uint64_t n = 1, value = 0; n <= k_each; ++n) {
                    qthread_syncvar_readFE(&value, &v);
                    sum += value;
                }
            }));
        }
        std::thread([&] {
            qthread_syncvar_writeEF_const(&v, 0);
            qthread_syncvar_readFE(nullptr, &v);
        }).join();
    }
    EXPECT_LE(sum, 4 * k_each * (k_each + 1) / 2);
    // the OS thread took one of them, and left its zero
    EXPECT_GE(sum, 4 * k_each * (k_each + 1) / 2 - k_each);
}

TEST_F(syncvar_word, as_a_class) {
    syncvar v, five(uint64_t{5}), copy(five);
    EXPECT_EQ(v.status(), 1);
    EXPECT_EQ(v.read(), 0U);
    EXPECT_EQ(copy.readFE(), 5U);
    EXPECT_EQ(copy.status(), 0);
    EXPECT_EQ(copy.writeEF(6), QTHREAD_SUCCESS);
    EXPECT_EQ(copy.writeF(7), QTHREAD_SUCCESS);
    EXPECT_EQ(copy.incr(), 8U);
    EXPECT_EQ(copy.incr(-8), 0U);
    EXPECT_EQ(copy.empty(), QTHREAD_SUCCESS);
    EXPECT_EQ(copy.fill(), QTHREAD_SUCCESS);
    copy.write(9);
    EXPECT_EQ(copy.readFF(), 9U);
    uint64_t value = 0;
    EXPECT_EQ(copy.readFF(&value), QTHREAD_SUCCESS);
    EXPECT_EQ(copy.readFE(&value), QTHREAD_SUCCESS);
    EXPECT_EQ(value, 9U);
    v = five;
    EXPECT_EQ(syncvar(syncvar_t SYNCVAR_STATIC_INITIALIZE_TO(4)).read() + v.read(), 9U);
}

// --- sincs ---------------------------------------------------------------------------------------

void add(void* target, void const* source) {
    *static_cast<aligned_t*>(target) += *static_cast<aligned_t const*>(source);
}

TEST_F(sinc, counts_reduces_and_is_used_again) {
    aligned_t const zero = 0;
    qt_sinc_t s;
    qt_sinc_init(&s, sizeof zero, &zero, &add, 10);
    for (aligned_t round = 1; round <= 3; ++round) {
        aligned_t sum = 0;
        {
            std::vector<std::unique_ptr<running>> threads;
            for (int k = 0; k < 10; ++k)
                threads.push_back(std::make_unique<running>([&] { qt_sinc_submit(&s, &round); }));
            std::thread([&] {
                qt_sinc_expect(&s, 1);
                qt_sinc_submit(&s, &round);
            }).join();
            qt_sinc_wait(&s, &sum);
        }
        EXPECT_EQ(sum % round, 0U);
        EXPECT_GE(sum, 10 * round); // the OS thread's comes in time or not
        qt_sinc_reset(&s, 10);
    }
    EXPECT_NE(qt_sinc_tmpdata(&s), nullptr);
    qt_sinc_fini(&s);
}

TEST_F(sinc, waits_for_what_is_expected_later) {
    qt_sinc_t* const s = qt_sinc_create(0, nullptr, nullptr, 1);
    EXPECT_EQ(qt_sinc_tmpdata(s), nullptr);
    qt_sinc_expect(s, 2);
    expect_to_wait([&] { qt_sinc_wait(s, nullptr); },
                   [&] {
                       for (int k = 0; k < 3; ++k) qt_sinc_submit(s, nullptr);
                   });
    qt_sinc_destroy(s);
    qt_sinc_t none;
    qt_sinc_init(&none, 0, nullptr, nullptr, 0);
    qt_sinc_wait(&none, nullptr);
}

// --- locks ---------------------------------------------------------------------------------------

template <class Lock, class Unlock> void expect_exclusion(Lock lock, Unlock unlock) {
    int count = 0;
    {
        std::vector<std::unique_ptr<running>> threads;
        for (int k = 0; k < 8; ++k)
            threads.push_back(std::make_unique<running>([&] {
                for (int n = 0; n < 100; ++n) {
                    EXPECT_EQ(lock(), QTHREAD_SUCCESS);
                    int const before = count;
                    if (n % 10 == 0) qthread_yield();
                    count = before + 1;
                    EXPECT_EQ(unlock(), QTHREAD_SUCCESS);
                }
            }));
    }
    EXPECT_EQ(count, 800);
}

TEST_F(locks, of_an_address) {
    aligned_t word = 0;
    expect_exclusion([&] { return qthread_lock(&word); }, [&] { return qthread_unlock(&word); });
    EXPECT_EQ(qthread_trylock(&word), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_trylock(&word), QTHREAD_OPFAIL);
    EXPECT_EQ(qthread_unlock(&word), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_lock(nullptr), QTHREAD_BADARGS);
}

TEST_F(locks, made_for_an_address) {
    aligned_t word = 0;
    EXPECT_EQ(qthread_lock_init(&word, false), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_lock_init(&word, false), QTHREAD_OPFAIL);
    expect_exclusion([&] { return qthread_lock(&word); }, [&] { return qthread_unlock(&word); });
    EXPECT_EQ(qthread_trylock(&word), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_trylock(&word), QTHREAD_OPFAIL);
    EXPECT_EQ(qthread_unlock(&word), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_lock_destroy(&word), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_lock_destroy(&word), QTHREAD_SUCCESS);
}

TEST_F(locks, recursive_for_an_address) {
    aligned_t word = 0;
    EXPECT_EQ(qthread_lock_init(&word, true), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_lock(&word), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_lock(&word), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_trylock(&word), QTHREAD_SUCCESS);
    running([&] { EXPECT_EQ(qthread_trylock(&word), QTHREAD_OPFAIL); }).wait();
    for (int k = 0; k < 3; ++k) EXPECT_EQ(qthread_unlock(&word), QTHREAD_SUCCESS);
    running([&] {
        EXPECT_EQ(qthread_trylock(&word), QTHREAD_SUCCESS);
        EXPECT_EQ(qthread_unlock(&word), QTHREAD_SUCCESS);
    }).wait();
    EXPECT_EQ(qthread_lock_destroy(&word), QTHREAD_SUCCESS);
}

TEST_F(locks, that_spin) {
    qthread_spinlock_t l = QTHREAD_MUTEX_INITIALIZER;
    expect_exclusion([&] { return qthread_spinlock_lock(&l); },
                     [&] { return qthread_spinlock_unlock(&l); });
    EXPECT_EQ(qthread_spinlock_init(&l, false), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_spinlock_trylock(&l), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_spinlock_trylock(&l), QTHREAD_OPFAIL);
    EXPECT_EQ(qthread_spinlock_unlock(&l), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_spinlock_destroy(&l), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_spinlock_lock(nullptr), QTHREAD_BADARGS);
}

TEST_F(locks, that_spin_and_are_recursive) {
    qthread_spinlock_t l = QTHREAD_RECURSIVE_MUTEX_INITIALIZER;
    expect_exclusion(
        [&] {
            qthread_spinlock_lock(&l);
            return qthread_spinlock_lock(&l);
        },
        [&] {
            qthread_spinlock_unlock(&l);
            return qthread_spinlock_unlock(&l);
        });
    EXPECT_EQ(qthread_spinlocks_init(&l, true), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_spinlock_trylock(&l), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_spinlock_trylock(&l), QTHREAD_SUCCESS);
    running([&] {
        EXPECT_EQ(qthread_spinlock_trylock(&l), QTHREAD_OPFAIL);
        EXPECT_EQ(qthread_spinlock_unlock(&l), QTHREAD_OPFAIL);
    }).wait();
    EXPECT_EQ(qthread_spinlock_unlock(&l), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_spinlock_unlock(&l), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_spinlocks_destroy(&l), QTHREAD_SUCCESS);
}

TEST(atomics, return_what_was_there_before) {
    aligned_t word = 1;
    uint32_t word32 = 1;
    uint64_t word64 = 1;
    int number = 1, other = 2;
    float single = 1;
    double twice = 1;
    EXPECT_EQ(qthread_incr(&word, 2), 1U);
    EXPECT_EQ(qthread_incr(&number, -3), 1);
    EXPECT_EQ(qthread_incr(&single, 2), 1);
    EXPECT_EQ(qthread_incr(&twice, 2), 1);
    EXPECT_EQ(qthread_incr32(&word32, 2), 1U);
    EXPECT_EQ(qthread_incr64(&word64, 2), 1U);
    EXPECT_EQ(qthread_incr_xx(&word32, 2, 4), 3);
    EXPECT_EQ(qthread_incr_xx(&word64, 2, 8), 3);
    EXPECT_EQ(qthread_fincr(&single, 0.5F), 3);
    EXPECT_EQ(qthread_dincr(&twice, 0.5), 3);
    EXPECT_EQ(single + twice, 7);
    EXPECT_EQ(qthread_cas(&word, 3U, 4U), 3U);
    EXPECT_EQ(qthread_cas32(&word32, 4U, 6U), 5U);
    EXPECT_EQ(qthread_cas64(&word64, 5U, 6U), 5U);
    int* pointer = &number;
    EXPECT_EQ(qthread_cas_ptr(&pointer, &number, &other), &number);
    EXPECT_EQ(pointer, &other);
    EXPECT_EQ(word, 4U);
    EXPECT_EQ(word32, 5U);
    EXPECT_EQ(word64, 6U);
}

// --- queues and barriers -------------------------------------------------------------------------

TEST_F(queue, releases_one_and_all) {
    qthread_queue_t const q = qthread_queue_create(QTHREAD_QUEUE_MULTI_JOIN_LENGTH, 0);
    std::atomic<int> released{0};
    EXPECT_EQ(qthread_queue_release_one(q), QTHREAD_OPFAIL);
    {
        std::vector<std::unique_ptr<running>> threads;
        for (int k = 0; k < 5; ++k)
            threads.push_back(std::make_unique<running>([&] {
                EXPECT_EQ(qthread_queue_join(q), QTHREAD_SUCCESS);
                ++released;
            }));
        while (qthread_queue_length(q) != 5) qthread_yield();
        EXPECT_EQ(qthread_readstate(NODE_BUSYNESS), 1U);
        EXPECT_EQ(qthread_queue_release_one(q), QTHREAD_SUCCESS);
        while (released != 1) qthread_yield();
        let_others_run();
        EXPECT_EQ(released, 1);
        EXPECT_EQ(qthread_queue_length(q), 4U);
        EXPECT_EQ(qthread_queue_release_all(q), QTHREAD_SUCCESS);
    }
    EXPECT_EQ(released, 5);
    EXPECT_EQ(qthread_queue_destroy(q), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_queue_join(nullptr), QTHREAD_BADARGS);
}

TEST_F(queue, of_a_limited_length_refuses_more) {
    qthread_queue_t const q = qthread_queue_create(QTHREAD_QUEUE_CAPPED, 1);
    {
        running const first([&] { EXPECT_EQ(qthread_queue_join(q), QTHREAD_SUCCESS); });
        while (qthread_queue_length(q) != 1) qthread_yield();
        EXPECT_EQ(qthread_queue_join(q), QTHREAD_OPFAIL);
        EXPECT_EQ(qthread_queue_release_all(q), QTHREAD_SUCCESS);
    }
    EXPECT_EQ(qthread_queue_destroy(q), QTHREAD_SUCCESS);
    qthread_queue_t const plain = qthread_queue_create(QTHREAD_QUEUE_NO_SYNCH, 0);
    EXPECT_EQ(qthread_queue_length(plain), 0U);
    EXPECT_EQ(qthread_queue_destroy(plain), QTHREAD_SUCCESS);
}

template <class Enter> void expect_to_meet(int participants, Enter enter) {
    std::atomic<int> arrived{0};
    std::vector<std::unique_ptr<running>> threads;
    for (int k = 0; k < participants; ++k)
        threads.push_back(std::make_unique<running>([&, k] {
            for (int round = 1; round <= 5; ++round) {
                ++arrived;
                enter(k);
                EXPECT_GE(arrived, round * participants);
                enter(k);
            }
        }));
}

TEST_F(barrier, lets_nobody_go_before_all_are_there) {
    qt_barrier_t* const b = qt_barrier_create(4, REGION_BARRIER);
    expect_to_meet(4, [b](int) { qt_barrier_enter(b); });
    qt_barrier_resize(b, 6);
    expect_to_meet(6, [b](int k) { qt_barrier_enter_id(b, static_cast<size_t>(k)); });
    qt_barrier_dump(b, BOTHLOCKS);
    EXPECT_EQ(qt_get_barrier(), nullptr);
    qt_set_barrier(b);
    EXPECT_EQ(qt_get_barrier(), b);
    running([&] { EXPECT_EQ(qt_get_barrier(), nullptr); }).wait();
    qt_barrier_destroy(b);
    EXPECT_EQ(qt_barrier_create(0, LOOP_BARRIER), nullptr);
}

TEST_F(barrier, under_its_older_name) {
    qt_feb_barrier_t* const b = qt_feb_barrier_create(3);
    expect_to_meet(3, [b](int) { qt_feb_barrier_enter(b); });
    qt_feb_barrier_resize(b, 2);
    expect_to_meet(2, [b](int) { qthread_feb_barrier_enter(b); });
    qt_feb_barrier_destroy(b);
}

} // namespace
