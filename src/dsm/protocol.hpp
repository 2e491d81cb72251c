// SPDX-License-Identifier: Apache-2.0
// How the copies that hosts have of coherent memory are kept alike: release consistency for
// programs without data races, several writers of one unit, invalidation. It is written once for
// the real memory and for the one in which tests/model explores it.
//
// Units. Each has a home, the host that first wrote it since all copies were alike; the home's copy
// is the master. What the home writes is in the master at once. Others read a unit by fetching it
// from there, and write into a copy beside which they keep what it was (a twin); at a release the
// bytes that differ go to the master.
//
// Release. A host tells in its log of notices which units it has written. A unit that nobody else
// has a copy of needs none: whoever fetches one says so in a log that the home reads, and the home
// forgets its readers when it tells that it has written the unit. It need not know of its own
// stores into a unit without readers; such units stay writable, and cost nothing. Away from home
// the one unit stays writable that a host writes between all its releases.
//
// Acquire. A host reads the logs of notices of all others. A unit in them that it has a copy of is
// gone from here, to be fetched when it is used. If it has written the unit itself, it takes over
// what others have changed instead, and is a reader of the home as if it had fetched it. Logs name
// units again and again; all are asked for together, when all logs are read.
//
// Copies that are refreshed. What an acquire hears of is fetched at once instead, so that each load
// finds all units there, and needs no check; what nobody here reads is fetched, too.
//
// Threads. Those of a host have one copy. A check holds until its thread synchronises, so another
// one may still load and store by what a check allowed before. Nobody is hurt by loads: the bytes
// of an outdated copy stay where they are until it is fetched again, and those that such a thread
// may look at are the same in the master. But stores may come to a unit after a release has made it
// readable. Until a grace period has passed such a unit is watched: at home it has a notice again
// whenever there are readers, and away it keeps its twin and is compared at each release. A twin
// takes each byte that was sent, so that nothing is sent twice, and an acquire changes no other
// bytes of the unit than others have changed. Where one thread alone uses the memory no grace
// period takes any time, and nothing is ever watched.
//
// A unit that takes long to come, from another machine, is on its way meanwhile, and the others go
// on. An acquire may hear of it then: what comes is outdated, though it is what the thread that
// waits has asked for, and whoever looks later asks again. Whoever finds that it has come may use
// it: the thread that has asked for it may have to wait for the one that wants it, and goes on some
// time, leaving alone what the others have made of the unit since. Releases and acquires are whole,
// however long they take, since a second one has to find the work of the first one done.
//
// A host that fetches says so before it reads the bytes; the home looks for readers after its
// stores. A fence at both makes that one of them sees the other: the copy has the stores, or the
// home knows that a notice is due.
//
// Sources: Keleher and others, TreadMarks (1994): twins and differences; Zhou, Iftode and Li, Home-
// based lazy release consistency (1996): masters at homes; Stets and others, Cashmere-2L (1997):
// units that one host alone uses are not followed.
#pragma once

#include "base/assert.hpp"
#include "dsm/geometry.hpp"
#include "dsm/line_range.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <tulle/coherent_abi.h>
#include <tulle/detail/attributes.hpp>

namespace tulle::dsm {

// States of a unit at a host, one for all of its lines.
inline constexpr std::uint8_t k_writable = TULLE_COHERENT_NO_ATOMIC; // away from home with a twin
inline constexpr std::uint8_t k_readable = TULLE_COHERENT_NO_STORE;
inline constexpr std::uint8_t k_watched = TULLE_COHERENT_NO_STORE | TULLE_COHERENT_CHANGING;
inline constexpr std::uint8_t k_absent = TULLE_COHERENT_NO_LOAD;
inline constexpr std::uint8_t k_on_its_way = TULLE_COHERENT_NO_LOAD | TULLE_COHERENT_CHANGING;

enum class access_kind : std::uint8_t { load, store };

// What becomes of the twin of a unit that is written back.
enum class twin_use : std::uint8_t { ends, goes_on };

// What an acquire does with the copies that are outdated.
enum class outdated_copies : std::uint8_t { are_dropped, are_refreshed };

// One host's part. One thread at a time calls it. World has the memory:
//   machine                        base::machine or model::machine
//   here(), hosts()                numbers of this host, and of all
//   unit_of(line)                  the lines of its unit
//   home_of(line)                  an atomic byte for the first line of a unit: 0 nobody, else 1
//                                  more than the number of the host; never changed again
//   claim(lines, f)                makes this host the home of the first unit, and perhaps of more
//                                  of these lines, if they have none; calls f(unit) for each
//   notices_of(writer), fetches_of(reader, home)   logs; who fetches from a home notes so in the
//                                  latter, unless notes_fetches(home): then the home does
//   tell(lines), publish()         appends to the notices of this host; lets all hosts read them,
//                                  once what has been written back is in the masters
//   state_of(line), set_states(lines, state)   checks of other threads look at states at any time:
//                                  what was done before happens before they find a new one
//   grace()                        grace_periods of the threads of this host
//   mark_of(line)                  a word of this host for the first line of a unit
//   each_unit(f)                   calls f(unit) for all that anybody has used
// and acts on copies, the bytes of which may be written by others meanwhile:
//   expect_fetch(home, lines)      a hint that fetch() follows soon
//   fetch(home, lines)             from the home's copy into the own one
//   begin_fetch(home, lines)       the same, by the end of end_fetches()
//   takes_long(home)               other threads of this host go on while something is fetched
//   fetch_meanwhile(home, lines)   as fetch() does, where they do; they may call this then. False:
//                                  one of them has found that the lines have come, and ended it
//   let_others_go_on(end)          for a moment; likewise. Calls end(lines) for what fetches of
//                                  others have brought by then, which ends them
//   keep_twins(units, k)           as the twins of so many lines, from line k of all twins on
//   expect_write_back(home, units, k)   a hint that write_back() follows soon, of the first of them
//   write_back(home, units, k, use)   what differs from the twins, of which k is the first one and
//                                  the others follow it, to the home's copy and, if the twins are
//                                  used again, to these. Which lines differ; k_line_bits lines at
//                                  most, or one unit, of which some bit says that anything does
//   begin_take_over(home, unit, k)   what differs between the home's copy and the twin, to both the
//                                  twin and the own copy, by the end of end_take_overs()
// make_list<T>() makes a list<T>, which has push_back, size, operator[], clear, as std::vector.
template <class World> class protocol {
    using machine = typename World::machine;
    template <class T> using list = typename World::template list<T>;

public:
    explicit protocol(World& world, // std::bad_alloc
                      outdated_copies outdated = outdated_copies::are_dropped)
        : m_world(world),
          m_refreshes(outdated == outdated_copies::are_refreshed),
          m_has_threads(world.grace().takes_time()),
          m_is_alone(!m_has_threads),
          m_notices_seen(world.hosts()),
          m_fetches_seen(world.hosts()),
          m_owned(world.template make_list<line_range>()),
          m_watched(world.template make_list<watched_unit>()),
          m_dirty(world.template make_list<dirty_run>()),
          m_free_twins(make_lists(std::make_index_sequence<k_unit_sizes>())),
          m_outdated(world.template make_list<line_range>()) {}

    // For a load, as make_usable: the way of most misses, which is as short as can be, so that a
    // processor is at the next one while it waits for the bytes of this one.
    void make_loadable(line_number line) noexcept {
        line_range const unit = m_world.unit_of(line);
        std::uint8_t const state = m_world.state_of(line);
        if (TULLE_LIKELY(state == k_absent)) return fetch_expected(home_of(unit), unit);
        if (state == k_on_its_way) make_usable(unit, access_kind::load);
    }
    // A hint that make_loadable() follows. By any thread, at any time.
    void expect_load(line_number line) noexcept {
        line_range const unit = m_world.unit_of(line);
        if (home_number(unit) != 0) m_world.expect_fetch(home_of(unit), unit);
    }
    // Makes all lines usable for the access, until the next acquire().
    void make_usable(line_range lines, access_kind wanted) noexcept {
        for (line_number at = lines.first; at < lines.end();) {
            line_range const unit = m_world.unit_of(at);
            std::uint8_t const state = m_world.state_of(at);
            if (state == k_absent) {
                line_range const came = fetch_from(unit, lines.end());
                at = wanted == access_kind::load ? came.end() : at; // once more, to store
                continue;
            }
            if (state == k_on_its_way) {
                m_world.let_others_go_on([this](line_range come) noexcept { end_fetch(come); });
                continue;
            }
            bool const asks =
                wanted == access_kind::store && (state & TULLE_COHERENT_NO_STORE) != 0;
            at = asks ? make_storable(unit, lines.end()) : unit.end();
        }
    }

    // Before this host lets another one go on. What it has written before happens before the end of
    // that one's acquire(), if that begins after what this host does next.
    void release() noexcept {
        if (m_has_threads) look_at_grace();
        machine::fence_seq_cst(); // pairs with the one of note_copy, and is that of last_ended
        release_behind_fence();
    }
    // Whether it takes a moment, where no other machine is told.
    [[nodiscard]] bool is_release_short() noexcept {
        if (m_owned.size() + m_dirty.size() > k_few_runs) return false;
        std::uint64_t lines = 0;
        for (std::size_t k = 0; k < m_owned.size(); ++k) lines += m_owned[k].count;
        for (std::size_t k = 0; k < m_dirty.size(); ++k) lines += m_dirty[k].units.count;
        return lines <= k_few_lines;
    }
    // The same, where one thread uses the memory, which has made that fence.
    void release_behind_fence() noexcept {
        if (m_owned.size() == 0 && m_dirty.size() == 0 && m_watched.size() == 0 && !has_fetches())
            return;
        forget_watched([this](watched_unit const& w) noexcept {
            return m_world.state_of(w.unit.first) == k_writable; // it is noticed anew
        });
        notice_owned();
        notice_fetched();
        watch_dirty();
        std::uint64_t const over_before = m_over;
        if (m_watches) begin_grace();
        // Of those of older releases others may have fetched one since the logs were read, and a
        // thread stored to it before the period ended: who has no notice here is asked once more.
        forget_watched([=, this](watched_unit const& w) noexcept {
            return w.until <= over_before || (w.until == m_next_over && w.until <= m_over);
        });
        write_back();
        end_notices();
    }
    // After this host was let go on.
    void acquire() noexcept {
        for (host_number h = 0; h < m_world.hosts(); ++h)
            if (h != m_world.here() && m_world.notices_of(h).has_more(m_notices_seen[h]))
                read_notices(h);
        renew_outdated();
    }

    // Lines that this host hears of now: all copies of what nobody has written are alike, and it
    // may have read of the others already that they were written.
    void expect_changes(line_range lines) noexcept { learn(lines); }
    // The home of a unit, which is this host from now on if it had none.
    [[nodiscard]] host_number claimed_home_of(line_number line) noexcept {
        line_range const unit = m_world.unit_of(line);
        if (home_number(unit) == 0) make_usable(unit, access_kind::store);
        return home_of(unit);
    }
    // Before an access to the master of another home: it comes after what this host has written.
    void bring_home(line_number line) noexcept {
        line_range const unit = m_world.unit_of(line);
        std::uint8_t const state = m_world.state_of(unit.first);
        if (state != k_writable && state != k_watched) return;
        if (m_world.write_back(home_of(unit), unit, mark_of(unit), twin_use::goes_on) != 0)
            notice(unit);
        end_notices();
    }
    // After this host has written into a master of its own by an access of which others may have
    // read already, where they may have copies.
    void has_written_home(line_number line) noexcept {
        machine::fence_seq_cst(); // pairs with the one of note_copy
        if (mark_of(m_world.unit_of(line)) == k_has_readers || has_fetches()) release();
    }
    // After this host has written into the master of another home.
    void has_written_away(line_number line) noexcept {
        line_range const unit = m_world.unit_of(line);
        notice(unit);
        end_notices();
        learn(unit); // the own copy is outdated as those of others are
    }
    // After this host has read in the master of another home what its copy may not have.
    void has_read_away(line_number line) noexcept { learn(m_world.unit_of(line)); }

private:
    static constexpr std::uint32_t k_no_reader = 0; // marks of units at their home
    static constexpr std::uint32_t k_has_readers = 1;
    static constexpr std::uint32_t k_is_listed = 1U << 31; // of units with a twin: see m_outdated
    static constexpr std::uint32_t k_is_current = 0;       // of units that are on their way
    static constexpr std::uint32_t k_is_outdated = 1;
    static constexpr std::uint64_t k_all_periods = ~std::uint64_t{0};
    static constexpr line_number k_no_line = ~line_number{0};
    static constexpr std::size_t k_ahead = 2;        // runs, while one is written back
    static constexpr std::size_t k_few_runs = 4;     // of a short release
    static constexpr std::uint64_t k_few_lines = 64; // likewise, in all

    // Until which grace period has ended; for dirty ones that are writable, this says nothing.
    struct watched_unit {
        line_range unit;
        std::uint64_t until;
    };
    // Units that follow each other, as their twins do, and have one size and one home. Stores go
    // from one end of memory to the other so often that a list of single units would be a part of
    // what is moved.
    struct dirty_run {
        line_range units;
        std::uint64_t until;
        std::uint32_t twin; // the line where that of the first unit begins

        [[nodiscard]] std::uint32_t end_twin() const noexcept {
            return twin + static_cast<std::uint32_t>(units.count);
        }
    };

    template <std::size_t... Each>
    [[nodiscard]] auto make_lists(std::index_sequence<Each...>) const {
        return std::array{
            (static_cast<void>(Each), m_world.template make_list<std::uint32_t>())...};
    }

    // --- before an access
    // Absent units that follow each other and have one home come together.
    line_range fetch_from(line_range unit, line_number end) noexcept {
        line_range const run = alike_run(unit, end);
        fetch(home_of(run), run);
        return run;
    }
    // The units behind this one that have its size, its state and its home, and this one.
    [[nodiscard]] line_range alike_run(line_range run, line_number end) const noexcept {
        return alike_run(run, end, home_number(run));
    }
    // The same of a home that was looked at before: another host may claim some without one now.
    [[nodiscard]] line_range alike_run(line_range run, line_number end,
                                       host_number home) const noexcept {
        if (run.end() >= end) return run;
        std::uint8_t const state = m_world.state_of(run.first);
        std::uint64_t const size = run.count;
        do {
            line_range const next = m_world.unit_of(run.end());
            if (m_world.state_of(next.first) != state || home_number(next) != home ||
                next.count != size)
                break;
            static_cast<void>(run.extend(next));
        } while (run.end() < end);
        return run;
    }
    void fetch(host_number home, line_range run) noexcept {
        m_world.expect_fetch(home, run);
        fetch_expected(home, run);
    }
    void fetch_expected(host_number home, line_range run) noexcept {
        if (TULLE_UNLIKELY(m_has_threads) && !m_refreshes && m_world.takes_long(home))
            return fetch_meanwhile(home, run);
        note_copy(home, run);
        m_world.fetch(home, run);
        m_world.set_states(run, k_readable);
    }
    TULLE_COLD void fetch_meanwhile(host_number home, line_range run) noexcept {
        m_world.set_states(run, k_on_its_way);
        mark_all(run, k_is_current);
        note_copy(home, run);
        if (m_world.fetch_meanwhile(home, run)) end_fetch(run);
    }
    // Once for each fetch, by the first one who knows that its lines have come.
    void end_fetch(line_range run) noexcept {
        each_unit_of(run, [this](line_range unit) noexcept {
            m_world.set_states(unit, mark_of(unit) == k_is_current ? k_readable : k_absent);
        });
    }
    // From now on this host has copies.
    void note_copy(host_number home, line_range lines) noexcept {
        if (m_world.notes_fetches(home)) return;
        auto& log = m_world.fetches_of(m_world.here(), home);
        log.append(lines);
        log.publish();
        machine::fence_seq_cst(); // pairs with the one of release
    }
    // Together with those behind it that are alike. Where the next one begins.
    line_number make_storable(line_range unit, line_number end) noexcept {
        if (home_number(unit) == 0) claim({unit.first, std::max(end, unit.end()) - unit.first});
        line_range const run = alike_run(unit, end);
        if (is_home(unit)) {
            m_world.set_states(run, k_writable);
            if (m_owned.size() == 0 || !m_owned[m_owned.size() - 1].extend(run))
                m_owned.push_back(run);
            return run.end();
        }
        bool const have_twins = m_world.state_of(unit.first) == k_watched;
        if (!have_twins) add_dirty(run);
        m_world.set_states(run, k_writable);
        return run.end();
    }
    void add_dirty(line_range units) noexcept {
        dirty_run run{};
        each_unit_of(units, [this, &run](line_range unit) noexcept {
            std::uint32_t const twin = next_twin(unit.count);
            mark_of(unit) = twin;
            if (twin == run.end_twin() && run.units.extend(unit)) return;
            if (!run.units.is_empty()) add_dirty_run(run);
            run = {unit, 0, twin};
        });
        add_dirty_run(run);
    }
    // What was added before the last release may be watched, and is left to itself.
    void add_dirty_run(dirty_run const& run) noexcept {
        m_world.keep_twins(run.units, run.twin);
        if (m_dirty.size() != 0) {
            dirty_run& last = m_dirty[m_dirty.size() - 1];
            if (last.until == 0 && last.end_twin() == run.twin && is_alike(last.units, run.units) &&
                last.units.extend(run.units))
                return;
        }
        m_dirty.push_back(run);
    }
    // Of units of so many lines.
    [[nodiscard]] list<std::uint32_t>& free_twins(std::uint64_t lines) noexcept {
        return m_free_twins[static_cast<std::size_t>(std::countr_zero(lines))];
    }
    // The first one is the next one that is taken.
    void free_twins_of(dirty_run const& run) noexcept {
        auto const lines = static_cast<std::uint32_t>(m_world.unit_of(run.units.first).count);
        for (std::uint32_t twin = run.end_twin(); twin != run.twin; twin -= lines)
            free_twins(lines).push_back(twin - lines);
    }
    // Where one of so many lines has room.
    [[nodiscard]] std::uint32_t next_twin(std::uint64_t lines) noexcept {
        auto& free = free_twins(lines);
        if (free.size() == 0) {
            TULLE_CHECK(m_twins < k_is_listed - lines,
                        "coherent memory: a process has written more than %zu GiB of what others "
                        "are the homes of, with no lock, barrier or event between",
                        std::size_t{k_is_listed / (1024 * 1024 * 1024 / TULLE_COHERENT_LINE)});
            return std::exchange(m_twins, m_twins + static_cast<std::uint32_t>(lines));
        }
        std::uint32_t const twin = free[free.size() - 1];
        free.resize(free.size() - 1);
        return twin;
    }
    void claim(line_range lines) noexcept {
        m_world.claim(lines, [this](line_range unit) noexcept {
            mark_of(unit) = k_has_readers; // all copies are alike
        });
    }
    // relaxed: the byte is written once, and stands for itself. Who fetches knows of the home by a
    // notice.
    [[nodiscard]] host_number home_number(line_range unit) const noexcept {
        return m_world.home_of(unit.first).load(std::memory_order_relaxed);
    }
    [[nodiscard]] host_number home_of(line_range unit) const noexcept {
        return home_number(unit) - 1;
    }
    // Whether units of both have one size and one home.
    [[nodiscard]] bool is_alike(line_range some, line_range others) const noexcept {
        return home_number(some) == home_number(others) &&
               m_world.unit_of(some.first).count == m_world.unit_of(others.first).count;
    }
    [[nodiscard]] bool is_home(line_range unit) const noexcept {
        return home_number(unit) == m_world.here() + 1;
    }
    [[nodiscard]] std::uint32_t& mark_of(line_range unit) const noexcept {
        return m_world.mark_of(unit.first);
    }
    void mark_all(line_range units, std::uint32_t mark) noexcept {
        each_unit_of(units, [this, mark](line_range unit) noexcept { mark_of(unit) = mark; });
    }

    // --- release
    template <class F> void each_unit_of(line_range lines, F f) noexcept {
        for (line_number at = lines.first; at < lines.end();) {
            line_range const unit = m_world.unit_of(at);
            f(unit);
            at = unit.end();
        }
    }
    // Calls f(units, number of their home).
    template <class F> void each_alike_of(line_range lines, F f) noexcept {
        for (line_number at = lines.first; at < lines.end();) {
            line_range const unit = m_world.unit_of(at);
            host_number const home = home_number(unit);
            line_range const run = alike_run(unit, lines.end(), home);
            f(run, home);
            at = run.end();
        }
    }
    void notice(line_range units) noexcept {
        if (m_noticed.extend(units)) return;
        if (!m_noticed.is_empty()) m_world.tell(m_noticed);
        m_noticed = units;
    }
    void end_notices() noexcept {
        if (m_noticed.is_empty()) return;
        m_world.tell(m_noticed);
        m_noticed = {};
        m_world.publish();
    }
    void look_at_grace() noexcept {
        m_watches = false;
        m_is_alone = m_world.grace().none_is_held();
        m_over = m_is_alone ? k_all_periods : m_world.grace().last_ended();
        m_next_over = m_world.grace().next();
    }
    // Whoever stores by a check yet to come asks.
    void begin_watch(line_range unit) noexcept {
        m_world.set_states(unit, k_watched);
        m_watches = true;
    }
    // Where no other thread holds a check it is over at once.
    void begin_grace() noexcept {
        m_world.grace().begin();
        m_over = m_world.grace().last_ended();
        machine::fence(std::memory_order_acquire); // that of last_ended
    }
    // Units that are alike, written by the home, which has to be told of the next store.
    void notice_home(line_range run) noexcept {
        notice(run);
        mark_all(run, k_no_reader);
        if (m_is_alone) return m_world.set_states(run, k_readable);
        if (m_world.state_of(run.first) == k_watched) return;
        begin_watch(run);
        each_unit_of(run, [this](line_range unit) noexcept {
            m_watched.push_back({unit, m_next_over});
        });
    }
    template <class F> void forget_watched(F is_done) noexcept {
        std::size_t kept = 0;
        for (std::size_t k = 0; k < m_watched.size(); ++k) {
            watched_unit const w = m_watched[k];
            if (!is_done(w))
                m_watched[kept++] = w;
            else if (m_world.state_of(w.unit.first) == k_watched)
                m_world.set_states(w.unit, k_readable);
        }
        m_watched.resize(kept);
    }
    // Those without readers stay writable, and whoever fetches one now is found by notice_fetched.
    void notice_owned() noexcept {
        for (std::size_t k = 0; k < m_owned.size(); ++k)
            each_unit_of(m_owned[k], [this](line_range unit) noexcept {
                if (mark_of(unit) == k_has_readers) notice_home(unit);
            });
        m_owned.clear();
    }
    [[nodiscard]] bool has_fetches() const noexcept {
        for (host_number h = 0; h < m_world.hosts(); ++h)
            if (h != m_world.here() &&
                m_world.fetches_of(h, m_world.here()).has_more(m_fetches_seen[h]))
                return true;
        return false;
    }
    void notice_fetched() noexcept {
        auto const fetched = [this](line_range lines) noexcept {
            each_alike_of(lines, [this](line_range run, host_number home) noexcept {
                if (home == m_world.here() + 1) was_fetched(run);
            });
        };
        for (host_number h = 0; h < m_world.hosts(); ++h) {
            if (h == m_world.here()) continue;
            auto const& log = m_world.fetches_of(h, m_world.here());
            if (!log.read(m_fetches_seen[h], fetched)) m_world.each_unit(fetched);
        }
    }
    // Units of this home that are alike. Those that are writable, or watched, may have been written
    // since.
    void was_fetched(line_range run) noexcept {
        if (m_world.state_of(run.first) != k_readable)
            notice_home(run);
        else
            mark_all(run, k_has_readers);
    }
    // Calls f(lines) for those that are wanted, units that follow each other together.
    template <class Wanted, class F> void each_run_of_dirty(Wanted is_wanted, F f) noexcept {
        line_range run;
        for (std::size_t k = 0; k < m_dirty.size(); ++k) {
            dirty_run const& d = m_dirty[k];
            if (!is_wanted(d) || run.extend(d.units)) continue;
            if (!run.is_empty()) f(run);
            run = d.units;
        }
        if (!run.is_empty()) f(run);
    }
    // Ahead of the comparison: who stores behind that has asked, or is waited for.
    void watch_dirty() noexcept {
        if (m_is_alone) return;
        for (std::size_t k = 0; k < m_dirty.size(); ++k) {
            split_dirty(k);
            dirty_run& d = m_dirty[k];
            if (m_world.state_of(d.units.first) != k_writable) continue;
            d.until = m_next_over;
            begin_watch(d.units);
        }
    }
    // Some of a run have been stored to again while it was watched. Those at its beginning that are
    // alike stay; the others go to the end of the list.
    void split_dirty(std::size_t k) noexcept {
        dirty_run& d = m_dirty[k];
        line_range const alike = alike_run(m_world.unit_of(d.units.first), d.units.end());
        if (alike.count == d.units.count) return;
        dirty_run const others{{alike.end(), d.units.count - alike.count},
                               d.until,
                               d.twin + static_cast<std::uint32_t>(alike.count)};
        d.units = alike;
        m_dirty.push_back(others);
    }
    // Whether nobody stores to it any more without asking.
    [[nodiscard]] bool ends_now(dirty_run const& d) const noexcept {
        return m_is_alone || d.until <= m_over;
    }
    [[nodiscard]] static line_bits all_of(line_range units) noexcept {
        return ~line_bits{0} >> (k_line_bits - std::min(units.count, k_line_bits));
    }
    // Units of a run that have changed, from its end on: those that follow each other are told of
    // together.
    class changed_units {
    public:
        explicit changed_units(protocol& p) noexcept : m_protocol(p) {}
        changed_units(changed_units const&) = delete;
        changed_units& operator=(changed_units const&) = delete;
        ~changed_units() { tell(); }
        void add(line_range units) noexcept {
            if (m_last.extend_down(units)) return;
            tell();
            m_last = units;
        }

    private:
        void tell() noexcept {
            if (!m_last.is_empty()) m_protocol.notice(m_last);
        }
        protocol& m_protocol;
        line_range m_last;
    };
    void add_changed(changed_units& all, line_range units, line_bits changed) noexcept {
        if (changed == all_of(units)) return all.add(units);
        for (line_number end = units.end(); end > units.first;) {
            line_range const unit = m_world.unit_of(end - 1);
            if ((changed >> (unit.first - units.first) & all_of(unit)) != 0) all.add(unit);
            end = unit.first;
        }
    }
    // What is written between all releases, such as a counter under a lock, is one unit. It stays
    // writable, and keeps its twin: to give both up only to ask for them again takes longer than
    // the comparison, which finds out when it was not written any more.
    [[nodiscard]] line_number only_dirty_unit() noexcept {
        if (!m_is_alone || m_dirty.size() != 1) return k_no_line;
        line_range const units = m_dirty[0].units;
        return m_world.unit_of(units.first).count == units.count ? units.first : k_no_line;
    }
    [[nodiscard]] bool is_written_again(line_number only) noexcept {
        line_number const before = std::exchange(m_written_before, only);
        if (TULLE_LIKELY(only == k_no_line || only != before)) return false;
        line_range const unit = m_dirty[0].units;
        bool const has_changed =
            m_world.write_back(home_of(unit), unit, m_dirty[0].twin, twin_use::goes_on) != 0;
        if (has_changed)
            notice(unit);
        else
            m_written_before = k_no_line;
        return has_changed;
    }
    void write_back() noexcept {
        if (is_written_again(only_dirty_unit())) return;
        bool all_end = true;
        each_run_of_dirty(
            [this, &all_end](dirty_run const& d) noexcept {
                bool const ends = ends_now(d);
                all_end &= ends;
                return ends;
            },
            [this](line_range run) noexcept { m_world.set_states(run, k_readable); });
        std::size_t kept = 0;
        for (std::size_t k = 0; k < m_dirty.size(); ++k) {
            dirty_run const run = m_dirty[k];
            write_back(run, k + k_ahead < m_dirty.size() ? &m_dirty[k + k_ahead] : nullptr);
            if (!ends_now(run))
                m_dirty[kept++] = run;
            else if (!all_end)
                free_twins_of(run);
        }
        m_dirty.resize(kept);
        if (kept != 0) return;
        for (auto& free : m_free_twins) free.clear(); // they follow each other again
        m_twins = 0;
    }
    // As many lines at once as there are bits, or a unit. From the end on: what was written last is
    // most likely in a cache still, and would be driven out before its turn came. `later` is
    // another run, which comes soon.
    void write_back(dirty_run const& run, dirty_run const* later) noexcept {
        twin_use const use = ends_now(run) ? twin_use::ends : twin_use::goes_on;
        line_range const unit = m_world.unit_of(run.units.first);
        host_number const home = home_of(unit);
        std::uint64_t const most = std::max(unit.count, k_line_bits); // a power of two
        std::uint64_t first = (run.units.count - 1) & ~(most - 1);
        changed_units all(*this);
        for (std::uint64_t end = run.units.count; end != 0; end = first, first -= most) {
            line_range const part{run.units.first + first, end - first};
            std::uint32_t const twin = run.twin + static_cast<std::uint32_t>(first);
            if (first == 0 && later != nullptr && later->units.count <= most)
                m_world.expect_write_back(home_of(later->units), later->units, later->twin);
            add_changed(all, part, m_world.write_back(home, part, twin, use));
        }
    }

    // --- acquire
    TULLE_NOINLINE void read_notices(host_number writer) noexcept {
        bool const is_whole = m_world.notices_of(writer).read(
            m_notices_seen[writer], [this](line_range lines) noexcept {
                each_alike_of(lines, [this](line_range run, host_number home) noexcept {
                    learn_of(run, home);
                });
            });
        if (!is_whole)
            m_world.each_unit(
                [this](line_range unit) noexcept { learn_of(unit, home_number(unit)); });
    }
    void learn(line_range lines) noexcept {
        each_alike_of(lines,
                      [this](line_range run, host_number home) noexcept { learn_of(run, home); });
        renew_outdated();
    }
    // Of units that are alike. Calls renew_outdated() afterwards.
    void learn_of(line_range run, host_number home) noexcept {
        if (home == 0 || home == m_world.here() + 1) return; // nobody has written it, or the master
        std::uint8_t const state = m_world.state_of(run.first);
        if (state == k_on_its_way) mark_all(run, k_is_outdated);
        if (state == k_readable) {
            m_world.set_states(run, k_absent);
            if (m_refreshes) add_outdated(run);
        }
        if (state != k_writable && state != k_watched) return;
        each_unit_of(run, [this](line_range unit) noexcept {
            std::uint32_t& twin = mark_of(unit);
            if ((twin & k_is_listed) != 0) return;
            twin |= k_is_listed;
            add_outdated(unit);
        });
    }
    void add_outdated(line_range units) noexcept {
        if (m_outdated.size() == 0 || !m_outdated[m_outdated.size() - 1].extend(units))
            m_outdated.push_back(units);
    }
    void renew_outdated() noexcept {
        if (TULLE_UNLIKELY(m_outdated.size() != 0)) renew_all();
    }
    TULLE_COLD void renew_all() noexcept {
        for (std::size_t k = 0; k < m_outdated.size(); ++k) {
            line_number const end = m_outdated[k].end();
            for (line_number at = m_outdated[k].first; at < end;)
                at = begin_renewal(m_world.unit_of(at), end);
        }
        m_world.end_take_overs();
        if (m_refreshes) m_world.end_fetches();
        for (std::size_t k = 0; m_refreshes && k < m_outdated.size(); ++k)
            each_unit_of(m_outdated[k], [this](line_range unit) noexcept {
                if (m_world.state_of(unit.first) == k_absent) m_world.set_states(unit, k_readable);
            });
        m_outdated.clear();
    }
    // Where the next one begins.
    line_number begin_renewal(line_range unit, line_number end) noexcept {
        host_number const home = home_of(unit);
        if (m_world.state_of(unit.first) == k_absent) {
            line_range const run = alike_run(unit, end);
            note_copy(home, run);
            m_world.begin_fetch(home, run);
            return run.end();
        }
        std::uint32_t& twin = mark_of(unit);
        twin &= ~k_is_listed;
        note_copy(home, unit); // the home may have forgotten its readers
        m_world.begin_take_over(home, unit, twin);
        return unit.end();
    }

    World& m_world;
    bool m_refreshes;
    bool m_has_threads;
    bool m_is_alone; // one thread of this host uses the memory, or did at the last release
    std::vector<std::uint64_t> m_notices_seen; // by writer
    std::vector<std::uint64_t> m_fetches_seen; // by reader
    list<line_range> m_owned;     // units of this home that were written since the last release
    list<watched_unit> m_watched; // units of this home; none is writable behind a release
    list<dirty_run> m_dirty;      // units of other homes; their marks are the twins
    std::array<list<std::uint32_t>, k_unit_sizes> m_free_twins; // by sizes of units
    // Of other homes, during an acquire; the ones that were written here, or are refreshed. Those
    // with twins are marked, as each is here once.
    list<line_range> m_outdated;
    line_number m_written_before = k_no_line; // all that the last release has written back
    std::uint32_t m_twins = 0;                // lines of them, so far
    std::uint64_t m_over = 0;      // the grace period that had ended when the last release began
    std::uint64_t m_next_over = 0; // the one that it has begun, if it watches anything new
    bool m_watches = false;
    line_range m_noticed; // not in the log yet
};

} // namespace tulle::dsm
