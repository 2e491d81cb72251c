// SPDX-License-Identifier: Apache-2.0
// qlfqueue, qswsrqueue, qdqueue: what they return, what order they keep, and whether recorded
// histories are linearizable.
#include "linearizability.hpp"

#include <qthread/qdqueue.h>
#include <qthread/qlfqueue.h>
#include <qthread/qswsrqueue.h>
#include <qthread/qthread.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include <tulle/runtime.hpp>

namespace {

// Elements are addresses; these stand for numbers.
void* element(std::size_t k) { return reinterpret_cast<void*>(k + 1); }
std::size_t number(void const* elem) { return reinterpret_cast<std::size_t>(elem) - 1; }

using lf_queue = std::unique_ptr<qlfqueue_t, int (*)(qlfqueue_t*)>;
lf_queue make_lf_queue() { return {qlfqueue_create(), qlfqueue_destroy}; }

using ring = std::unique_ptr<qswsrqueue_t, int (*)(qswsrqueue_t*)>;
ring make_ring(std::size_t n) { return {qswsrqueue_create(n), qswsrqueue_destroy}; }

using distributed_queue = std::unique_ptr<qdqueue_t, int (*)(qdqueue_t*)>;
distributed_queue make_distributed_queue() {
    EXPECT_EQ(qthread_initialize(), QTHREAD_SUCCESS);
    return {qdqueue_create(), qdqueue_destroy};
}

// --- histories -----------------------------------------------------------------------------------

struct queue_operation {
    enum class kind { put, take, is_empty } what;
    std::size_t value; // taken: k_nothing if there was none; is_empty: the answer
};
constexpr std::size_t k_nothing = ~std::size_t{0};

struct fifo_model {
    std::deque<std::size_t> items{};
    auto operator<=>(fifo_model const&) const = default;
    bool operator==(fifo_model const&) const = default;
    bool apply(queue_operation const& o) {
        if (o.what == queue_operation::kind::is_empty) return (o.value != 0) == items.empty();
        if (o.what == queue_operation::kind::put) {
            items.push_back(o.value);
            return true;
        }
        if (o.value == k_nothing) return items.empty();
        if (items.empty() || items.front() != o.value) return false;
        items.pop_front();
        return true;
    }
};

// Takes come in any order, but none finds nothing while there is something.
struct bag_model {
    std::set<std::size_t> items{};
    auto operator<=>(bag_model const&) const = default;
    bool operator==(bag_model const&) const = default;
    bool apply(queue_operation const& o) {
        if (o.what == queue_operation::kind::is_empty) return (o.value != 0) == items.empty();
        if (o.what == queue_operation::kind::put) return items.insert(o.value).second;
        return o.value == k_nothing ? items.empty() : items.erase(o.value) == 1;
    }
};

using event = linearizability::event<queue_operation>;
using recorder = linearizability::recorder<queue_operation>;

// Each thread calls step(recorder, thread, k) for k = 0 to steps - 1; what they have recorded.
template <class Step>
std::vector<event> record_history(std::size_t threads, std::size_t steps, Step const& step) {
    std::atomic<std::uint64_t> clock{0};
    std::atomic<std::size_t> ready{0};
    std::vector<recorder> recorders(threads, recorder(clock));
    std::vector<std::thread> running;
    for (std::size_t t = 0; t != threads; ++t) {
        running.emplace_back([&, t] {
            ++ready;
            while (ready != threads) std::this_thread::yield();
            for (std::size_t k = 0; k != steps; ++k) step(recorders[t], t, k);
        });
    }
    for (auto& r : running) r.join();
    std::vector<event> all;
    for (auto const& r : recorders) all.insert(all.end(), r.events().begin(), r.events().end());
    return all;
}

// Puts, takes and questions by three threads; put(n), take() and is_empty() are those of a queue.
template <class Put, class Take, class Empty>
void mixed_step(recorder& r, std::size_t t, std::size_t k, Put const& put, Take const& take,
                Empty const& is_empty) {
    std::size_t const n = t * 100 + k;
    if ((t + k) % 3 == 0) {
        r.record([&]() -> queue_operation {
            return put(n), queue_operation{queue_operation::kind::put, n};
        });
    } else if ((t + k) % 7 == 1) {
        r.record([&]() -> queue_operation {
            return {queue_operation::kind::is_empty, is_empty() ? std::size_t{1} : 0};
        });
    } else {
        r.record([&]() -> queue_operation {
            void* const elem = take();
            return {queue_operation::kind::take, elem == nullptr ? k_nothing : number(elem)};
        });
    }
}

constexpr int k_histories = 300;
constexpr std::size_t k_threads = 3;
constexpr std::size_t k_steps = 7;

TEST(linearizable, qlfqueue) {
    for (int h = 0; h != k_histories; ++h) {
        auto const q = make_lf_queue();
        auto const history =
            record_history(k_threads, k_steps, [&](recorder& r, std::size_t t, std::size_t k) {
                mixed_step(
                    r, t, k, [&](std::size_t n) { qlfqueue_enqueue(q.get(), element(n)); },
                    [&] { return qlfqueue_dequeue(q.get()); },
                    [&] { return qlfqueue_empty(q.get()) == 1; });
            });
        linearizability::checker<fifo_model, queue_operation> checker(history);
        ASSERT_TRUE(checker.is_linearizable({})) << "history " << h;
    }
}

TEST(linearizable, qdqueue) {
    auto const q = make_distributed_queue();
    for (int h = 0; h != k_histories; ++h) {
        auto const history =
            record_history(k_threads, k_steps, [&](recorder& r, std::size_t t, std::size_t k) {
                mixed_step(
                    r, t, k,
                    [&](std::size_t n) {
                        qdqueue_enqueue_there(
                            q.get(), element(n),
                            static_cast<qthread_shepherd_id_t>(n % qthread_num_shepherds()));
                    },
                    [&] { return qdqueue_dequeue(q.get()); },
                    [&] { return qdqueue_empty(q.get()) == 1; });
            });
        linearizability::checker<bag_model, queue_operation> checker(history);
        ASSERT_TRUE(checker.is_linearizable({})) << "history " << h;
        while (qdqueue_dequeue(q.get()) != nullptr) {}
    }
}

TEST(linearizable, qswsrqueue) {
    for (int h = 0; h != k_histories; ++h) {
        auto const q = make_ring(1);
        auto const history = record_history(2, 10, [&](recorder& r, std::size_t t, std::size_t k) {
            if (t == 0) {
                r.record([&]() -> queue_operation {
                    EXPECT_EQ(qswsrqueue_enqueue_blocking(q.get(), element(k)), QTHREAD_SUCCESS);
                    return {queue_operation::kind::put, k};
                });
            } else {
                r.record([&]() -> queue_operation {
                    void* const elem = k % 2 == 0 ? qswsrqueue_dequeue(q.get())
                                                  : qswsrqueue_dequeue_blocking(q.get());
                    return {queue_operation::kind::take,
                            elem == nullptr ? k_nothing : number(elem)};
                });
            }
        });
        linearizability::checker<fifo_model, queue_operation> checker(history);
        ASSERT_TRUE(checker.is_linearizable({})) << "history " << h;
    }
}

// A history that no queue has: the checker must refuse it.
TEST(linearizable, a_wrong_history_is_refused) {
    std::vector<event> const history{{{queue_operation::kind::put, 1}, 0, 1},
                                     {{queue_operation::kind::put, 2}, 2, 3},
                                     {{queue_operation::kind::take, 2}, 4, 5}};
    EXPECT_FALSE(
        (linearizability::checker<fifo_model, queue_operation>(history).is_linearizable({})));
    EXPECT_TRUE(
        (linearizability::checker<bag_model, queue_operation>(history).is_linearizable({})));
}

// --- qlfqueue ------------------------------------------------------------------------------------

TEST(qlfqueue, first_in_first_out) {
    auto const q = make_lf_queue();
    EXPECT_EQ(qlfqueue_empty(q.get()), 1);
    EXPECT_EQ(qlfqueue_dequeue(q.get()), nullptr);
    for (std::size_t k = 0; k != 1000; ++k)
        EXPECT_EQ(qlfqueue_enqueue(q.get(), element(k)), QTHREAD_SUCCESS);
    EXPECT_EQ(qlfqueue_empty(q.get()), 0);
    for (std::size_t k = 0; k != 1000; ++k) EXPECT_EQ(number(qlfqueue_dequeue(q.get())), k);
    EXPECT_EQ(qlfqueue_empty(q.get()), 1);
}

TEST(qlfqueue, refuses_null) {
    auto const q = make_lf_queue();
    EXPECT_EQ(qlfqueue_enqueue(q.get(), nullptr), QTHREAD_BADARGS);
    EXPECT_EQ(qlfqueue_enqueue(nullptr, element(1)), QTHREAD_BADARGS);
    EXPECT_EQ(qlfqueue_dequeue(nullptr), nullptr);
    EXPECT_EQ(qlfqueue_empty(nullptr), QTHREAD_BADARGS);
    EXPECT_EQ(qlfqueue_destroy(nullptr), QTHREAD_BADARGS);
}

TEST(qlfqueue, is_destroyed_with_elements_left) {
    auto const q = make_lf_queue();
    for (std::size_t k = 0; k != 100; ++k) qlfqueue_enqueue(q.get(), element(k));
}

// Each element arrives once, and those of one producer in order.
TEST(qlfqueue, many_producers_and_consumers) {
    constexpr std::size_t k_each = 20000;
    auto const q = make_lf_queue();
    std::atomic<std::size_t> taken{0};
    std::vector<std::vector<std::size_t>> got(2);
    std::vector<std::thread> threads;
    for (std::size_t p = 0; p != 2; ++p) {
        threads.emplace_back([&, p] {
            for (std::size_t k = 0; k != k_each; ++k)
                ASSERT_EQ(qlfqueue_enqueue(q.get(), element(2 * k + p)), QTHREAD_SUCCESS);
        });
        threads.emplace_back([&, p] {
            while (taken != 2 * k_each) {
                if (void* const elem = qlfqueue_dequeue(q.get())) {
                    got[p].push_back(number(elem));
                    ++taken;
                } else {
                    std::this_thread::yield();
                }
            }
        });
    }
    for (auto& t : threads) t.join();
    std::vector<int> seen(2 * k_each);
    for (auto const& list : got) {
        std::array<std::size_t, 2> last{};
        for (std::size_t const n : list) {
            ++seen[n];
            ASSERT_GE(n / 2 + 1, last[n % 2]);
            last[n % 2] = n / 2 + 1;
        }
    }
    EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; }));
}

// --- qswsrqueue ----------------------------------------------------------------------------------

TEST(qswsrqueue, is_full_and_empty) {
    auto const q = make_ring(100);
    std::size_t room = 0;
    while (qswsrqueue_enqueue(q.get(), element(room)) == QTHREAD_SUCCESS) ++room;
    EXPECT_GE(room, 100U);
    EXPECT_EQ(qswsrqueue_enqueue(q.get(), element(room)), QTHREAD_OPFAIL);
    EXPECT_EQ(qswsrqueue_empty(q.get()), 0);
    for (std::size_t k = 0; k != room; ++k) EXPECT_EQ(number(qswsrqueue_dequeue(q.get())), k);
    EXPECT_EQ(qswsrqueue_dequeue(q.get()), nullptr);
    EXPECT_EQ(qswsrqueue_empty(q.get()), 1);
}

TEST(qswsrqueue, refuses_what_makes_no_sense) {
    auto const q = make_ring(1);
    EXPECT_EQ(qswsrqueue_create(std::size_t{1} << 40U), nullptr);
    EXPECT_EQ(qswsrqueue_enqueue(q.get(), nullptr), QTHREAD_BADARGS);
    EXPECT_EQ(qswsrqueue_enqueue(nullptr, element(1)), QTHREAD_BADARGS);
    EXPECT_EQ(qswsrqueue_enqueue_blocking(q.get(), nullptr), QTHREAD_BADARGS);
    EXPECT_EQ(qswsrqueue_dequeue(nullptr), nullptr);
    EXPECT_EQ(qswsrqueue_dequeue_blocking(nullptr), nullptr);
    EXPECT_EQ(qswsrqueue_empty(nullptr), QTHREAD_BADARGS);
    EXPECT_EQ(qswsrqueue_destroy(nullptr), QTHREAD_BADARGS);
}

// Both sides wait again and again, as the ring is small.
TEST(qswsrqueue, blocks_and_wakes) {
    constexpr std::size_t k_count = 50000;
    auto const q = make_ring(1);
    std::thread reader([&] {
        for (std::size_t k = 0; k != k_count; ++k)
            ASSERT_EQ(number(qswsrqueue_dequeue_blocking(q.get())), k);
    });
    for (std::size_t k = 0; k != k_count; ++k)
        ASSERT_EQ(qswsrqueue_enqueue_blocking(q.get(), element(k)), QTHREAD_SUCCESS);
    reader.join();
    EXPECT_EQ(qswsrqueue_empty(q.get()), 1);
}

struct relay {
    qswsrqueue_t* from;
    qswsrqueue_t* to;
    std::size_t count;
};
aligned_t pass_on(void* p) {
    auto const& r = *static_cast<relay*>(p);
    for (std::size_t k = 0; k != r.count; ++k)
        qswsrqueue_enqueue_blocking(r.to, qswsrqueue_dequeue_blocking(r.from));
    return 0;
}

TEST(qswsrqueue, qthreads_wait_without_keeping_their_worker) {
    ASSERT_EQ(qthread_initialize(), QTHREAD_SUCCESS);
    constexpr std::size_t k_stages = 10, k_count = 500;
    std::vector<ring> rings;
    for (std::size_t k = 0; k != k_stages + 1; ++k) rings.push_back(make_ring(1));
    std::vector<relay> stages;
    for (std::size_t k = 0; k != k_stages; ++k)
        stages.push_back({rings[k].get(), rings[k + 1].get(), k_count});
    std::vector<aligned_t> ends(k_stages);
    for (std::size_t k = 0; k != k_stages; ++k)
        ASSERT_EQ(qthread_fork(pass_on, &stages[k], &ends[k]), QTHREAD_SUCCESS);
    std::size_t sent = 0;
    for (std::size_t got = 0; got != k_count; ++got) {
        for (; sent != k_count && sent < got + 8; ++sent)
            qswsrqueue_enqueue_blocking(rings.front().get(), element(sent));
        ASSERT_EQ(number(qswsrqueue_dequeue_blocking(rings.back().get())), got);
    }
    for (auto& end : ends) EXPECT_EQ(qthread_readFF(nullptr, &end), QTHREAD_SUCCESS);
}

// --- qdqueue -------------------------------------------------------------------------------------

TEST(qdqueue, gives_each_element_once) {
    auto const q = make_distributed_queue();
    EXPECT_EQ(qdqueue_empty(q.get()), 1);
    EXPECT_EQ(qdqueue_dequeue(q.get()), nullptr);
    for (std::size_t k = 0; k != 100; ++k) {
        auto const there = static_cast<qthread_shepherd_id_t>(k % qthread_num_shepherds());
        EXPECT_EQ(k % 2 == 0 ? qdqueue_enqueue(q.get(), element(k))
                             : qdqueue_enqueue_there(q.get(), element(k), there),
                  QTHREAD_SUCCESS);
    }
    EXPECT_EQ(qdqueue_empty(q.get()), 0);
    std::set<std::size_t> got;
    while (void* const elem = qdqueue_dequeue(q.get()))
        EXPECT_TRUE(got.insert(number(elem)).second);
    EXPECT_EQ(got.size(), 100U);
    EXPECT_EQ(qdqueue_empty(q.get()), 1);
}

TEST(qdqueue, refuses_what_makes_no_sense) {
    auto const q = make_distributed_queue();
    EXPECT_EQ(qdqueue_enqueue(q.get(), nullptr), QTHREAD_BADARGS);
    EXPECT_EQ(qdqueue_enqueue(nullptr, element(1)), QTHREAD_BADARGS);
    EXPECT_EQ(qdqueue_enqueue_there(q.get(), element(1), NO_SHEPHERD), QTHREAD_BADARGS);
    EXPECT_EQ(qdqueue_enqueue_there(q.get(), nullptr, 0), QTHREAD_BADARGS);
    EXPECT_EQ(qdqueue_dequeue(nullptr), nullptr);
    EXPECT_EQ(qdqueue_empty(nullptr), 0);
    EXPECT_EQ(qdqueue_destroy(nullptr), QTHREAD_BADARGS);
}

TEST(qdqueue, has_a_part_for_each_shepherd_while_one_is_disabled) {
    qthread_finalize(); // what other tests have left
    if (tulle::is_initialized()) tulle::finalize();
    ASSERT_EQ(qthread_init(3), QTHREAD_SUCCESS);
    ASSERT_EQ(qthread_disable_shepherd(1), QTHREAD_SUCCESS);
    {
        auto const q = make_distributed_queue();
        EXPECT_EQ(qdqueue_enqueue_there(q.get(), element(7), 2), QTHREAD_SUCCESS);
        EXPECT_EQ(qdqueue_enqueue_there(q.get(), element(7), 3), QTHREAD_BADARGS);
        EXPECT_EQ(qdqueue_dequeue(q.get()), element(7));
    }
    qthread_finalize();
}

struct own_first {
    qdqueue_t* q;
    bool found_own;
};
aligned_t take_own(void* p) {
    auto& o = *static_cast<own_first*>(p);
    std::size_t const here = qthread_shep();
    o.found_own = number(qdqueue_dequeue(o.q)) == here;
    return 0;
}

TEST(qdqueue, a_qthread_gets_what_its_shepherd_has) {
    auto const q = make_distributed_queue();
    std::size_t const shepherds = qthread_num_shepherds();
    for (std::size_t k = 0; k != shepherds; ++k)
        qdqueue_enqueue_there(q.get(), element(k), static_cast<qthread_shepherd_id_t>(k));
    for (std::size_t k = 0; k != shepherds; ++k) {
        own_first result{q.get(), false};
        aligned_t end = 0;
        ASSERT_EQ(qthread_fork_to(take_own, &result, &end, static_cast<qthread_shepherd_id_t>(k)),
                  QTHREAD_SUCCESS);
        qthread_readFF(nullptr, &end);
        EXPECT_TRUE(result.found_own) << "shepherd " << k;
    }
}

} // namespace
