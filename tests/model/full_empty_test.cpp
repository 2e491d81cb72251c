// SPDX-License-Identifier: Apache-2.0
//
// Full/empty words by address: a table of two or four slots, every operation against every other in
// each state, time-outs, words that share a slot or a granule. Nothing written is lost or read
// twice, and no wake-up is lost (it would show as a deadlock).
#include "base/sanitize.hpp"
#include "sync/full_empty_table.hpp"
#include "sync_world.hpp"
#include "value_cell.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace tulle;
using enum std::memory_order;
using op = tulle::detail::feb_operation;
using sync::word_result;

using table = sync::full_empty_table<model::parking>;

// A word of the simulated memory, at an address that is a number.
template <bool IsLock> class basic_cell : public model::value_cell {
public:
    using value_type = std::uint64_t;
    static constexpr bool k_is_lock = IsLock;

    basic_cell(model::atomic<std::uint64_t>& value, std::uintptr_t address)
        : value_cell(value), m_address(address) {}
    [[nodiscard]] std::uintptr_t address() const { return m_address; }

private:
    std::uintptr_t m_address;
};

using cell = basic_cell<false>;
using word = sync::full_empty_word<model::parking, cell>;
using lock_word = sync::full_empty_word<model::parking, basic_cell<true>>;

// Five words: 0, 1 and 4 have slots of their own, 2 shares a slot with 0, 3 shares a granule with
// 0.
struct memory {
    static constexpr std::uintptr_t k_addresses[] = {0x1000, 0x1008, 0x1020, 0x1004, 0x1010};

    model::parking_world world;
    std::array<table::slot_type, 4> slots;
    std::array<table::count_type, 4> emptyings;
    std::array<model::atomic<std::uint64_t>, 5> values;
    // What a writer has left for the one that gets its value.
    std::array<model::plain<int>, 5> notes;

    word at(std::size_t k) {
        return {table(slots.data(), emptyings.data(), slots.size()),
                cell(values[k], k_addresses[k])};
    }
    void start(std::size_t k, bool full, std::uint64_t value) {
        values[k].store(value, relaxed);
        if (!full) static_cast<void>(at(k).empty());
    }
    bool is_quiet() {
        for (auto const& s : slots)
            if (s.load(relaxed) != 0) return false;
        return true;
    }
    std::uint64_t apply(op what, std::size_t k, std::uint64_t value = 0) {
        word w = at(k);
        word_result r = word_result::done;
        switch (what) {
            case op::read_ff: r = w.read_ff(value, ~std::uint64_t{0}); break;
            case op::read_fe: r = w.read_fe(value, ~std::uint64_t{0}); break;
            case op::write_ef: r = w.write_ef(value, ~std::uint64_t{0}); break;
            case op::fill: r = w.fill(); break;
            case op::empty: r = w.empty(); break;
            default: r = w.perform(what, value, ~std::uint64_t{0});
        }
        model::check(r == word_result::done, "it waits as long as it takes");
        return value;
    }
};

model::options random(std::size_t executions) {
    return model::without_heavy_fence(model::random(executions));
}
// ThreadSanitizer gets a sample.
constexpr std::size_t k_most = base::k_thread_sanitizer ? 4000 : 50000;
constexpr std::size_t k_per_pair = base::k_thread_sanitizer ? 40 : 200;

model::options exhaustive(unsigned preemptions) {
    return model::without_heavy_fence(model::exhaustive(preemptions, k_most));
}

// --- values go from writers to takers, each to one, with what came before it ---------------------

// `k`: all use this word; with `spread`, the pairs use words that share a slot.
struct shape {
    int pairs = 1;
    int rounds = 1;
    bool spread = false;
    bool full = false; // at the start, with the value 0, which a taker gets in addition
    int patient = 0;   // threads that take with a time-out, once
};

struct counts {
    int parks = 0;
    int time_outs = 0;
};

struct exchange : memory {
    std::array<model::atomic<int>, 16> got;
    model::atomic<int> given_up{0};

    void put(std::size_t k, std::uint64_t number) {
        notes[number].store(1);
        static_cast<void>(apply(op::write_ef, k, number));
    }
    void get(std::size_t k) { note(apply(op::read_fe, k)); }
    void note(std::uint64_t number) {
        model::check(number < notes.size(), "somebody has written this");
        if (number != 0)
            model::check(notes[number].load() == 1, "what the writer did comes with the value");
        got[number].fetch_add(1, relaxed);
    }
    void get_in_time(std::size_t k) {
        std::uint64_t value = 0;
        if (at(k).read_fe(value, 2) == word_result::done)
            note(value);
        else
            given_up.fetch_add(1, relaxed);
    }
};

model::test_body body(shape s, counts* seen = nullptr) {
    return [=](model::test& t) {
        auto& e = t.make<exchange>();
        for (std::size_t k = 0; k < e.values.size(); ++k)
            e.start(k, k != 0 && (k != 2 || !s.spread), 0);
        int const values = s.pairs * s.rounds;
        for (int p = 0; p < s.pairs; ++p) {
            std::size_t const k = s.spread && p % 2 == 1 ? 2 : 0;
            t.thread([&e, s, k, p] {
                for (int r = 0; r < s.rounds; ++r)
                    e.put(k, static_cast<std::uint64_t>(1 + p * s.rounds + r));
            });
            t.thread([&e, s, k, p] {
                for (int r = 0; r < s.rounds - (p == 0 ? s.patient : 0); ++r) e.get(k);
            });
        }
        for (int i = 0; i < s.patient; ++i) t.thread([&e] { e.get_in_time(0); });
        if (s.patient > 0) t.thread([&e] { e.world.time_passes(); });
        t.at_end([=, &e] {
            int taken = 0;
            for (int v = 1; v <= values; ++v) {
                int const times = e.got[static_cast<std::size_t>(v)].load(relaxed);
                model::check(times <= 1, "each value is taken once at most");
                taken += times;
            }
            int const given_up = e.given_up.load(relaxed);
            model::check(taken + given_up == values,
                         "what nobody has taken is what somebody gave up");
            for (std::size_t k = 0; k < e.values.size(); ++k) static_cast<void>(e.at(k).fill());
            model::check(e.is_quiet(), "the table forgets words that are full");
            if (seen == nullptr) return;
            seen->parks += e.world.parks;
            seen->time_outs += given_up;
        });
    };
}

TEST(full_empty, one_pair) {
    counts seen;
    model::result const r = model::explore("feb_pair", exhaustive(3), body({.rounds = 2}, &seen));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(static_cast<std::size_t>(seen.parks), r.executions / 100);
}

TEST(full_empty, two_pairs_on_one_word) {
    counts seen;
    model::result const r = model::explore("feb_pairs", random(30000), body({.pairs = 2}, &seen));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(static_cast<std::size_t>(seen.parks), r.executions / 30);
}

TEST(full_empty, two_pairs_on_one_slot) {
    model::result const r =
        model::explore("feb_slot", random(30000), body({.pairs = 2, .spread = true}));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(full_empty, time_outs) {
    counts seen;
    model::result const r =
        model::explore("feb_timed", random(40000), body({.rounds = 2, .patient = 1}, &seen));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(static_cast<std::size_t>(seen.time_outs), r.executions / 200);
}

// A limit starts before the word's lock is released: else the waiter may be served, and its frame
// be gone, before.
TEST(full_empty, serves_while_a_limit_starts) {
    using parking = model::parking_elsewhere;
    struct far_memory {
        model::parking_world world;
        std::array<table::slot_type, 1> slots;
        std::array<table::count_type, 1> emptyings;
        model::atomic<std::uint64_t> value;
        bool taken = false;

        sync::full_empty_word<parking, cell> at() {
            return {sync::full_empty_table<parking>(slots.data(), emptyings.data(), slots.size()),
                    cell(value, 0x1000)};
        }
    };
    int taken = 0;
    model::result const r =
        model::explore("feb_limit_starts", random(10000), [&taken](model::test& t) {
            auto& m = t.make<far_memory>();
            static_cast<void>(m.at().empty());
            t.thread([&m] {
                std::uint64_t v = 0;
                m.taken = m.at().read_fe(v, 2) == word_result::done;
                m.world.end_suspending();
            });
            t.thread([&m] { m.world.run_posts(1); });
            t.thread([&m] {
                std::uint64_t one = 1;
                static_cast<void>(m.at().perform(op::write_f, one, ~std::uint64_t{0}));
            });
            t.thread([&m] { m.world.time_passes(); });
            t.at_end([&] { taken += m.taken; });
        });
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(static_cast<std::size_t>(taken), r.executions / 20);
}

// --- the queue moves out of the frame of a thread that leaves
// ----------------------------------------------

struct hosted : memory {
    model::atomic<bool> host_is_gone{false};
    std::array<std::uint64_t, 3> got{};

    [[gnu::noinline]] static void overwrite_stack() {
        std::array<unsigned char volatile, 4096> zeros;
        for (auto& byte : zeros) byte = 0;
    }
    [[gnu::noinline]] void read_as_host() { got[0] = apply(op::read_ff, 0); }

    void host() {
        read_as_host();
        overwrite_stack();
        host_is_gone.store(true, release); // pairs with write
    }
    void take(int after, std::size_t taker) {
        await_queued(after);
        got[taker] = apply(op::read_fe, 0);
    }
    void write() {
        await_queued(3);
        static_cast<void>(apply(op::write_ef, 0, 1));
        while (!host_is_gone.load(acquire)) model::machine::pause(); // pairs with host
        static_cast<void>(apply(op::write_ef, 0, 2));
    }
    void await_queued(int threads) const {
        while (world.parks < threads) model::machine::pause();
    }
};

// A reader hosts the queue, and two wait to take the value: the first value is for the reader and
// one of them, the other goes on waiting.
TEST(full_empty, a_reader_that_leaves_moves_the_queue) {
    model::result const r = model::explore("feb_host", random(2000), [](model::test& t) {
        auto& h = t.make<hosted>();
        h.start(0, false, 0);
        t.thread([&h] { h.host(); });
        t.thread([&h] { h.take(1, 1); });
        t.thread([&h] { h.take(2, 2); });
        t.thread([&h] { h.write(); });
        t.at_end([&h] {
            model::check(h.got == std::array<std::uint64_t, 3>{1, 1, 2},
                         "who waits is served in turn");
            static_cast<void>(h.apply(op::fill, 0));
            model::check(h.is_quiet(), "the table has forgotten the word");
        });
    });
    EXPECT_TRUE(r.passed()) << r;
}

// --- read_ff sees values of a full word only, and none that is older than it may be --------------

struct history : memory {
    // Each value is written by read_fe and write_ef(+1); in between the word is empty, and its
    // memory says something else.
    void increment() {
        std::uint64_t const v = apply(op::read_fe, 0);
        model::check(v < 3, "a number that somebody has counted to");
        notes[v + 1].store(static_cast<int>(v) + 1);
        values[0].store(99, relaxed); // by its owner
        static_cast<void>(apply(op::write_ef, 0, v + 1));
    }
    void watch(int times) {
        std::uint64_t last = 0;
        for (int i = 0; i < times; ++i) {
            std::uint64_t const v = apply(op::read_ff, 0);
            model::check(v != 99, "it was full when it was read");
            model::check(v >= last, "time does not run backwards");
            if (v != 0)
                model::check(notes[v].load() == static_cast<int>(v),
                             "what the writer did comes with the value");
            last = v;
        }
    }
};

model::test_body watching(int writers, int readers, int* parks = nullptr) {
    return [=](model::test& t) {
        auto& h = t.make<history>();
        for (int i = 0; i < writers; ++i) t.thread([&h] { h.increment(); });
        for (int i = 0; i < readers; ++i) t.thread([&h] { h.watch(2); });
        t.at_end([=, &h] {
            model::check(h.values[0].load(relaxed) == static_cast<std::uint64_t>(writers),
                         "no increment is lost");
            model::check(h.is_quiet(), "the table has forgotten the word");
            if (parks != nullptr) *parks += h.world.parks;
        });
    };
}

TEST(full_empty, readers_see_full_words_only) {
    int parks = 0;
    model::result const one = model::explore("feb_read", exhaustive(3), watching(1, 1, &parks));
    EXPECT_TRUE(one.passed()) << one;
    EXPECT_GT(parks, 10);
    model::result const more = model::explore("feb_reads", random(30000), watching(2, 2));
    EXPECT_TRUE(more.passed()) << more;
}

// --- every operation beside every other ----------------------------------------------------------

constexpr std::array k_all{op::read_ff, op::read_fe, op::write_ff, op::write_ef,
                           op::write_f, op::fill,    op::empty,    op::purge};

// Two operations on words that share a slot or are one, while a third thread keeps the word going
// so that neither waits for ever.
model::test_body side_by_side(op first, op second, std::size_t other_word, bool full) {
    return [=](model::test& t) {
        auto& m = t.make<memory>();
        m.start(0, full, 1);
        m.start(other_word, full, 1);
        auto& running = t.make<model::atomic<int>>(2);
        auto const run = [&m, &running](op what, std::size_t k, std::uint64_t value) {
            std::uint64_t const got = m.apply(what, k, value);
            if (what == op::read_ff || what == op::read_fe)
                model::check(got <= 5, "a value that somebody has written");
            running.fetch_sub(1, relaxed);
        };
        t.thread([run, first] { run(first, 0, 2); });
        t.thread([run, second, other_word] { run(second, other_word, 3); });
        t.thread([&m, &running, other_word] {
            for (int i = 0; running.load(relaxed) > 0 && i < 20; ++i) {
                for (std::size_t const k : {std::size_t{0}, other_word})
                    static_cast<void>(i % 2 == 0 ? m.apply(op::write_f, k, 4)
                                                 : m.apply(op::purge, k, 5));
                model::machine::pause();
            }
        });
        t.at_end([&m, other_word] {
            for (std::size_t const k : {std::size_t{0}, other_word})
                static_cast<void>(m.apply(op::fill, k));
            model::check(m.is_quiet(), "the table forgets words that are full");
        });
    };
}

TEST(full_empty, every_pair_of_operations_on_one_word) {
    for (op const first : k_all)
        for (op const second : k_all)
            for (bool const full : {false, true}) {
                std::string const name = "feb_" + std::to_string(int(first)) +
                                         std::to_string(int(second)) + (full ? "f" : "e");
                model::result const r =
                    model::explore(name, random(k_per_pair), side_by_side(first, second, 0, full));
                ASSERT_TRUE(r.passed()) << r;
            }
}

TEST(full_empty, every_pair_of_operations_on_words_that_share_a_slot) {
    for (op const first : k_all)
        for (op const second : k_all)
            for (std::size_t const other : {std::size_t{2}, std::size_t{3}})
                for (bool const full : {false, true}) {
                    std::string const name = "feb" + std::to_string(other) + "_" +
                                             std::to_string(int(first)) +
                                             std::to_string(int(second)) + (full ? "f" : "e");
                    model::result const r = model::explore(
                        name, random(k_per_pair / 2), side_by_side(first, second, other, full));
                    ASSERT_TRUE(r.passed()) << r;
                }
}

// --- words that are locks ------------------------------------------------------------------------

struct locks : memory {
    model::plain<int> entered{0};

    lock_word lock_at(std::size_t k) {
        return {table(slots.data(), emptyings.data(), slots.size()),
                basic_cell<true>(values[k], k_addresses[k])};
    }
    void take(std::size_t k) {
        std::uint64_t nothing = 0;
        lock_word w = lock_at(k);
        if (w.take_alone()) return;
        model::check(w.read_fe(nothing, ~std::uint64_t{0}) == word_result::done,
                     "it waits as long as it takes");
    }
    void give_back(std::size_t k) {
        lock_word w = lock_at(k);
        if (!w.give_back_alone()) static_cast<void>(w.fill());
    }
    void enter() { // without a race only if one at a time does
        take(0);
        entered.store(entered.load() + 1);
        give_back(0);
    }
    // Beside it in the slot.
    void use_neighbour() {
        take(2);
        give_back(2);
    }
};

void use_locks(model::test& t) {
    auto& l = t.make<locks>();
    for (int k = 0; k < 2; ++k)
        t.thread([&l] {
            l.enter();
            l.enter();
        });
    t.thread([&l] { l.use_neighbour(); });
    t.at_end([&l] {
        model::check(l.entered.load() == 4, "each has been in it");
        model::check(l.is_quiet(), "nobody holds or waits for a lock");
    });
}

// Two threads that go elsewhere where the lock is not free.
void try_lock(model::test& t) {
    auto& l = t.make<locks>();
    for (int k = 0; k < 2; ++k)
        t.thread([&l] {
            lock_word w = l.lock_at(0);
            if (!w.take_alone()) return;
            l.entered.store(l.entered.load() + 1);
            model::check(w.give_back_alone(), "nobody waits for it");
        });
}

TEST(full_empty, one_at_a_time_holds_a_lock) {
    for (model::options const& how : {exhaustive(3), random(k_most)}) {
        auto const r = model::explore("feb_lock", how, use_locks);
        ASSERT_TRUE(r.passed()) << r;
    }
}

// --- the orders ----------------------------------------------------------------------------------

// All that orders must give: as above; who empties a word passes on what came before to who fills
// it; so does who writes a full word, and who takes a value from the hand of its writer.
struct everything : history {
    model::plain<int> before_emptying{0}, before_overwriting{0};
    model::atomic<int> before_taking{0}, seen_by_filler{0};
    model::atomic<std::uint64_t> taken{0};

    void take() {
        before_taking.store(1, relaxed);
        taken.store(apply(op::read_fe, 4), relaxed);
    }
    void hand_over() { static_cast<void>(apply(op::write_ef, 4, 2)); }
    void fill_after() {
        static_cast<void>(apply(op::write_ef, 4, 3));
        seen_by_filler.store(before_taking.load(relaxed), relaxed);
    }
    void check_taken() {
        bool const was_before_filler = taken.load(relaxed) == 2;
        model::check(!was_before_filler || seen_by_filler.load(relaxed) == 1,
                     "what came before the taking comes before the filling");
    }

    void overwrite() {
        before_overwriting.store(1);
        static_cast<void>(apply(op::write_ff, 2, 7));
    }
    void see_overwritten() {
        if (apply(op::read_ff, 2) == 7)
            model::check(before_overwriting.load() == 1,
                         "what the writer did comes with the value");
    }
    void empty_next() {
        before_emptying.store(1);
        static_cast<void>(apply(op::empty, 1));
    }
    void fill_next() {
        static_cast<void>(apply(op::write_ef, 1, 3));
        model::check(before_emptying.load() == 1,
                     "what came before the emptying comes before the filling");
    }
};

TEST(full_empty, every_order_is_needed) {
    auto const mutants = model::weaken_each("feb_weakened", random(30000), [](model::test& t) {
        auto& e = t.make<everything>();
        e.start(4, false, 0);
        t.thread([&e] {
            e.increment();
            e.empty_next();
            e.fill_after();
        });
        t.thread([&e] {
            e.increment();
            e.fill_next();
        });
        t.thread([&e] {
            e.watch(2);
            e.see_overwritten();
            e.take();
        });
        t.thread([&e] {
            e.overwrite();
            e.hand_over();
        });
        t.at_end([&e] { e.check_taken(); });
    });
    EXPECT_GE(mutants.size(), 8U);
    EXPECT_EQ(model::survivors_in_code(mutants), "");
}

TEST(full_empty, every_order_of_a_lock_is_needed) {
    auto const mutants = model::weaken_each("feb_lock_weakened", exhaustive(2), try_lock);
    EXPECT_GE(mutants.size(), 2U);
    EXPECT_EQ(model::survivors_in_code(mutants), "");
}

} // namespace
