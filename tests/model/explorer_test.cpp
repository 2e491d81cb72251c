// SPDX-License-Identifier: Apache-2.0
//
// The explorer explored: litmus tests whose weak outcomes C++20 allows or forbids (names as in
// Alglave, Maranget, Tautschnig, doi:10.1145/2627752), planted errors of each kind, replay, and the
// size of exhaustive searches.
// Load buffering and the weak outcome of 2+2W are outside the model (explorer/memory.hpp).
#include "explorer/explore.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <new>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace tulle::model;
using enum std::memory_order;
using outcomes = std::set<std::vector<int>>;

options exhaustive() { return tulle::model::exhaustive(4, 400000); }

options planted() {
    options o = exhaustive();
    o.expect_failure = true;
    return o;
}

// All outcomes of a litmus test whose body writes its registers to the vector.
template <class Body>
outcomes all_outcomes(Body body, std::size_t registers, result* stats = nullptr) {
    outcomes found;
    result const r = explore("litmus", exhaustive(), [&](test& t) {
        auto& out = t.make<std::vector<int>>(registers, -1);
        body(t, out);
        t.at_end([&] { found.insert(out); });
    });
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_TRUE(r.complete);
    if (stats != nullptr) *stats = r;
    return found;
}

struct two_words {
    atomic<int> x{0};
    atomic<int> y{0};
};

// -- store buffering: x = 1; r0 = y || y = 1; r1 = x

template <class Middle1, class Middle2>
outcomes store_buffering(std::memory_order store, std::memory_order load, Middle1 first,
                         Middle2 second) {
    return all_outcomes(
        [=](test& t, std::vector<int>& r) {
            auto& s = t.make<two_words>();
            t.thread([=, &s, &r] {
                s.x.store(1, store);
                first();
                r[0] = s.y.load(load);
            });
            t.thread([=, &s, &r] {
                s.y.store(1, store);
                second();
                r[1] = s.x.load(load);
            });
        },
        2);
}

constexpr auto k_nothing = [] { compiler_barrier(); };
constexpr auto k_fence = [] { fence(seq_cst); };
constexpr auto k_light_fence = [] { fence(acq_rel); };
constexpr auto k_heavy = [] { membarrier(); };

TEST(store_buffering, weak_outcome_is_found) {
    outcomes const all{{0, 0}, {0, 1}, {1, 0}, {1, 1}};
    EXPECT_EQ(store_buffering(relaxed, relaxed, k_nothing, k_nothing), all);
    EXPECT_EQ(store_buffering(release, acquire, k_nothing, k_nothing), all);
    EXPECT_EQ(store_buffering(relaxed, relaxed, k_light_fence, k_light_fence), all);
    EXPECT_EQ(store_buffering(relaxed, relaxed, k_fence, k_nothing), all);
    EXPECT_EQ(store_buffering(seq_cst, acquire, k_nothing, k_nothing), all);
    EXPECT_EQ(store_buffering(release, seq_cst, k_nothing, k_nothing), all);
}

TEST(store_buffering, weak_outcome_is_forbidden_by_seq_cst) {
    outcomes const strong{{0, 1}, {1, 0}, {1, 1}};
    EXPECT_EQ(store_buffering(seq_cst, seq_cst, k_nothing, k_nothing), strong);
    EXPECT_EQ(store_buffering(relaxed, relaxed, k_fence, k_fence), strong);
}

TEST(store_buffering, asymmetric_dekker) {
    outcomes const strong{{0, 1}, {1, 0}, {1, 1}};
    EXPECT_EQ(store_buffering(relaxed, relaxed, k_heavy, k_nothing), strong);
    EXPECT_EQ(store_buffering(relaxed, relaxed, k_nothing, k_heavy), strong);
    EXPECT_EQ(store_buffering(relaxed, relaxed, k_heavy, k_heavy), strong);
}

// -- message passing: x = 1; y = 1 || r0 = y; r1 = x

outcomes message_passing(std::memory_order store, std::memory_order load) {
    return all_outcomes(
        [=](test& t, std::vector<int>& r) {
            auto& s = t.make<two_words>();
            t.thread([=, &s] {
                s.x.store(1, relaxed);
                s.y.store(1, store);
            });
            t.thread([=, &s, &r] {
                r[0] = s.y.load(load);
                r[1] = s.x.load(relaxed);
            });
        },
        2);
}

TEST(message_passing, needs_both_sides) {
    outcomes const all{{0, 0}, {0, 1}, {1, 0}, {1, 1}};
    outcomes const strong{{0, 0}, {0, 1}, {1, 1}};
    EXPECT_EQ(message_passing(relaxed, relaxed), all);
    EXPECT_EQ(message_passing(release, relaxed), all);
    EXPECT_EQ(message_passing(relaxed, acquire), all);
    EXPECT_EQ(message_passing(release, acquire), strong);
    EXPECT_EQ(message_passing(seq_cst, seq_cst), strong);
}

TEST(message_passing, by_fences) {
    outcomes const found = all_outcomes(
        [](test& t, std::vector<int>& r) {
            auto& s = t.make<two_words>();
            t.thread([&s] {
                s.x.store(1, relaxed);
                fence(release);
                s.y.store(1, relaxed);
            });
            t.thread([&s, &r] {
                r[0] = s.y.load(relaxed);
                fence(acquire);
                r[1] = s.x.load(relaxed);
            });
        },
        2);
    EXPECT_EQ(found, (outcomes{{0, 0}, {0, 1}, {1, 1}}));
}

// -- independent reads of independent writes: x = 1 || y = 1 || r0 = x; r1 = y || r2 = y; r3 = x

bool iriw_disagrees(std::memory_order store, std::memory_order load, bool fenced) {
    outcomes const found = all_outcomes(
        [=](test& t, std::vector<int>& r) {
            auto& s = t.make<two_words>();
            auto const read_both = [=, &r](atomic<int>& a, atomic<int>& b, std::size_t at) {
                r[at] = a.load(load);
                if (fenced) fence(seq_cst);
                r[at + 1] = b.load(load);
            };
            t.thread([=, &s] { s.x.store(1, store); });
            t.thread([=, &s] { s.y.store(1, store); });
            t.thread([=, &s] { read_both(s.x, s.y, 0); });
            t.thread([=, &s] { read_both(s.y, s.x, 2); });
        },
        4);
    return found.contains({1, 0, 1, 0});
}

TEST(iriw, readers_may_disagree_unless_seq_cst) {
    EXPECT_TRUE(iriw_disagrees(relaxed, relaxed, false));
    EXPECT_TRUE(iriw_disagrees(release, acquire, false));
    EXPECT_FALSE(iriw_disagrees(seq_cst, seq_cst, false));
    EXPECT_FALSE(iriw_disagrees(relaxed, relaxed, true));
}

// -- coherence

TEST(coherence, a_location_never_goes_back) {
    outcomes const found = all_outcomes(
        [](test& t, std::vector<int>& r) {
            auto& x = t.make<atomic<int>>(0);
            t.thread([&x] {
                x.store(1, relaxed);
                x.store(2, relaxed);
            });
            t.thread([&x, &r] {
                for (int& seen : r) seen = x.load(relaxed);
            });
        },
        2);
    EXPECT_EQ(found, (outcomes{{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}}));
}

TEST(coherence, a_thread_reads_its_own_store_or_newer) {
    outcomes const found = all_outcomes(
        [](test& t, std::vector<int>& r) {
            auto& x = t.make<atomic<int>>(0);
            t.thread([&x, &r] {
                x.store(1, relaxed);
                r[0] = x.load(relaxed);
            });
            t.thread([&x] { x.store(2, relaxed); });
        },
        1);
    EXPECT_EQ(found, (outcomes{{1}, {2}}));
}

TEST(coherence, read_modify_writes_lose_nothing) {
    outcomes const found = all_outcomes(
        [](test& t, std::vector<int>& r) {
            auto& x = t.make<atomic<int>>(0);
            for (int i = 0; i < 3; ++i) t.thread([&x] { x.fetch_add(1, relaxed); });
            t.at_end([&x, &r] { r[0] = x.load(relaxed); });
        },
        1);
    EXPECT_EQ(found, (outcomes{{3}}));
}

TEST(coherence, a_stale_value_is_not_for_ever) {
    result const r = explore("spin_on_a_flag", exhaustive(), [](test& t) {
        auto& flag = t.make<atomic<bool>>(false);
        t.thread([&flag] { flag.store(true, relaxed); });
        t.thread([&flag] {
            while (!flag.load(relaxed)) spin_hint();
        });
    });
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_TRUE(r.complete);
}

// -- release sequence: data = 1; y =release 1 || y += 1 relaxed || r0 = y acquire; r1 = data

template <class Middle> outcomes release_sequence(Middle middle) {
    return all_outcomes(
        [=](test& t, std::vector<int>& r) {
            auto& s = t.make<two_words>();
            t.thread([&s] {
                s.x.store(1, relaxed);
                s.y.store(1, release);
            });
            t.thread([=, &s] { middle(s.y); });
            t.thread([&s, &r] {
                r[0] = s.y.load(acquire);
                r[1] = s.x.load(relaxed);
            });
        },
        2);
}

TEST(release_sequence, goes_on_through_read_modify_write_only) {
    outcomes const through = release_sequence([](atomic<int>& y) { y.fetch_add(1, relaxed); });
    EXPECT_TRUE(through.contains({2, 1}));
    EXPECT_FALSE(through.contains({2, 0}));
    outcomes const cut = release_sequence([](atomic<int>& y) {
        if (y.load(relaxed) == 1) y.store(2, relaxed);
    });
    EXPECT_TRUE(cut.contains({2, 0}));
}

TEST(compare_exchange, may_fail_stale_but_never_succeeds_stale) {
    outcomes const found = all_outcomes(
        [](test& t, std::vector<int>& r) {
            auto& x = t.make<atomic<int>>(0);
            t.thread([&x] {
                x.store(1, relaxed);
                x.store(2, relaxed);
            });
            t.thread([&x, &r] {
                r[0] = 2;
                r[1] = x.compare_exchange_strong(r[0], 3, relaxed) ? 1 : 0;
            });
        },
        2);
    EXPECT_EQ(found, (outcomes{{0, 0}, {1, 0}, {2, 1}}));
}

TEST(compare_exchange, weak_fails_spuriously_once) {
    outcomes const found = all_outcomes(
        [](test& t, std::vector<int>& r) {
            auto& x = t.make<atomic<int>>(0);
            t.thread([&x, &r] {
                r[0] = 0;
                int tries = 1;
                while (!x.compare_exchange_weak(r[0], 7, acq_rel)) ++tries;
                r[1] = tries;
            });
        },
        2);
    EXPECT_EQ(found, (outcomes{{0, 1}, {0, 2}}));
}

// -- mutual exclusion by loads and stores (Peterson 1981), with a race detector inside

struct peterson {
    std::array<atomic<int>, 2> wants{};
    atomic<int> turn{0};
    plain<int> counter{0};
};

template <class Fence>
result run_peterson(options const& o, std::memory_order store, std::memory_order load,
                    Fence between) {
    return explore("peterson", o, [=](test& t) {
        auto& p = t.make<peterson>();
        for (std::size_t me = 0; me < 2; ++me) {
            t.thread([=, &p] {
                int const other = static_cast<int>(1 - me);
                p.wants[me].store(1, store);
                p.turn.store(other, store);
                between();
                while (p.wants[1 - me].load(load) == 1 && p.turn.load(load) == other) spin_hint();
                p.counter.store(p.counter.load() + 1);
                p.wants[me].store(0, release);
            });
        }
        t.at_end([&p] { check(p.counter.load() == 2, "both threads counted"); });
    });
}

TEST(peterson, excludes_with_seq_cst) {
    result const r = run_peterson(exhaustive(), seq_cst, seq_cst, k_nothing);
    EXPECT_TRUE(r.passed()) << r;
}

TEST(peterson, fails_with_release_acquire) {
    result const r = run_peterson(planted(), release, acquire, k_nothing);
    EXPECT_TRUE(r.failed);
    EXPECT_NE(r.message.find("data race"), std::string::npos) << r;
}

TEST(dekker, flag_handshake_with_fences) {
    auto const run = [](options const& o, auto first, auto second) {
        return explore("dekker", o, [=](test& t) {
            auto& s = t.make<two_words>();
            auto& data = t.make<plain<int>>(0);
            auto const enter = [&data](atomic<int>& mine, atomic<int>& other, auto between) {
                mine.store(1, relaxed);
                between();
                if (other.load(acquire) == 0) data.store(1);
                mine.store(0, release);
            };
            t.thread([=, &s] { enter(s.x, s.y, first); });
            t.thread([=, &s] { enter(s.y, s.x, second); });
        });
    };
    EXPECT_TRUE(run(planted(), k_nothing, k_nothing).failed);
    EXPECT_TRUE(run(planted(), k_fence, k_nothing).failed);
    result const fenced = run(exhaustive(), k_fence, k_fence);
    EXPECT_TRUE(fenced.passed()) << fenced;
    result const asymmetric = run(exhaustive(), k_heavy, k_nothing);
    EXPECT_TRUE(asymmetric.passed()) << asymmetric;
}

// -- planted errors

TEST(race_detector, unordered_plain_accesses) {
    auto const run = [](std::memory_order store, std::memory_order load) {
        return explore("publish", planted(), [=](test& t) {
            auto& data = t.make<plain<int>>(0);
            auto& ready = t.make<atomic<bool>>(false);
            t.thread([=, &data, &ready] {
                data.store(1);
                ready.store(true, store);
            });
            t.thread([=, &data, &ready] {
                if (ready.load(load)) check(data.load() == 1, "published");
            });
        });
    };
    EXPECT_TRUE(run(release, acquire).passed());
    for (auto const& [store, load] : {std::pair{relaxed, acquire}, std::pair{release, relaxed}}) {
        result const r = run(store, load);
        EXPECT_TRUE(r.failed);
        EXPECT_NE(r.message.find("data race"), std::string::npos) << r;
    }
}

TEST(race_detector, destruction_beside_an_access) {
    result const r = explore("destroy", planted(), [](test& t) {
        auto& owned = t.make<std::unique_ptr<atomic<int>>>(std::make_unique<atomic<int>>(0));
        auto& gone = t.make<atomic<bool>>(false);
        t.thread([&owned, &gone] {
            owned->store(1, relaxed);
            gone.store(true, relaxed); // should release
        });
        t.thread([&owned, &gone] {
            if (gone.load(acquire)) owned.reset();
        });
    });
    EXPECT_TRUE(r.failed);
    EXPECT_NE(r.message.find("destroyed"), std::string::npos) << r;
}

// The frame of a waiter, say: who comes late finds what is left of it, or something else.
template <class T> struct frame {
    alignas(T) std::array<std::byte, sizeof(T)> memory{};

    void begin(int value) { new (memory.data()) T(value); }
    [[nodiscard]] T& variable() { return *reinterpret_cast<T*>(memory.data()); }
    void end(bool is_used_again) {
        variable().~T();
        if (is_used_again) memory.fill(std::byte{0xee});
    }
};

template <class T, class Access> result access_after_the_end(bool is_used_again, Access access) {
    return explore("after_the_end", planted(), [=](test& t) {
        auto& f = t.make<frame<T>>();
        auto& over = t.make<atomic<bool>>(false);
        f.begin(0);
        t.thread([=, &f, &over] {
            f.end(is_used_again);
            over.store(true, release);
        });
        t.thread([=, &f, &over] {
            if (over.load(acquire)) access(f.variable());
        });
    });
}

TEST(race_detector, access_after_the_end) {
    for (bool const is_used_again : {false, true}) {
        for (result const& r :
             {access_after_the_end<plain<int>>(is_used_again,
                                               [](plain<int>& v) { (void)v.load(); }),
              access_after_the_end<plain<int>>(is_used_again, [](plain<int>& v) { v.store(1); }),
              access_after_the_end<atomic<int>>(is_used_again,
                                                [](atomic<int>& v) { (void)v.load(relaxed); })}) {
            EXPECT_TRUE(r.failed);
            EXPECT_NE(r.message.find("does not exist"), std::string::npos) << r;
        }
    }
}

TEST(heavy_fence, is_refused_where_there_is_none) {
    auto const body = [](test& t) { t.thread([] { membarrier(); }); };
    EXPECT_TRUE(explore("heavy", exhaustive(), body).passed());
    result const r = explore("no_heavy", without_heavy_fence(planted()), body);
    EXPECT_TRUE(r.failed);
    EXPECT_NE(r.message.find("heavy fence"), std::string::npos) << r;
}

// What is left out there: switches before plain accesses. Races show all the same.
TEST(race_detector, needs_no_switch_at_plain_accesses) {
    result const r = explore("no_switch", without_heavy_fence(planted()), [](test& t) {
        auto& data = t.make<plain<int>>(0);
        for (int i = 0; i < 2; ++i) t.thread([&data] { data.store(1); });
    });
    EXPECT_TRUE(r.failed);
    EXPECT_NE(r.message.find("data race"), std::string::npos) << r;
}

TEST(race_detector, publication_of_an_atomic) {
    result const r = explore("publish_atomic", planted(), [](test& t) {
        auto& published = t.make<atomic<atomic<int>*>>(nullptr);
        t.thread([&published, &t] { published.store(&t.make<atomic<int>>(1), relaxed); });
        t.thread([&published] {
            if (auto* const a = published.load(acquire)) (void)a->load(relaxed);
        });
    });
    EXPECT_TRUE(r.failed);
    EXPECT_NE(r.message.find("construction"), std::string::npos) << r;
}

// A one-shot event: the waiter announces itself, then sleeps. `late`: it looks at the event before
// it announces itself.
struct event_word {
    atomic<int> fired{0};
    atomic<std::uint32_t> sleeping{0};
};

result run_event(options const& o, bool late, bool fenced) {
    return explore("event", o, [=](test& t) {
        auto& e = t.make<event_word>();
        t.thread([=, &e] {
            e.fired.store(1, relaxed);
            if (fenced) fence(seq_cst);
            if (e.sleeping.exchange(0, relaxed) == 1) futex_wake(e.sleeping, 1);
        });
        t.thread([=, &e] {
            bool const early = late && e.fired.load(relaxed) == 1;
            e.sleeping.store(1, relaxed);
            if (fenced) fence(seq_cst);
            if (late ? early : e.fired.load(relaxed) == 1) return;
            while (e.sleeping.load(relaxed) == 1) futex_wait(e.sleeping, 1);
        });
    });
}

TEST(futex, lost_wake_up_is_found) {
    for (auto const& [late, fenced] : {std::pair{true, true}, std::pair{false, false}}) {
        result const r = run_event(planted(), late, fenced);
        EXPECT_TRUE(r.failed);
        EXPECT_NE(r.message.find("deadlock"), std::string::npos) << r;
    }
}

TEST(futex, handshake_with_fences_loses_nothing) {
    result const r = run_event(exhaustive(), false, true);
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_TRUE(r.complete);
}

TEST(futex, wakes_as_many_as_asked) {
    auto const run = [](int count, options const& o) {
        return explore("wake_count", o, [=](test& t) {
            auto& word = t.make<atomic<std::uint32_t>>(0U);
            for (int i = 0; i < 2; ++i) {
                t.thread([&word] {
                    while (word.load(relaxed) == 0) futex_wait(word, 0);
                });
            }
            t.thread([=, &word] {
                word.store(1, relaxed);
                futex_wake(word, count);
            });
        });
    };
    EXPECT_TRUE(run(1, planted()).failed);
    result const both = run(2, exhaustive());
    EXPECT_TRUE(both.passed()) << both;
}

TEST(futex, a_deadline_passes_at_any_moment) {
    outcomes const found = all_outcomes(
        [](test& t, std::vector<int>& r) {
            auto& word = t.make<atomic<std::uint32_t>>(0U);
            t.thread([&word] {
                word.store(1, relaxed);
                futex_wake(word, 1);
            });
            t.thread([&word, &r] {
                bool in_time = true;
                while (in_time && word.load(relaxed) == 0) in_time = futex_wait(word, 0, 1000);
                r[0] = in_time ? 1 : 0;
            });
        },
        1);
    EXPECT_EQ(found, (outcomes{{0}, {1}}));
}

TEST(futex, a_deadline_is_no_deadlock) {
    result const r = explore("nobody_wakes", exhaustive(), [](test& t) {
        auto& word = t.make<atomic<std::uint32_t>>(0U);
        t.thread([&word] {
            while (futex_wait(word, 0, 1000)) {}
        });
    });
    EXPECT_TRUE(r.passed()) << r;
}

TEST(deadlock, crossed_locks) {
    result const r = explore("crossed", planted(), [](test& t) {
        auto& locks = t.make<std::array<atomic<std::uint32_t>, 2>>();
        for (std::size_t first = 0; first < 2; ++first) {
            t.thread([&locks, first] {
                for (std::size_t const i : {first, 1 - first}) {
                    while (locks[i].exchange(1, acquire) == 1) futex_wait(locks[i], 1);
                }
                for (auto& l : locks) {
                    l.store(0, release);
                    futex_wake(l, 2);
                }
            });
        }
    });
    EXPECT_TRUE(r.failed);
    EXPECT_NE(r.message.find("deadlock: all threads sleep; thread"), std::string::npos) << r;
}

TEST(livelock, two_polite_threads) {
    result const r = explore("polite", planted(), [](test& t) {
        auto& turn = t.make<atomic<int>>(0);
        for (int i = 0; i < 2; ++i) {
            t.thread([&turn] {
                while (turn.load(relaxed) == 0) spin_hint();
            });
        }
    });
    EXPECT_TRUE(r.failed);
    EXPECT_NE(r.message.find("livelock"), std::string::npos) << r;
}

// A stack of three nodes by index whose pop trusts the top alone: between its load and its exchange
// the node may be popped, and pushed again over another one.
struct aba_stack {
    atomic<int> top{0};
    std::array<atomic<int>, 3> next{};
    std::array<atomic<int>, 3> popped{};

    aba_stack() {
        next[0].store(1, relaxed);
        next[1].store(2, relaxed);
        next[2].store(-1, relaxed);
    }
    int pop() {
        int node = top.load(acquire);
        while (node >= 0) {
            int const below = next[static_cast<std::size_t>(node)].load(relaxed);
            if (top.compare_exchange_strong(node, below, acq_rel)) return node;
        }
        return node;
    }
    void push(int node) {
        int above = top.load(relaxed);
        do next[static_cast<std::size_t>(node)].store(above, relaxed);
        while (!top.compare_exchange_strong(above, node, acq_rel, relaxed));
    }
    void own(int node) {
        if (node >= 0)
            check(popped[static_cast<std::size_t>(node)].fetch_add(1, relaxed) == 0,
                  "a node has one owner");
    }
};

TEST(aba, is_found) {
    result const r = explore("aba", planted(), [](test& t) {
        auto& stack = t.make<aba_stack>();
        t.thread([&stack] {
            stack.own(stack.pop());
            stack.own(stack.pop());
        });
        t.thread([&stack] {
            int const first = stack.pop();
            stack.own(stack.pop());
            if (first >= 0) stack.push(first);
        });
    });
    EXPECT_TRUE(r.failed);
    EXPECT_NE(r.message.find("one owner"), std::string::npos) << r;
}

// -- exceptions

TEST(exceptions, stay_with_their_thread) {
    result const r = explore("exceptions", exhaustive(), [](test& t) {
        auto& x = t.make<atomic<int>>(0);
        for (int i = 1; i <= 2; ++i) {
            t.thread([&x, i] {
                try {
                    x.fetch_add(1, relaxed);
                    throw i;
                } catch (int) {
                    x.fetch_add(1, relaxed); // others run while this one is caught
                    try {
                        throw;
                    } catch (int again) {
                        check(again == i, "rethrows its own exception");
                    }
                }
            });
        }
    });
    EXPECT_TRUE(r.passed()) << r;
}

TEST(exceptions, escaping_ones_fail_the_test) {
    result const r = explore("escapes", planted(),
                             [](test& t) { t.thread([] { throw std::runtime_error("lost"); }); });
    EXPECT_TRUE(r.failed);
    EXPECT_NE(r.message.find("lost"), std::string::npos) << r;
}

// -- replay

TEST(replay, a_token_repeats_the_execution) {
    for (search const how : {search::exhaustive, search::random}) {
        options o = planted();
        o.how = how;
        result const first = run_peterson(o, release, acquire, k_nothing);
        ASSERT_TRUE(first.failed);
        o.replay = first.token;
        result const again = run_peterson(o, release, acquire, k_nothing);
        EXPECT_TRUE(again.failed);
        EXPECT_EQ(again.executions, 1U);
        EXPECT_EQ(again.trace, first.trace);
        EXPECT_EQ(again.message, first.message);
        EXPECT_FALSE(first.trace.empty());
    }
}

TEST(replay, tokens_keep_choices) {
    choices const some{0, 0, 0, 0, 0, 3, 0, 35, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    EXPECT_EQ(encode(some), "-5-30za-12-1");
    EXPECT_EQ(decode(encode(some)), some);
    EXPECT_EQ(encode({0, 0}), "0");
}

TEST(replay, equal_seeds_explore_equally) {
    options o = planted();
    o.how = search::random;
    EXPECT_EQ(run_peterson(o, release, acquire, k_nothing).token,
              run_peterson(o, release, acquire, k_nothing).token);
}

// -- exhaustive search

std::size_t interleavings(int threads, int accesses, unsigned preemptions) {
    options o = exhaustive();
    o.preemptions = preemptions;
    result const r = explore("interleavings", o, [=](test& t) {
        auto& x = t.make<atomic<int>>(0);
        for (int i = 0; i < threads; ++i) {
            t.thread([&x, accesses] {
                for (int a = 0; a < accesses; ++a) x.fetch_add(1, relaxed);
            });
        }
    });
    EXPECT_TRUE(r.complete);
    return r.executions;
}

TEST(depth_first, visits_each_interleaving_once) {
    EXPECT_EQ(interleavings(2, 1, 99), 2U);
    EXPECT_EQ(interleavings(2, 2, 99), 6U);  // 4! / (2! 2!)
    EXPECT_EQ(interleavings(2, 3, 99), 20U); // 6! / (3! 3!)
    EXPECT_EQ(interleavings(3, 2, 99), 90U); // 6! / (2! 2! 2!)
    EXPECT_EQ(interleavings(4, 2, 99), 2520U);
}

TEST(depth_first, preemption_bound) {
    EXPECT_EQ(interleavings(2, 2, 0), 2U);
    EXPECT_EQ(interleavings(3, 2, 0), 6U);
    // Two without, and one preemption in the middle of either first thread.
    EXPECT_EQ(interleavings(2, 2, 1), 4U);
}

TEST(depth_first, budget) {
    options o = exhaustive();
    o.executions = 5;
    result const r = explore("budget", o, [](test& t) {
        auto& x = t.make<atomic<int>>(0);
        for (int i = 0; i < 2; ++i) {
            t.thread([&x] {
                x.fetch_add(1, relaxed);
                x.fetch_add(1, relaxed);
            });
        }
    });
    EXPECT_FALSE(r.complete);
    EXPECT_EQ(r.executions, 5U);
}

// -- random search finds what the exhaustive one does

TEST(random_search, finds_all_outcomes_of_iriw) {
    outcomes found;
    options const o = random(20000);
    result const r = explore("random_iriw", o, [&](test& t) {
        auto& s = t.make<two_words>();
        auto& out = t.make<std::vector<int>>(4U, -1);
        t.thread([&s] { s.x.store(1, release); });
        t.thread([&s] { s.y.store(1, release); });
        t.thread([&s, &out] {
            out[0] = s.x.load(acquire);
            out[1] = s.y.load(acquire);
        });
        t.thread([&s, &out] {
            out[2] = s.y.load(acquire);
            out[3] = s.x.load(acquire);
        });
        t.at_end([&] { found.insert(out); });
    });
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_EQ(found.size(), 16U);
}

} // namespace
