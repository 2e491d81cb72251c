// SPDX-License-Identifier: Apache-2.0
//
// Coherent memory: three hosts, two units of two bytes, locks, a barrier and flags. What a program
// without data races reads is what it would read on one host. Either all are on one machine, or the
// last one is on another: what is asked of it, and what it asks, is done at once here, as whoever
// asks waits for the answer.
#include "dsm/protocol.hpp"
#include "dsm/range_log.hpp"
#include "explorer/explore.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace tulle;
using machine = model::machine;
using dsm::host_number;
using dsm::line_number;
using dsm::line_range;

constexpr host_number k_hosts = 3;
constexpr line_number k_units = 2;
constexpr std::size_t k_bytes = 2; // of a unit

using byte = model::atomic<std::uint8_t>;
using unit_bytes = std::array<byte, k_bytes>;

// Errors that somebody might make.
enum class flaw {
    none,
    who_takes_over_is_no_reader,
    nothing_is_taken_over,
    homes_do_not_note_fetches,
    loads_are_not_checked
};

struct variant {
    bool has_two_machines = false;
    flaw wrong = flaw::none;
    dsm::outdated_copies outdated = dsm::outdated_copies::are_dropped;

    [[nodiscard]] bool checks_loads() const {
        return outdated == dsm::outdated_copies::are_dropped &&
               wrong != flaw::loads_are_not_checked;
    }

    [[nodiscard]] std::size_t machine_of(host_number h) const {
        return has_two_machines && h == k_hosts - 1 ? 1 : 0;
    }
};

template <std::size_t Length> struct shared_memory {
    using log = dsm::range_log<machine, Length>;

    struct machine_memory {
        std::array<byte, k_units> homes; // the first machine keeps them
        std::array<log, k_hosts> notices;
    };

    explicit shared_memory(std::size_t count) : machines(count) {}

    std::vector<machine_memory> machines;
    std::array<log, k_hosts*(k_hosts - 1)> fetches; // by reader and home
    std::array<std::array<unit_bytes, k_units>, k_hosts> copies;
    log nowhere; // which nobody reads
};

template <std::size_t Length> class world {
public:
    using machine = ::machine;
    template <class T> using list = std::vector<T>;
    template <class T> [[nodiscard]] static list<T> make_list() { return {}; }
    using log = typename shared_memory<Length>::log;

    world(shared_memory<Length>& all, host_number here, variant chosen)
        : m_all(all), m_here(here), m_chosen(chosen), m_machine(chosen.machine_of(here)) {
        m_states.fill(dsm::k_readable);
    }

    [[nodiscard]] host_number here() const { return m_here; }
    [[nodiscard]] static host_number hosts() { return k_hosts; }
    [[nodiscard]] static line_range unit_of(line_number line) { return {line, 1}; }
    byte& home_of(line_number line) { return m_all.machines[m_machine].homes.at(line); }
    log& notices_of(host_number writer) { return m_all.machines[m_machine].notices.at(writer); }
    log& fetches_of(host_number reader, host_number home) {
        if (m_chosen.wrong == flaw::who_takes_over_is_no_reader && m_takes_over)
            return m_all.nowhere;
        return m_all.fetches.at(reader * (k_hosts - 1) + (home > reader ? home - 1 : home));
    }
    [[nodiscard]] bool notes_fetches(host_number home) const {
        return m_chosen.machine_of(home) != m_machine;
    }
    template <class F> void claim(line_range lines, F claimed) {
        std::uint8_t home = 0;
        auto const own = static_cast<std::uint8_t>(m_here + 1);
        bool const is_new = m_all.machines[0]
                                .homes.at(lines.first)
                                .compare_exchange_strong(home, own, std::memory_order_relaxed,
                                                         std::memory_order_relaxed);
        home_of(lines.first).store(is_new ? own : home, std::memory_order_relaxed);
        if (is_new) claimed(unit_of(lines.first));
    }
    void tell(line_range lines) {
        notices_of(m_here).append(lines);
        m_told.push_back(lines);
    }
    void publish() {
        notices_of(m_here).publish();
        if (m_chosen.has_two_machines) tell_other_machine();
        m_told.clear();
    }
    [[nodiscard]] std::uint8_t state_of(line_number line) const {
        m_takes_over = m_states.at(line) == dsm::k_writable;
        return m_states.at(line);
    }
    void set_states(line_range lines, std::uint8_t state) {
        for (line_number k = lines.first; k < lines.end(); ++k) m_states.at(k) = state;
    }
    std::uint32_t& mark_of(line_number line) { return m_marks.at(line); }
    template <class F> void each_unit(F f) {
        for (line_number k = 0; k < k_units; ++k) f(line_range{k, 1});
    }

    static void expect_fetch(host_number /*home*/, line_range /*lines*/) {}
    void fetch(host_number home, line_range lines) {
        note_far(home, lines);
        for (line_number k = lines.first; k < lines.end(); ++k)
            for (std::size_t b = 0; b < k_bytes; ++b) set(own(k, b), get(of(home, k, b)));
    }
    static void expect_write_back(host_number /*home*/, line_range /*unit*/, std::size_t /*twin*/) {
    }
    void keep_twin(line_range unit, std::uint32_t twin) {
        for (std::size_t b = 0; b < k_bytes; ++b) m_twins.at(twin).at(b) = get(own(unit.first, b));
    }
    bool write_back(host_number home, line_range unit, std::size_t twin) {
        bool any = false;
        for (std::size_t b = 0; b < k_bytes; ++b) {
            std::uint8_t const now = get(own(unit.first, b));
            if (now == m_twins.at(twin).at(b)) continue;
            set(of(home, unit.first, b), now);
            any = true;
        }
        return any;
    }
    void take_over(host_number home, line_range unit, std::size_t twin) {
        if (m_chosen.wrong == flaw::nothing_is_taken_over) return;
        note_far(home, unit);
        for (std::size_t b = 0; b < k_bytes; ++b) {
            std::uint8_t const now = get(of(home, unit.first, b));
            if (now == m_twins.at(twin).at(b)) continue;
            m_twins.at(twin).at(b) = now;
            set(own(unit.first, b), now);
        }
    }

    byte& own(line_number unit, std::size_t b) { return of(m_here, unit, b); }

private:
    // What a home on another machine does when it is asked.
    void note_far(host_number home, line_range lines) {
        if (!notes_fetches(home) || m_chosen.wrong == flaw::homes_do_not_note_fetches) return;
        fetches_of(m_here, home).append(lines);
        fetches_of(m_here, home).publish();
        machine::fence_seq_cst();
    }
    void tell_other_machine() {
        auto& other = m_all.machines.at(1 - m_machine);
        auto& there = other.notices.at(m_here);
        for (line_range const lines : m_told) {
            for (line_number k = lines.first; k < lines.end(); ++k)
                set(other.homes.at(k), get(home_of(k)));
            there.append(lines);
        }
        there.publish();
    }
    byte& of(host_number host, line_number unit, std::size_t b) {
        return m_all.copies.at(host).at(unit).at(b);
    }
    static std::uint8_t get(byte& from) { return from.load(std::memory_order_relaxed); }
    static void set(byte& to, std::uint8_t value) { to.store(value, std::memory_order_relaxed); }

    shared_memory<Length>& m_all;
    host_number m_here;
    variant m_chosen;
    std::size_t m_machine;
    std::vector<line_range> m_told; // not published yet
    std::array<std::uint8_t, k_units> m_states{};
    std::array<std::uint32_t, k_units> m_marks{};
    std::array<std::array<std::uint8_t, k_bytes>, k_units> m_twins{};
    mutable bool m_takes_over = false;
};

// What a program on one host does.
template <std::size_t Length> class host {
public:
    host(shared_memory<Length>& all, host_number here, variant chosen)
        : m_world(all, here, chosen),
          m_protocol(m_world, chosen.outdated),
          m_checks_loads(chosen.checks_loads()) {}

    std::uint8_t load(line_number unit, std::size_t b) {
        if (m_checks_loads) m_protocol.make_loadable(unit);
        return m_world.own(unit, b).load(std::memory_order_relaxed);
    }
    void store(line_number unit, std::size_t b, std::uint8_t value) {
        m_protocol.make_usable({unit, 1}, dsm::access_kind::store);
        m_world.own(unit, b).store(value, std::memory_order_relaxed);
    }
    void add(line_number unit, std::size_t b) {
        store(unit, b, static_cast<std::uint8_t>(load(unit, b) + 1));
    }
    void release() { m_protocol.release(); }
    void acquire() { m_protocol.acquire(); }

    // Synchronisation that works on one host.
    using flag = model::atomic<std::uint32_t>;
    void lock(flag& word) {
        while (word.exchange(1, std::memory_order_acquire) != 0) machine::pause();
        acquire();
    }
    void unlock(flag& word) {
        release();
        word.store(0, std::memory_order_release);
    }
    void raise(flag& word) {
        release();
        word.fetch_add(1, std::memory_order_release);
    }
    void await(flag& word, std::uint32_t count) {
        while (word.load(std::memory_order_acquire) < count) machine::pause();
        acquire();
    }

private:
    world<Length> m_world;
    dsm::protocol<world<Length>> m_protocol;
    bool m_checks_loads;
};

template <std::size_t Length> struct hosts {
    shared_memory<Length> all;
    std::vector<std::unique_ptr<host<Length>>> each;
    std::array<model::atomic<std::uint32_t>, 3> flags;

    explicit hosts(variant chosen) : all(chosen.has_two_machines ? 2 : 1) {
        for (host_number h = 0; h < k_hosts; ++h)
            each.push_back(std::make_unique<host<Length>>(all, h, chosen));
    }
    host<Length>& at(host_number h) { return *each.at(h); }
};

constexpr std::size_t k_usual = 8; // of a log
constexpr std::size_t k_short = 2;
constexpr std::size_t k_of_two_machines = 4;

// Each counts in one byte under a lock, and writes into the other byte of that unit and into
// another unit what nobody else does.
template <std::size_t Length> model::test_body count(int threads, int times, variant chosen = {}) {
    return [=](model::test& t) {
        auto& all = t.make<hosts<Length>>(chosen);
        for (int k = 0; k < threads; ++k)
            t.thread([&all, k, times] {
                auto& h = all.at(static_cast<host_number>(k));
                for (int n = 0; n < times; ++n) {
                    if (k < 2) h.add(static_cast<line_number>(k), 1);
                    h.lock(all.flags[0]);
                    h.add(0, 0);
                    h.unlock(all.flags[0]);
                }
            });
        t.at_end([=, &all] {
            auto& h = all.at(k_hosts - 1);
            h.acquire();
            model::check(h.load(0, 0) == threads * times, "each turn has been counted");
            for (int k = 0; k < 2 && k < threads; ++k) {
                all.at(static_cast<host_number>(k)).release();
                h.acquire();
                model::check(h.load(static_cast<line_number>(k), 1) == times,
                             "what one host wrote is there");
            }
        });
    };
}

// A value goes through two locks that have one host in common.
template <std::size_t Length> model::test_body pass_on(variant chosen = {}) {
    return [=](model::test& t) {
        auto& all = t.make<hosts<Length>>(chosen);
        t.thread([&all] {
            auto& h = all.at(0);
            h.store(0, 0, 1);
            h.store(1, 0, 2);
            h.raise(all.flags[0]);
            h.await(all.flags[2], 1);
            model::check(h.load(1, 0) == 4 && h.load(0, 1) == 3, "it has come back");
        });
        t.thread([&all] {
            auto& h = all.at(1);
            h.await(all.flags[0], 1);
            model::check(h.load(0, 0) == 1, "the first has come");
            h.store(0, 1, 3);
            h.raise(all.flags[1]);
        });
        t.thread([&all] {
            auto& h = all.at(2);
            h.await(all.flags[1], 1);
            model::check(h.load(0, 0) == 1 && h.load(1, 0) == 2 && h.load(0, 1) == 3,
                         "all of it has come");
            h.store(1, 0, 4);
            h.raise(all.flags[2]);
        });
    };
}

// Rounds between barriers: all write their own byte of one unit, then all read all.
template <std::size_t Length> model::test_body rounds(int times, variant chosen = {}) {
    return [=](model::test& t) {
        auto& all = t.make<hosts<Length>>(chosen);
        for (int k = 0; k < 2; ++k)
            t.thread([&all, k, times] {
                auto& h = all.at(static_cast<host_number>(k));
                std::uint32_t passed = 0;
                for (int n = 1; n <= times; ++n) {
                    auto const value = static_cast<std::uint8_t>(n);
                    h.store(0, static_cast<std::size_t>(k), value);
                    h.raise(all.flags[0]);
                    h.await(all.flags[0], passed += 2);
                    model::check(h.load(0, 0) == value && h.load(0, 1) == value, "both are there");
                    h.raise(all.flags[0]);
                    h.await(all.flags[0], passed += 2);
                }
            });
    };
}

// A reader fetches while the home writes what it does not look at, and goes on without a notice.
model::test_body look_beside(variant chosen = {}) {
    return [=](model::test& t) {
        auto& all = t.make<hosts<k_usual>>(chosen);
        t.thread([&all] {
            auto& h = all.at(0);
            h.store(0, 0, 1);
            h.raise(all.flags[0]);
            h.store(0, 1, 2);
            h.raise(all.flags[1]);
            h.store(0, 1, 3);
            h.raise(all.flags[2]);
        });
        t.thread([&all] {
            auto& h = all.at(1);
            h.await(all.flags[0], 1);
            model::check(h.load(0, 0) == 1, "what came first");
            h.await(all.flags[1], 1);
            h.await(all.flags[2], 1);
            model::check(h.load(0, 1) == 3, "what came last");
        });
    };
}

// A reader that lost nothing has seen each range once, in order.
model::test_body read_a_log(line_number ranges) {
    return [=](model::test& t) {
        auto& log = t.make<dsm::range_log<machine, k_short>>();
        t.thread([&log, ranges] {
            for (line_number k = 1; k <= ranges; ++k) {
                log.append({k, k});
                log.publish();
            }
        });
        t.thread([&log] {
            std::uint64_t seen = 0;
            for (int times = 0; times < 2; ++times) {
                std::vector<line_range> found;
                std::uint64_t const from = seen;
                if (!log.read(seen, [&](line_range r) { found.push_back(r); })) continue;
                model::check(found.size() == seen - from, "as many as were published");
                for (std::size_t k = 0; k < found.size(); ++k)
                    model::check(found[k].first == from + k + 1 && found[k].count == found[k].first,
                                 "each is the next one");
            }
        });
    };
}

model::options quick(std::size_t executions) {
    return model::without_heavy_fence(model::random(executions));
}

TEST(coherence, of_two_exhaustively) {
    model::result const r =
        model::explore("coherence_rounds", model::without_heavy_fence(model::exhaustive(2, 60000)),
                       rounds<k_usual>(1));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(coherence, logs_tell_what_was_lost) {
    model::result const r = model::explore(
        "coherence_log", model::without_heavy_fence(model::exhaustive(3, 60000)), read_a_log(4));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(coherence, counts_under_a_lock) {
    model::result const r = model::explore("coherence_count", quick(20000), count<k_usual>(3, 2));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(coherence, passes_on_what_others_wrote) {
    model::result const r = model::explore("coherence_pass_on", quick(20000), pass_on<k_usual>());
    EXPECT_TRUE(r.passed()) << r;
}

TEST(coherence, goes_in_rounds) {
    model::result const r = model::explore("coherence_rounds_3", quick(20000), rounds<k_usual>(3));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(coherence, notices_what_was_fetched_while_it_was_written) {
    model::result const r = model::explore("coherence_look_beside", quick(20000), look_beside());
    EXPECT_TRUE(r.passed()) << r;
}

TEST(coherence, bears_the_loss_of_log_entries) {
    model::result r = model::explore("coherence_count_short", quick(10000), count<k_short>(3, 3));
    EXPECT_TRUE(r.passed()) << r;
    r = model::explore("coherence_rounds_short", quick(10000), rounds<k_short>(3));
    EXPECT_TRUE(r.passed()) << r;
}

constexpr variant k_two_machines{true};

TEST(coherence, of_two_machines) {
    model::result r = model::explore("coherence_far_count", quick(10000),
                                     count<k_of_two_machines>(3, 2, k_two_machines));
    EXPECT_TRUE(r.passed()) << r;
    r = model::explore("coherence_far_pass_on", quick(10000),
                       pass_on<k_of_two_machines>(k_two_machines));
    EXPECT_TRUE(r.passed()) << r;
    r = model::explore("coherence_far_short", quick(6000), count<k_short>(3, 2, k_two_machines));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(coherence, needs_no_checks_of_loads_where_copies_are_refreshed) {
    for (bool const has_two_machines : {false, true}) {
        variant const refreshed{has_two_machines, flaw::none, dsm::outdated_copies::are_refreshed};
        std::string const of = has_two_machines ? "coherence_far_" : "coherence_";
        auto const expect_right = [&of](std::string const& name, model::test_body const& body) {
            model::result const r = model::explore((of + name).c_str(), quick(6000), body);
            EXPECT_TRUE(r.passed()) << r;
        };
        expect_right("refreshed_count", count<k_of_two_machines>(3, 2, refreshed));
        expect_right("refreshed_pass_on", pass_on<k_of_two_machines>(refreshed));
        expect_right("refreshed_rounds", rounds<k_of_two_machines>(3, refreshed));
        expect_right("refreshed_short", count<k_short>(3, 2, refreshed));
        if (!has_two_machines) expect_right("refreshed_beside", look_beside(refreshed));
    }
}

void expect_found(char const* name, model::test_body const& body) {
    model::options o = quick(60000);
    o.expect_failure = true;
    model::result const r = model::explore(name, o, body);
    EXPECT_NE(r.message.find("check failed"), std::string::npos) << r;
}

TEST(coherence, of_flawed_protocols_is_found_to_be_none) {
    expect_found("coherence_no_reader",
                 count<k_usual>(2, 3, {false, flaw::who_takes_over_is_no_reader}));
    expect_found("coherence_no_merge", count<k_usual>(2, 2, {false, flaw::nothing_is_taken_over}));
    expect_found("coherence_far_not_noted",
                 count<k_of_two_machines>(3, 2, {true, flaw::homes_do_not_note_fetches}));
    expect_found("coherence_unchecked_loads",
                 pass_on<k_usual>({false, flaw::loads_are_not_checked}));
}

TEST(coherence, every_order_is_needed) {
    auto mutants = model::weaken_each("coherence_weak_count", quick(6000), count<k_short>(3, 3));
    mutants = model::found_by_any(
        mutants, model::weaken_each("coherence_weak_beside", quick(6000), look_beside()));
    mutants = model::found_by_any(
        mutants, model::weaken_each("coherence_weak_pass_on", quick(6000), pass_on<k_usual>()));
    mutants = model::found_by_any(
        mutants, model::weaken_each("coherence_weak_log", quick(6000), read_a_log(4)));
    std::erase_if(mutants, [](model::mutant const& m) {
        return m.change.where.file != "protocol.hpp" && m.change.where.file != "range_log.hpp";
    });
    EXPECT_GE(mutants.size(), 5U);
    EXPECT_EQ(model::survivors(mutants), "");
}

} // namespace
