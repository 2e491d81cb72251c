// SPDX-License-Identifier: Apache-2.0
//
// The memory of coherence tests on the simulated machine: three hosts or more, two units of two
// bytes, and what programs on hosts do, who have one thread or two. Either all hosts are on one
// machine, or the last one is on another: what is asked of it, and what it asks, is done at once
// here, as whoever asks waits for the answer. Differences are sent when all have been found, as
// they are between machines: with the notices of them, or before, or some of the notices with
// theirs while the rest is still looked for. Of hosts with several threads the others go on while
// one waits for a unit; where they have one worker, that one goes on when it gets the worker again.
#pragma once

#include "base/spin_lock.hpp"
#include "dsm/grace_periods.hpp"
#include "dsm/protocol.hpp"
#include "dsm/range_log.hpp"
#include "explorer/explore.hpp"
#include "sched/rest_flag.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <tulle/coherent_abi.h>

namespace tulle::model::coherence {

using dsm::host_number;
using dsm::line_number;
using dsm::line_range;

inline constexpr host_number k_hosts = 3; // but for tests that need more
inline constexpr line_number k_units = 2;
inline constexpr std::size_t k_bytes = 2; // of a unit

using byte = model::atomic<std::uint8_t>;
using unit_bytes = std::array<byte, k_bytes>;

// Errors that somebody might make.
enum class flaw {
    none,
    who_takes_over_is_no_reader,
    nothing_is_taken_over,
    homes_do_not_note_fetches,
    notices_come_before_bytes,      // at the other machine
    full_notices_come_before_bytes, // there, those for which there is no more room
    releases_without_differences_stay_here,
    loads_are_not_checked,
    only_the_first_has_a_twin, // of units that are stored to by one check
    // Of hosts with several threads.
    rights_end_at_once,
    twins_stay_as_they_were,
    watched_units_are_dropped,
    // Of those whose threads wait for another machine.
    what_comes_is_current,
    who_waits_holds_no_check,
    who_goes_on_holds_no_older_check,
    others_go_on_during_a_release,
    others_go_on_during_an_acquire,
    who_wants_what_has_come_leaves_it,
    what_has_ended_ends_again,
    what_is_under_way_is_ended
};

// How a release tells the other machine.
enum class telling {
    at_once,  // differences and notices together, before the own machine has the notices
    in_parts, // differences, and notices once the own machine has them
    mixed     // as there is room for one notice, the others have gone before, with what was found
};

inline constexpr std::array k_each_way{telling::at_once, telling::in_parts, telling::mixed};

struct variant {
    bool has_two_machines = false;
    flaw wrong = flaw::none;
    dsm::outdated_copies outdated = dsm::outdated_copies::are_dropped;
    bool has_threads = false; // two of each host
    telling tells = telling::at_once;
    bool has_one_worker = false; // which the second thread keeps while it waits for a unit
    host_number hosts = k_hosts;

    [[nodiscard]] bool checks_loads() const {
        return outdated == dsm::outdated_copies::are_dropped &&
               wrong != flaw::loads_are_not_checked;
    }

    [[nodiscard]] std::size_t machine_of(host_number h) const {
        return has_two_machines && h == hosts - 1 ? 1 : 0;
    }
};

template <std::size_t Length> struct shared_memory {
    using log = dsm::range_log<machine, Length>;

    struct machine_memory {
        std::array<byte, k_units> homes; // the first machine keeps them
        std::vector<log> notices;

        explicit machine_memory(host_number hosts) : notices(hosts) {}
    };

    explicit shared_memory(variant chosen)
        : hosts(chosen.hosts), fetches(hosts * (hosts - 1)), copies(hosts) {
        machines.emplace_back(hosts);
        if (chosen.has_two_machines) machines.emplace_back(hosts);
        if (chosen.wrong == flaw::who_takes_over_is_no_reader) nowhere = std::make_unique<log>();
    }

    host_number hosts;
    std::deque<machine_memory> machines;
    std::vector<log> fetches; // by reader and home
    std::vector<std::array<unit_bytes, k_units>> copies;
    std::unique_ptr<log> nowhere; // which nobody reads
    base::basic_spin_lock<machine> serving;
};

// Where the threads of a host are.
class points {
public:
    static constexpr std::size_t k_threads = 2;

    points() {
        for (auto& rest : m_rests) rest.begin();
    }
    // By the thread. release: pairs with the fence that follows point_of.
    void enter(std::size_t thread) { m_rests.at(thread).end(); }
    void pass(std::size_t thread) {
        auto& passed = m_passed.at(thread);
        passed.store(passed.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }
    void leave(std::size_t thread) { m_rests.at(thread).begin(); }

    // What grace_periods asks for.
    [[nodiscard]] static bool is_only_one() { return false; }
    [[nodiscard]] static std::size_t most() { return k_threads; }
    [[nodiscard]] static std::size_t count() { return k_threads; }
    [[nodiscard]] std::size_t caller() const { return m_caller; }
    [[nodiscard]] std::uint64_t point_of(std::size_t thread) const {
        std::uint32_t const passed = m_passed.at(thread).load(std::memory_order_relaxed);
        return m_rests.at(thread).is_set() ? dsm::k_holds_no_check : passed;
    }
    void is_called_by(std::size_t thread) { m_caller = thread; }

private:
    std::array<model::atomic<std::uint32_t>, k_threads> m_passed;
    std::array<sched::rest_flag<machine>, k_threads> m_rests;
    std::size_t m_caller = 0; // guarded by the host's lock
};

template <std::size_t Length> class world {
public:
    using machine = model::machine;
    template <class T> using list = std::vector<T>;
    template <class T> [[nodiscard]] static list<T> make_list() { return {}; }
    using log = typename shared_memory<Length>::log;

    world(shared_memory<Length>& all, host_number here, variant chosen)
        : m_all(all),
          m_here(here),
          m_chosen(chosen),
          m_machine(chosen.machine_of(here)),
          m_lock(chosen.has_threads ? std::make_unique<base::basic_spin_lock<machine>>() : nullptr),
          m_worker(chosen.has_one_worker ? std::make_unique<base::basic_spin_lock<machine>>()
                                         : nullptr),
          m_points(chosen.has_threads ? std::make_unique<points>() : nullptr),
          m_grace(takes_time(chosen) ? m_points.get() : nullptr) {
        set_states({0, k_units}, dsm::k_readable);
    }

    [[nodiscard]] host_number here() const { return m_here; }
    [[nodiscard]] host_number hosts() const { return m_chosen.hosts; }
    [[nodiscard]] static line_range unit_of(line_number line) { return {line, 1}; }
    byte& home_of(line_number line) { return m_all.machines[m_machine].homes.at(line); }
    log& notices_of(host_number writer) { return m_all.machines[m_machine].notices.at(writer); }
    log& fetches_of(host_number reader, host_number home) {
        if (m_takes_over && reader == m_here && m_all.nowhere != nullptr) return *m_all.nowhere;
        return m_all.fetches.at(reader * (m_all.hosts - 1) + (home > reader ? home - 1 : home));
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
        if (m_chosen.tells == telling::mixed && !m_told.empty()) {
            if (m_chosen.wrong != flaw::full_notices_come_before_bytes) send_differences();
            tell_other_machine();
        }
        m_told.push_back(lines);
    }
    void publish() {
        if (m_chosen.wrong == flaw::others_go_on_during_a_release) go_on_later();
        bool const has_differences = !m_found.empty();
        bool const notices_first = m_chosen.wrong == flaw::notices_come_before_bytes;
        if (notices_first) tell_other_machine();
        send_differences();
        // One request has both, if there are differences.
        if (has_differences && m_chosen.tells != telling::in_parts) tell_other_machine();
        notices_of(m_here).publish();
        if (!has_differences && m_chosen.wrong == flaw::releases_without_differences_stay_here)
            m_told.clear();
        tell_other_machine();
    }
    [[nodiscard]] std::uint8_t state_of(line_number line) const {
        std::uint8_t const state = m_states.at(line).load(std::memory_order_relaxed);
        m_takes_over = state == dsm::k_writable;
        bool const is_hidden =
            state == dsm::k_watched && m_chosen.wrong == flaw::watched_units_are_dropped;
        return is_hidden ? dsm::k_readable : state;
    }
    // What a check of any thread finds.
    [[nodiscard]] std::uint8_t found_state(line_number line) const {
        return m_states.at(line).load(std::memory_order_acquire);
    }
    void set_states(line_range lines, std::uint8_t state) {
        for (line_number k = lines.first; k < lines.end(); ++k)
            m_states.at(k).store(state, std::memory_order_release);
    }
    // Null, both: there is one.
    points* threads() { return m_points.get(); }
    base::basic_spin_lock<machine>* lock() { return m_lock.get(); }
    // Held by the thread that runs.
    base::basic_spin_lock<machine>& worker() { return *m_worker; }
    dsm::grace_periods<machine, points>& grace() { return m_grace; }
    std::uint32_t& mark_of(line_number line) {
        bool const is_lost =
            m_chosen.wrong == flaw::what_comes_is_current && state_of(line) == dsm::k_on_its_way;
        return is_lost ? m_lost_mark = 0 : m_marks.at(line);
    }
    template <class F> void each_unit(F f) {
        for (line_number k = 0; k < k_units; ++k) f(line_range{k, 1});
    }

    static void expect_fetch(host_number /*home*/, line_range /*lines*/) {}
    void fetch(host_number home, line_range lines) {
        note_far(home, lines);
        for (line_number k = lines.first; k < lines.end(); ++k)
            for (std::size_t b = 0; b < k_bytes; ++b) set(own(k, b), get(of(home, k, b)));
    }
    [[nodiscard]] bool takes_long(host_number home) const {
        return m_lock != nullptr && notes_fetches(home);
    }
    // Who brings the lines needs no worker.
    bool fetch_meanwhile(host_number home, line_range lines) {
        fetch_under_way own{lines};
        m_under_way.push_back(&own);
        go_on_without_lock([&] {
            fetch(home, lines);
            own.has_come.store(1, std::memory_order_release);
        });
        if (own.is_ended) return m_chosen.wrong == flaw::what_has_ended_ends_again;
        std::erase(m_under_way, &own);
        return true;
    }
    template <class End> void let_others_go_on(End end) {
        go_on_without_lock([] { machine::pause(); });
        if (m_chosen.wrong == flaw::who_wants_what_has_come_leaves_it) return;
        std::erase_if(m_under_way, [&](fetch_under_way* one) {
            bool const ends = one->has_come.load(std::memory_order_acquire) != 0 ||
                              m_chosen.wrong == flaw::what_is_under_way_is_ended;
            if (!ends) return false;
            one->is_ended = true;
            end(one->lines);
            return true;
        });
    }
    static void expect_write_back(host_number /*home*/, line_range /*unit*/, std::size_t /*twin*/) {
    }
    void keep_twins(line_range units, std::uint32_t twin) {
        for (line_number k = 0; k < units.count; ++k) {
            if (k != 0 && m_chosen.wrong == flaw::only_the_first_has_a_twin) return;
            for (std::size_t b = 0; b < k_bytes; ++b)
                m_twins.at(twin + k).at(b) = get(own(units.first + k, b));
        }
    }
    dsm::line_bits write_back(host_number home, line_range units, std::size_t twin,
                              dsm::twin_use use) {
        dsm::line_bits changed = 0;
        for (line_number k = 0; k < units.count; ++k)
            if (write_back_one(home, units.first + k, twin + k, use)) changed |= 1U << k;
        return changed;
    }
    void begin_fetch(host_number home, line_range lines) { m_fetched.push_back({home, lines, 0}); }
    void end_fetches() {
        for (auto const& [home, lines, twin] : std::exchange(m_fetched, {})) fetch(home, lines);
    }
    void begin_take_over(host_number home, line_range unit, std::size_t twin) {
        m_taken_over.push_back({home, unit, twin});
    }
    void end_take_overs() {
        auto const all = std::exchange(m_taken_over, {});
        std::vector<std::array<std::uint8_t, k_bytes>> masters;
        for (begun const& one : all) masters.push_back(master_of(one));
        // Once, so that a second acquire overtakes the first one.
        if (m_chosen.wrong == flaw::others_go_on_during_an_acquire &&
            !std::exchange(m_others_have_gone_on, true))
            go_on_without_lock([] {
                constexpr int k_steps_of_others = 100; // as many as a release and an acquire take
                for (int k = 0; k < k_steps_of_others; ++k) machine::pause();
            });
        for (std::size_t k = 0; k < all.size(); ++k) take_over(masters[k], all[k]);
    }

    byte& own(line_number unit, std::size_t b) { return of(m_here, unit, b); }

private:
    struct begun {
        host_number home;
        line_range lines;
        std::size_t twin;
    };

    std::array<std::uint8_t, k_bytes> master_of(begun const& one) {
        std::array<std::uint8_t, k_bytes> master{};
        note_far(one.home, one.lines);
        for (std::size_t b = 0; b < k_bytes; ++b)
            master.at(b) = get(of(one.home, one.lines.first, b));
        return master;
    }
    void take_over(std::array<std::uint8_t, k_bytes> const& master, begun const& one) {
        if (m_chosen.wrong == flaw::nothing_is_taken_over) return;
        for (std::size_t b = 0; b < k_bytes; ++b) {
            if (master.at(b) == m_twins.at(one.twin).at(b)) continue;
            m_twins.at(one.twin).at(b) = master.at(b);
            set(own(one.lines.first, b), master.at(b));
        }
    }
    bool write_back_one(host_number home, line_number unit, std::size_t twin, dsm::twin_use use) {
        bool any = false;
        bool const goes_on =
            use == dsm::twin_use::goes_on && m_chosen.wrong != flaw::twins_stay_as_they_were;
        for (std::size_t b = 0; b < k_bytes; ++b) {
            std::uint8_t const now = get(own(unit, b));
            if (now == m_twins.at(twin).at(b)) continue;
            if (notes_fetches(home))
                m_found.push_back({home, unit, b, now});
            else
                set(of(home, unit, b), now);
            if (goes_on) m_twins.at(twin).at(b) = now;
            any = true;
        }
        return any;
    }
    void go_on_later() {
        go_on_without_lock([] { machine::pause(); });
    }
    struct fetch_under_way {
        line_range lines;
        byte has_come{};
        bool is_ended = false; // by another thread
    };
    struct difference {
        host_number home;
        line_number unit;
        std::size_t byte;
        std::uint8_t value;
    };

    // Meanwhile, and when the thread goes on, what is below it comes to points.
    template <class F> void go_on_without_lock(F meanwhile) {
        std::size_t const thread = m_points->caller();
        bool const leaves_worker = m_worker != nullptr && thread == 0;
        std::uint64_t const wait = begin_wait();
        m_lock->unlock();
        m_points->pass(thread);
        if (leaves_worker) m_worker->unlock();
        meanwhile();
        if (leaves_worker) m_worker->lock();
        m_points->pass(thread);
        m_lock->lock();
        m_points->is_called_by(thread);
        end_wait(wait);
    }
    std::uint64_t begin_wait() {
        return m_chosen.wrong == flaw::who_waits_holds_no_check ? 0 : m_grace.begin_wait();
    }
    void end_wait(std::uint64_t began) {
        if (m_chosen.wrong == flaw::who_waits_holds_no_check) return;
        if (m_chosen.wrong == flaw::who_goes_on_holds_no_older_check)
            m_points->is_called_by(points::k_threads); // whom nobody asks about
        m_grace.end_wait(began);
    }
    [[nodiscard]] static bool takes_time(variant const& chosen) {
        return chosen.has_threads && chosen.wrong != flaw::rights_end_at_once;
    }
    // What a home on another machine does when it is asked, for one after the other.
    void note_far(host_number home, line_range lines) {
        if (!notes_fetches(home) || m_chosen.wrong == flaw::homes_do_not_note_fetches) return;
        std::lock_guard const alone(m_all.serving);
        fetches_of(m_here, home).append(lines);
        fetches_of(m_here, home).publish();
        machine::fence_seq_cst();
    }
    void send_differences() {
        for (difference const& d : m_found) set(of(d.home, d.unit, d.byte), d.value);
        m_found.clear();
    }
    // If it does not know yet.
    void tell_other_machine() {
        if (!m_chosen.has_two_machines) m_told.clear();
        if (m_told.empty()) return;
        auto& other = m_all.machines.at(1 - m_machine);
        auto& there = other.notices.at(m_here);
        for (line_range const lines : m_told) {
            for (line_number k = lines.first; k < lines.end(); ++k)
                set(other.homes.at(k), get(home_of(k)));
            there.append(lines);
        }
        there.publish();
        m_told.clear();
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
    std::vector<begun> m_fetched, m_taken_over;
    bool m_others_have_gone_on = false;
    std::vector<fetch_under_way*> m_under_way;
    std::vector<difference> m_found; // in units of homes on the other machine, not there yet
    std::unique_ptr<base::basic_spin_lock<machine>> m_lock;
    std::unique_ptr<base::basic_spin_lock<machine>> m_worker;
    std::unique_ptr<points> m_points;
    dsm::grace_periods<machine, points> m_grace;
    std::array<byte, k_units> m_states;
    std::array<std::uint32_t, k_units> m_marks{};
    std::uint32_t m_lost_mark = 0;
    std::array<std::array<std::uint8_t, k_bytes>, k_units> m_twins{};
    mutable bool m_takes_over = false;
};

// What a host has.
template <std::size_t Length> struct host {
    host(shared_memory<Length>& all, host_number here, variant chosen)
        : memory(all, here, chosen),
          protocol(memory, chosen.outdated),
          checks_loads(chosen.checks_loads()) {}

    world<Length> memory;
    dsm::protocol<world<Length>> protocol;
    bool checks_loads;
};

// What a program does in one thread of a host.
template <std::size_t Length> class user {
public:
    user(host<Length>& of, std::size_t thread) : m_host(of), m_thread(thread) {}

    // A check, and an access that one allows.
    void may_load(line_number unit) {
        if (!m_host.checks_loads || !forbids(unit, TULLE_COHERENT_NO_LOAD)) return;
        alone([&] { m_host.protocol.make_loadable(unit); });
    }
    void may_store(line_number unit) {
        if (!forbids(unit, TULLE_COHERENT_NO_LOAD | TULLE_COHERENT_NO_STORE)) return;
        alone([&] { m_host.protocol.make_usable({unit, 1}, dsm::access_kind::store); });
    }
    // One check ahead of stores to all units.
    void may_store_all() {
        bool any = false;
        for (line_number k = 0; k < k_units; ++k)
            any |= forbids(k, TULLE_COHERENT_NO_LOAD | TULLE_COHERENT_NO_STORE);
        if (!any) return;
        alone([&] { m_host.protocol.make_usable({0, k_units}, dsm::access_kind::store); });
    }
    std::uint8_t get(line_number unit, std::size_t b) {
        return m_host.memory.own(unit, b).load(std::memory_order_relaxed);
    }
    void put(line_number unit, std::size_t b, std::uint8_t value) {
        m_host.memory.own(unit, b).store(value, std::memory_order_relaxed);
    }

    std::uint8_t load(line_number unit, std::size_t b) {
        may_load(unit);
        return get(unit, b);
    }
    void store(line_number unit, std::size_t b, std::uint8_t value) {
        may_store(unit);
        put(unit, b, value);
    }
    void add(line_number unit, std::size_t b) {
        store(unit, b, static_cast<std::uint8_t>(load(unit, b) + 1));
    }
    void release() {
        pass();
        alone([&] { m_host.protocol.release(); });
    }
    void acquire() {
        pass();
        alone([&] { m_host.protocol.acquire(); });
    }

    // Synchronisation that works on one host.
    using flag = model::atomic<std::uint32_t>;
    void lock_only(flag& word) {
        while (word.exchange(1, std::memory_order_acquire) != 0) machine::pause();
    }
    void lock(flag& word) {
        lock_only(word);
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

    // Where threads of a host have one worker.
    void take_worker() { m_host.memory.worker().lock(); }
    void give_worker() { m_host.memory.worker().unlock(); }

    // Of threads of one host, which tell nobody.
    void begin() { m_host.memory.threads()->enter(m_thread); }
    void end() { m_host.memory.threads()->leave(m_thread); }
    void pass() {
        if (m_host.memory.lock() != nullptr) m_host.memory.threads()->pass(m_thread);
    }
    void raise_here(flag& word) {
        pass();
        word.fetch_add(1, std::memory_order_release);
    }
    void await_here(flag& word, std::uint32_t count) {
        pass();
        while (word.load(std::memory_order_acquire) < count) machine::pause();
    }

private:
    [[nodiscard]] bool forbids(line_number unit, unsigned bits) const {
        return (m_host.memory.found_state(unit) & bits) != 0;
    }
    template <class F> void alone(F f) {
        if (m_host.memory.lock() == nullptr) return f();
        std::lock_guard const held(*m_host.memory.lock());
        m_host.memory.threads()->is_called_by(m_thread);
        f();
    }

    host<Length>& m_host;
    std::size_t m_thread;
};

template <std::size_t Length> struct hosts {
    shared_memory<Length> all;
    std::vector<std::unique_ptr<host<Length>>> each;
    std::vector<user<Length>> users;
    std::array<model::atomic<std::uint32_t>, 4> flags;

    explicit hosts(variant chosen) : all(chosen) {
        for (host_number h = 0; h < chosen.hosts; ++h) {
            each.push_back(std::make_unique<host<Length>>(all, h, chosen));
            for (std::size_t k = 0; k < points::k_threads; ++k) users.emplace_back(*each.back(), k);
        }
    }
    user<Length>& at(host_number h, std::size_t thread = 0) {
        return users.at(h * points::k_threads + thread);
    }
};

} // namespace tulle::model::coherence
