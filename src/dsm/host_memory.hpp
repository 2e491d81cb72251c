// SPDX-License-Identifier: Apache-2.0
// The memory of one host for the protocol: its copy, states and twins, and by way of a file that
// all hosts of a machine map, the copies and logs of the others there. Hosts are processes, each
// with a copy of its own. Those of other machines are asked (far_memory.hpp).
#pragma once

#include "arch/line_blocks.hpp"
#include "arch/vector_registers.hpp"
#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/kept_errno.hpp"
#include "dsm/atomic_access.hpp"
#include "dsm/checking_threads.hpp"
#include "dsm/far_memory.hpp"
#include "dsm/geometry.hpp"
#include "dsm/grace_periods.hpp"
#include "dsm/host_lock.hpp"
#include "dsm/mapped_list.hpp"
#include "dsm/shared_file.hpp"
#include "dsm/words.hpp"
#include "os/fixed_range.hpp"
#include "os/machine.hpp"
#include "os/memory.hpp"
#include "os/shared_memory.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <system_error>
#include <vector>

#include <fcntl.h>

namespace tulle::dsm {

// How a host learns that its copy is about to be stored to: code asks before it stores, or pages
// are protected against stores, and units are pages or more.
enum class stores_are : std::uint8_t { checked, found_by_faults };

// A World of the protocol. The lengths are those of logs.
template <std::size_t Notices, std::size_t Fetches> class basic_host_memory {
    using file = basic_shared_file<Notices, Fetches>;

public:
    using machine = base::machine;
    template <class T> using list = mapped_list<T>;

    // `descriptor`: of a file of file::size() bytes, zeros at first; it may be closed afterwards.
    // `own_copy_at`: the address of the own copy but for the program, 0: anywhere.
    // `states`: that of the first line. `threads`: null, if one thread alone checks.
    // Throws std::bad_alloc, std::system_error: a range cannot be mapped.
    basic_host_memory(geometry const& chosen, host_map const& hosts, int descriptor,
                      std::uint64_t own_copy_at, std::uint8_t* states,
                      stores_are found = stores_are::checked, checking_threads* threads = nullptr)
        : m_chosen(chosen),
          m_units(chosen),
          m_is_protected(found == stores_are::found_by_faults),
          m_near_of(numbers_of(hosts.near, chosen.hosts)),
          m_file(chosen, hosts.near.size()),
          m_descriptor(os::shared_file::adopt(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0))),
          m_here(hosts.here),
          m_states(states),
          m_control(mapped(0, m_file.copies(), descriptor, 0)),
          m_own(mapped(own_copy_at, chosen.bytes - chosen.program_bytes, descriptor,
                       m_file.copy_of(m_near_of[m_here]) + chosen.program_bytes)),
          m_all(mapped(0, hosts.near.size() * chosen.bytes, descriptor, m_file.copies())),
          m_twins(mapped(0, chosen.bytes)),
          m_marks(mapped(0, chosen.lines() * sizeof(std::uint32_t))),
          m_populated(mapped(0, chosen.bytes / used_chunks::k_bytes)),
          m_homes(m_file.homes_at(m_control.low())),
          m_fetches(&m_file.fetches_at(m_control.low(), 0, 0)),
          m_carrier(hosts.carrier),
          m_lock(hosts.carrier),
          m_has_threads(threads != nullptr),
          m_to_populate(most_populated() / hosts.near.size()),
          m_grace(m_is_protected ? nullptr : threads) { // protection holds for all at once
        for (os::fixed_range const* each : {&m_control, &m_all, &m_twins, &m_marks})
            os::leave_out_of_dumps(each->low(), each->size(), true);
        if (chosen.section_bytes != 0) os::leave_out_of_dumps(m_own.low(), m_own.size(), true);
        // Twins follow each other, so that few are in one page.
        if (m_twins.size() > k_small_twins)
            static_cast<void>(os::system_memory().advise_huge(
                m_twins.low() + k_small_twins, m_twins.size() - k_small_twins, true));
        if (hosts.near.size() == chosen.hosts) return;
        m_far = std::make_unique<far_memory>(chosen, hosts);
        m_taken_over.reserve(k_taken_over_at_once);
        m_masters.resize(k_taken_over_at_once * k_words_of_line);
    }

    [[nodiscard]] geometry const& chosen() const noexcept { return m_chosen; }
    [[nodiscard]] typename file::head& head() noexcept { return file::head_at(m_control.low()); }
    [[nodiscard]] used_chunks chunks() noexcept { return m_file.chunks_at(m_control.low()); }
    [[nodiscard]] bool is_near(host_number host) const noexcept { return m_near_of[host] != k_far; }
    // Of a near one.
    [[nodiscard]] std::byte* copy_at(host_number host, line_number line) noexcept {
        return m_all.low() + m_near_of[host] * m_chosen.bytes + offset_of(line);
    }
    // Where pages of it are protected, by a mapping whose pages are not.
    [[nodiscard]] std::byte* own_at(line_number line) noexcept {
        return m_is_protected ? master_at(line) : used_at(line);
    }
    // Whether stores fault in lines of such a state.
    [[nodiscard]] bool faults_stores(std::uint8_t state) const noexcept {
        constexpr unsigned k_forbids = TULLE_COHERENT_NO_STORE | TULLE_COHERENT_NO_LOAD;
        return m_is_protected && (state & k_forbids) != 0;
    }

    [[nodiscard]] bool has_far() const noexcept { return m_far != nullptr; }
    // Whether several threads of this host use it. If so, the lock is held by the one that does.
    [[nodiscard]] bool has_threads() const noexcept { return m_has_threads; }
    [[nodiscard]] host_lock& lock() noexcept { return m_lock; }

    // --- what the protocol asks for
    [[nodiscard]] host_number here() const noexcept { return m_here; }
    [[nodiscard]] host_number hosts() const noexcept { return m_chosen.hosts; }
    [[nodiscard]] line_range unit_of(line_number line) const noexcept {
        return m_units.unit_of(line);
    }
    [[nodiscard]] std::atomic<std::uint8_t>& home_of(line_number line) noexcept {
        return m_homes[m_units.number_of(line)];
    }
    [[nodiscard]] typename file::notice_log& notices_of(host_number writer) noexcept {
        return m_file.notices_at(m_control.low(), writer);
    }
    [[nodiscard]] typename file::fetch_log& fetches_of(host_number reader,
                                                       host_number home) noexcept {
        return m_fetches[reader * m_chosen.hosts + home];
    }
    [[nodiscard]] std::uint8_t state_of(line_number line) const noexcept {
        return m_states[line - m_chosen.first_line()];
    }
    void set_states(line_range lines, std::uint8_t state) noexcept {
        if (m_is_protected) protect_for(lines, state);
        // Pairs with the loads of checks, which are plain, and acquires on their architecture.
        fill_bytes(m_states + (lines.first - m_chosen.first_line()), state, lines.count);
    }
    [[nodiscard]] auto& grace() noexcept { return m_grace; }
    [[nodiscard]] std::uint32_t& mark_of(line_number line) noexcept {
        return reinterpret_cast<std::uint32_t*>(m_marks.low())[m_units.number_of(line)];
    }
    template <class F> void each_unit(F f) {
        std::uint32_t seen = 0;
        chunks().read(seen, [&](line_range chunk) {
            for (line_number at = chunk.first; at < chunk.end();) {
                line_range const unit = unit_of(at);
                f(unit);
                at = unit.end();
            }
        });
    }
    template <class T> [[nodiscard]] list<T> make_list() const { return list<T>(m_chosen.lines()); }

    [[nodiscard]] bool notes_fetches(host_number home) const noexcept { return !is_near(home); }
    // What comes between costs little more than what is waited for.
    void expect_fetch(host_number home, line_range lines) noexcept {
        if (!is_near(home)) return;
        std::byte const* const from = copy_at(home, lines.first);
        std::byte const* const to = own_at(lines.first);
        each_expected(lines, [&](std::size_t k) {
            __builtin_prefetch(from + k);
            __builtin_prefetch(to + k, 1);
        });
    }
    void expect_write_back(host_number home, line_range units, std::uint32_t twin) noexcept {
        std::byte const* const from = own_at(units.first);
        std::byte const* const before = twin_at(twin);
        std::byte const* const to = is_near(home) ? copy_at(home, units.first) : before;
        each_expected(units, [&](std::size_t k) {
            __builtin_prefetch(from + k);
            __builtin_prefetch(before + k);
            __builtin_prefetch(to + k, 1);
        });
    }
    void fetch(host_number home, line_range lines) noexcept {
        if (is_near(home))
            return tulle_copy_lines(own_at(lines.first), copy_at(home, lines.first), lines.count);
        far([&] { m_far->fetch(home, lines, own_at(lines.first)); });
    }
    void begin_fetch(host_number home, line_range lines) noexcept {
        if (is_near(home)) return fetch(home, lines);
        far([&] { m_far->begin_fetch(home, lines, own_at(lines.first)); });
    }
    void end_fetches() noexcept {
        if (m_far != nullptr) far([&] { m_far->end_fetches(); });
    }
    [[nodiscard]] bool takes_long(host_number home) const noexcept {
        return m_far != nullptr && m_has_threads && !is_near(home);
    }
    [[nodiscard]] bool fetch_meanwhile(host_number home, line_range lines) noexcept {
        std::byte* const to = own_at(lines.first);
        fetch_under_way own{lines, m_far->requests_for(lines), m_under_way};
        m_under_way = &own;
        without_lock([&] { m_far->fetch_meanwhile(home, lines, to, own.answers_to_come); });
        if (own.is_ended) return false;
        fetch_under_way** at = &m_under_way;
        while (*at != &own) at = &(*at)->next;
        *at = own.next;
        return true;
    }
    template <class End> void let_others_go_on(End end) noexcept {
        without_lock([this] { m_carrier->let_others_run(); });
        for (fetch_under_way** at = &m_under_way; *at != nullptr;) {
            fetch_under_way& one = **at;
            // Pairs with far_hosts::ask_beside.
            if (one.answers_to_come.load(std::memory_order_acquire) != 0) {
                at = &one.next;
                continue;
            }
            *at = one.next;
            one.is_ended = true;
            end(one.lines);
        }
    }
    void keep_twins(line_range units, std::uint32_t twin) noexcept {
        constexpr std::uint64_t k_in_caches = k_twins_in_caches / TULLE_COHERENT_LINE;
        std::uint64_t const before = std::min<std::uint64_t>(twin, k_in_caches);
        std::uint64_t const kept = std::min(units.count, k_in_caches - before);
        std::uint64_t const rest = units.count - kept;
        std::uint64_t const copied = rest < k_least_stream ? units.count : kept;
        if (copied != 0) tulle_copy_lines(twin_at(twin), own_at(units.first), copied);
        if (copied == units.count) return;
        tulle_stream_lines(twin_at(twin) + copied * TULLE_COHERENT_LINE,
                           own_at(units.first + copied), rest);
        tulle_end_streams(); // another thread may compare them
    }
    [[nodiscard]] line_bits write_back(host_number home, line_range units, std::uint32_t twin,
                                       twin_use use) noexcept {
        bool const is_stream = use == twin_use::ends && streams(units, twin, k_masters_in_caches);
        m_streams |= is_stream;
        line_bits changed = 0;
        for (std::uint64_t k = 0; k < units.count; k += k_line_bits) { // once but for large units
            line_range const part{units.first + k, std::min(units.count - k, k_line_bits)};
            std::byte* const before = twin_at(twin) + k * TULLE_COHERENT_LINE;
            std::byte const* const now = own_at(part.first);
            if (!is_near(home))
                far([&] { changed |= m_far->add_differences(home, part, now, before, use); });
            else if (use == twin_use::goes_on)
                changed |= tulle_copy_differing_lines_too(copy_at(home, part.first), now, before,
                                                          part.count);
            else if (is_stream)
                changed |= tulle_stream_differing_lines(copy_at(home, part.first), now, before,
                                                        part.count);
            else
                changed |=
                    tulle_copy_differing_lines(copy_at(home, part.first), now, before, part.count);
        }
        return changed;
    }
    void begin_take_over(host_number home, line_range unit, std::size_t twin) noexcept {
        if (is_near(home)) return take_over(copy_at(home, unit.first), unit, twin);
        if (m_lines_taken_over + unit.count > k_taken_over_at_once) end_take_overs();
        m_taken_over.push_back({home, unit, twin, m_lines_taken_over}); // NOLINT: there is room
        m_lines_taken_over += unit.count;
    }
    void end_take_overs() noexcept {
        if (m_taken_over.empty()) return;
        far([this] { fetch_taken_over(); });
        for (taken_over const& one : m_taken_over)
            take_over(master_taken_over(one), one.unit, one.twin);
        m_taken_over.clear();
        m_lines_taken_over = 0;
    }
    // A keeper on another machine is asked for all lines without a home, as that takes long.
    template <class F> void claim(line_range lines, F claimed) noexcept {
        line_range const unit = unit_of(lines.first);
        if (is_near(keeper_of(unit.first))) {
            if (claim_for(m_here, unit) == own_mark()) claimed(unit);
            return;
        }
        std::uint8_t homes[k_claimed_at_once];
        std::size_t count = units_without_home(unit, lines.end());
        far([&] { count = m_far->claim(keeper_of(unit.first), unit, count, homes); });
        for (std::size_t k = 0; k < count; ++k) {
            line_range const each{unit.first + k * unit.count, unit.count};
            // relaxed, all of a home: it stands for itself
            home_of(each.first).store(homes[k], std::memory_order_relaxed);
            if (homes[k] == own_mark()) claimed(each);
        }
    }
    void tell(line_range lines) noexcept {
        notices_of(m_here).append(lines);
        if (m_far == nullptr) return;
        end_streams(); // a notice may leave at once
        for (line_number at = lines.first; at < lines.end();) {
            line_range const same = of_one_home(at, lines.end());
            auto const home = home_of(at).load(std::memory_order_relaxed);
            far([&] { m_far->add_notice(same, home); });
            at = same.end();
        }
    }
    void publish() noexcept {
        end_streams();
        if (m_far != nullptr) far([&] { m_far->settle(); });
        notices_of(m_here).publish();
        if (m_far != nullptr) far([&] { m_far->send_notices(); });
    }

    // Whole pages of the program, with what is in them, are of the own copy from now on. False:
    // errno says why.
    [[nodiscard]] bool hold(line_range pages) noexcept {
        tulle_copy_lines(master_at(pages.first), own_at(pages.first), pages.count);
        return os::map_again(master_at(pages.first), own_at(pages.first), bytes_of(pages));
    }

    // Bytes of the copies of a machine for which populate() is done.
    [[nodiscard]] static std::uint64_t most_populated() noexcept {
        return std::min(os::physical_memory() / k_part_populated, k_most_populated);
    }
    // Puts memory behind the own copy of a chunk that this host hears of, as long as it is not too
    // much: in one call, and not in the middle of what the program does with it, where each page
    // would be a fault of its own at each host. What is not done is left to faults.
    void populate(line_range chunk) noexcept {
        if (!may_populate(chunk.first)) return;
        m_populated.low()[chunk_of(chunk.first)] = std::byte{1};
        std::size_t const bytes = bytes_of(chunk);
        m_to_populate -= bytes;
        base::kept_errno const kept;
        static_cast<void>(
            os::system_memory().populate({used_at(chunk.first), bytes, bytes, std::size_t{1}}));
    }
    // The same if there are bytes of another host in it.
    void populate_written(line_range chunk) noexcept {
        if (!may_populate(chunk.first)) return;
        base::kept_errno const kept;
        std::uint64_t const at = m_file.copy_of(m_near_of[m_here]) + offset_of(chunk.first);
        if (m_descriptor.has_memory(at, at + bytes_of(chunk))) populate(chunk);
    }
    // What is used of the own copy is in what a crash leaves behind, and all else is not: the
    // addresses are many, and a page that nobody has touched would take memory then.
    void let_dump(line_range used) noexcept {
        if (m_chosen.section_bytes == 0 || is_of_program(used.first)) return;
        std::uint64_t const chunks = chunk_of(used.end() - 1) - chunk_of(used.first) + 1;
        base::kept_errno const kept;
        os::leave_out_of_dumps(used_at(begin_of_chunk(used.first)), chunks * used_chunks::k_bytes,
                               false);
    }

    // --- what all hosts are to know
    void add_chunks(line_range lines) noexcept {
        chunks().add(lines);
        if (m_far != nullptr) far([&] { m_far->add_chunks(lines); });
    }
    // The same where all others are zeros still, as nobody but this host has used the memory.
    // `known`: what the last call has found, as the end of a long part takes long to find.
    void copy_written_to_all(line_range lines, os::shared_file::part& known) noexcept {
        base::kept_errno const kept;
        std::uint64_t const copy = m_file.copy_of(m_near_of[m_here]);
        std::uint64_t const base = copy - m_chosen.first_line() * TULLE_COHERENT_LINE;
        std::uint64_t const end = base + lines.end() * TULLE_COHERENT_LINE;
        for (std::uint64_t at = base + lines.first * TULLE_COHERENT_LINE; at < end;) {
            if (at < known.begin || at >= known.end)
                known = m_descriptor.find_memory(at, copy + m_chosen.bytes);
            std::uint64_t const first = std::max(at, known.begin);
            if (first >= end) return;
            at = std::min(end, known.end);
            copy_to_all({(first - base) / TULLE_COHERENT_LINE, (at - first) / TULLE_COHERENT_LINE});
        }
    }
    // Makes all other copies of these lines equal to the own one.
    void copy_to_all(line_range lines) noexcept {
        for (host_number h = 0; h < hosts(); ++h)
            if (h != m_here && is_near(h))
                tulle_copy_lines(copy_at(h, lines.first), own_at(lines.first), lines.count);
        if (m_far != nullptr) far([&] { m_far->put(lines, own_at(lines.first)); });
    }
    void begin_sharing() noexcept {
        // relaxed: the program orders what others do then
        head().is_shared.store(true, std::memory_order_relaxed);
        if (m_far != nullptr) far([&] { m_far->share(); });
    }
    // An atomic access in the master.
    std::uint64_t access(host_number home, far_access const& wanted) noexcept {
        if (is_near(home)) return access_near(home, wanted);
        std::uint64_t before = 0;
        far([&] { before = m_far->access(home, wanted); });
        return before;
    }

    // --- what hosts of other machines ask for; any thread, also while this host does the above
    // Lines of this host's copy; the asker has a copy of them from now on.
    void serve_fetch(host_number from, line_range lines, std::byte* to) noexcept {
        auto& log = fetches_of(from, m_here);
        log.append(lines);
        log.publish();
        machine::fence_seq_cst(); // pairs with the one of protocol::release
        tulle_copy_lines(to, copy_at(m_here, lines.first), lines.count);
    }
    [[nodiscard]] std::byte* master_at(line_number line) noexcept { return copy_at(m_here, line); }
    [[nodiscard]] std::byte* master_at(host_number home, line_number line) noexcept {
        return copy_at(home, line); // on this machine
    }
    std::uint64_t access_own(far_access const& wanted) noexcept {
        return access_near(m_here, wanted);
    }
    void serve_share() noexcept {
        head().is_shared.store(true, std::memory_order_relaxed); // relaxed: see begin_sharing
    }
    void serve_put(line_range lines, std::byte const* from) noexcept {
        for (host_number h = 0; h < hosts(); ++h)
            if (is_near(h)) tulle_copy_lines(copy_at(h, lines.first), from, lines.count);
    }
    void serve_notice(host_number from, far_notice const& told) noexcept {
        auto const home = static_cast<std::uint8_t>(told.home);
        for (line_number at = told.lines.first; at < told.lines.end(); at += unit_of(at).count)
            home_of(at).store(home, std::memory_order_relaxed);
        notices_of(from).append(told.lines);
    }
    // The home of a unit that this machine keeps, which is `from` if it had none.
    std::uint8_t claim_for(host_number from, line_range unit) noexcept {
        auto const wanted = static_cast<std::uint8_t>(from + 1);
        std::uint8_t found = 0;
        return home_of(unit.first)
                       .compare_exchange_strong(found, wanted, std::memory_order_relaxed,
                                                std::memory_order_relaxed)
                   ? wanted
                   : found;
    }

private:
    // Bytes of twins that are still in a cache of the processor, beside what they are twins of,
    // when they are compared; and of masters that are still in a cache of several processors when
    // somebody reads them. What is behind these goes past the caches, as far as it comes in runs.
    static constexpr std::uint64_t k_twins_in_caches = 1024 * 1024;
    static constexpr std::uint64_t k_masters_in_caches = 8 * k_twins_in_caches;
    static constexpr std::uint64_t k_least_stream = 64; // lines
    // Bytes of twins of a program that writes little, and has no huge pages of them.
    static constexpr std::uint64_t k_small_twins = 2 * k_twins_in_caches;
    // Bytes of the copies of a machine that take memory though nobody has used them; and which part
    // of what it has these may be.
    static constexpr std::uint64_t k_most_populated = 256 * 1024 * 1024;
    static constexpr std::uint64_t k_part_populated = 16;
    static constexpr std::size_t k_expected = 8;              // lines
    static constexpr std::size_t k_claimed_at_once = 1024;    // units
    static constexpr std::size_t k_taken_over_at_once = 1024; // lines
    static constexpr std::uint32_t k_far = ~std::uint32_t{0};

    // In the frame of the thread that waits for it. Guarded by the lock, but for the answers.
    struct fetch_under_way {
        line_range lines;
        std::atomic<std::uint32_t> answers_to_come;
        fetch_under_way* next;
        bool is_ended = false; // by another thread, which has taken it out of the list
    };

    // The numbers of copies in the file, by hosts.
    [[nodiscard]] static std::vector<std::uint32_t> numbers_of(std::vector<host_number> const& near,
                                                               host_number hosts) {
        std::vector<std::uint32_t> made(hosts, k_far);
        for (std::size_t k = 0; k < near.size(); ++k) made[near[k]] = static_cast<std::uint32_t>(k);
        return made;
    }
    // Of another machine; see begin_take_over.
    struct taken_over {
        host_number home;
        line_range unit;
        std::size_t twin;
        std::size_t master; // a line of the room for all
    };
    [[nodiscard]] std::byte* master_taken_over(taken_over const& one) noexcept {
        return reinterpret_cast<std::byte*>(m_masters.data()) + one.master * TULLE_COHERENT_LINE;
    }
    // Units that follow each other come together.
    void fetch_taken_over() noexcept {
        for (std::size_t k = 0, end = 0; k < m_taken_over.size(); k = end) {
            host_number const home = m_taken_over[k].home;
            line_range run = m_taken_over[k].unit;
            for (end = k + 1; end < m_taken_over.size() && m_taken_over[end].home == home &&
                              run.extend(m_taken_over[end].unit);)
                ++end;
            m_far->begin_fetch(home, run, master_taken_over(m_taken_over[k]));
        }
        m_far->end_fetches();
    }
    void take_over(std::byte const* master, line_range unit, std::size_t twin) noexcept {
        for (std::uint64_t k = 0; k < unit.count; k += k_line_bits)
            static_cast<void>(tulle_copy_differing_lines_too(
                own_at(unit.first + k), master + k * TULLE_COHERENT_LINE,
                twin_at(twin) + k * TULLE_COHERENT_LINE, std::min(unit.count - k, k_line_bits)));
    }
    // The caller, which holds checks, waits for something that may take long.
    template <class F> void without_lock(F wait) noexcept {
        far([&] {
            std::uint64_t const began = m_grace.begin_wait();
            m_lock.unlock();
            wait();
            m_lock.lock();
            m_grace.end_wait(began);
        });
    }
    // The caller may hold values in vector registers; and to the program it is a load or a store.
    template <class F> static void far(F f) noexcept {
        base::kept_errno const kept;
        arch::keeping_vectors(f);
    }
    [[nodiscard]] std::uint8_t own_mark() const noexcept {
        return static_cast<std::uint8_t>(m_here + 1);
    }
    // As long as it is not too much.
    [[nodiscard]] bool may_populate(line_number line) const noexcept {
        return !m_is_protected && !is_of_program(line) && m_to_populate >= used_chunks::k_bytes &&
               m_populated.low()[chunk_of(line)] == std::byte{0};
    }
    [[nodiscard]] static line_number begin_of_chunk(line_number line) noexcept {
        return line & ~(used_chunks::k_lines - 1);
    }
    [[nodiscard]] bool is_of_program(line_number line) const noexcept {
        return offset_of(line) < m_chosen.program_bytes;
    }
    [[nodiscard]] std::uint64_t chunk_of(line_number line) const noexcept {
        return (line - m_chosen.first_line()) / used_chunks::k_lines;
    }
    // The host on whose machine the home of a line is written down first: by turns, by chunks.
    [[nodiscard]] host_number keeper_of(line_number line) const noexcept {
        return static_cast<host_number>(chunk_of(line) % m_chosen.hosts);
    }
    // That follow each other and have one keeper, the first one among them.
    [[nodiscard]] std::size_t units_without_home(line_range first, line_number end) noexcept {
        std::uint64_t const next = chunk_of(first.first) + 1;
        end = std::min(end, m_chosen.first_line() + next * used_chunks::k_lines);
        std::size_t count = 1;
        for (line_number at = first.end(); at < end && count < k_claimed_at_once; ++count) {
            if (home_of(at).load(std::memory_order_relaxed) != 0) break;
            at += first.count;
        }
        return count;
    }
    [[nodiscard]] line_range of_one_home(line_number first, line_number end) noexcept {
        auto const home = home_of(first).load(std::memory_order_relaxed);
        line_number at = first;
        do {
            at = unit_of(at).end();
        } while (at < end && home_of(at).load(std::memory_order_relaxed) == home);
        return {first, std::min(at, end) - first};
    }

    // Where the program has the own copy.
    [[nodiscard]] std::byte* used_at(line_number line) noexcept {
        return m_own.low() + static_cast<std::ptrdiff_t>(offset_of(line) - m_chosen.program_bytes);
    }
    // Before the lines have the state. Those that are protected as they should be are left alone.
    void protect_for(line_range lines, std::uint8_t state) noexcept {
        bool const faults = faults_stores(state);
        auto const is_right = [&](line_number at) { return faults_stores(state_of(at)) == faults; };
        for (line_number at = lines.first; at < lines.end();) {
            line_number const first = at;
            while (at < lines.end() && !is_right(at)) at = unit_of(at).end();
            if (at != first) protect({first, at - first}, faults);
            while (at < lines.end() && is_right(at)) at = unit_of(at).end();
        }
    }
    void protect(line_range lines, bool faults) noexcept {
        bool const done = os::allow_stores(used_at(lines.first), bytes_of(lines), !faults);
        TULLE_CHECK(done,
                    "coherent memory: pages cannot be protected (%s); a process may have %zu "
                    "mappings (vm.max_map_count), and each run of pages that may be stored to is "
                    "one",
                    std::strerror(errno), os::mapping_limit());
    }

    [[noreturn]] static void fail() {
        if (errno == ENOMEM) throw std::bad_alloc();
        throw std::system_error(errno, std::generic_category(), "coherent memory");
    }
    [[nodiscard]] static os::fixed_range mapped(std::uint64_t at, std::uint64_t bytes) {
        os::fixed_range made = os::fixed_range::reserve(at, bytes);
        if (!made.is_valid() || !made.fill(0, bytes)) fail();
        return made;
    }
    [[nodiscard]] static os::fixed_range mapped(std::uint64_t at, std::uint64_t bytes,
                                                int descriptor, std::uint64_t offset) {
        os::fixed_range made = os::fixed_range::reserve(at, bytes);
        if (!made.is_valid() || !made.fill_from(descriptor, 0, bytes, offset)) fail();
        return made;
    }
    std::uint64_t access_near(host_number home, far_access const& wanted) noexcept {
        std::byte* const line = copy_at(home, wanted.address / TULLE_COHERENT_LINE);
        auto const at =
            reinterpret_cast<std::uintptr_t>(line + wanted.address % TULLE_COHERENT_LINE);
        return access_atomically(at, wanted.operand, wanted.expected,
                                 static_cast<std::uint32_t>(wanted.action));
    }
    [[nodiscard]] std::uint64_t offset_of(line_number line) const noexcept {
        return (line - m_chosen.first_line()) * TULLE_COHERENT_LINE;
    }
    [[nodiscard]] static std::size_t bytes_of(line_range lines) noexcept {
        return lines.count * TULLE_COHERENT_LINE;
    }
    // Calls f(offset) for each line that is worth a hint.
    template <class F> static void each_expected(line_range lines, F f) noexcept {
        std::size_t const end = bytes_of({lines.first, std::min(lines.count, k_expected)});
        for (std::size_t k = 0; k != end; k += TULLE_COHERENT_LINE) f(k);
        // gcc takes a function that has only hints for one without effects, and leaves it out.
        asm volatile("");
    }
    // What was written back comes before all that tells of it.
    void end_streams() noexcept {
        if (m_streams) tulle_end_streams();
        m_streams = false;
    }
    [[nodiscard]] bool streams(line_range units, std::uint64_t twin,
                               std::uint64_t bytes_in_caches) const noexcept {
        return units.count >= k_least_stream && twin * TULLE_COHERENT_LINE >= bytes_in_caches;
    }
    [[nodiscard]] std::byte* twin_at(std::size_t twin) noexcept {
        return m_twins.low() + twin * TULLE_COHERENT_LINE;
    }

    geometry m_chosen;
    unit_map m_units;
    bool m_streams = false; // there is something to be ended before a notice of it
    bool m_is_protected;
    std::vector<std::uint32_t> m_near_of; // k_far: on another machine
    file m_file;
    os::shared_file m_descriptor;
    host_number m_here;
    std::uint8_t* m_states;
    os::fixed_range m_control; // what is in front of the copies
    os::fixed_range m_own;
    os::fixed_range m_all; // copies
    os::fixed_range m_twins;
    os::fixed_range m_marks;
    os::fixed_range m_populated; // a byte for each chunk
    std::atomic<std::uint8_t>* m_homes;
    typename file::fetch_log* m_fetches;
    std::unique_ptr<far_memory> m_far;    // null: there is one machine
    std::vector<taken_over> m_taken_over; // of no more lines than there is room for
    std::vector<far_word> m_masters;      // theirs
    std::size_t m_lines_taken_over = 0;
    far_hosts* m_carrier; // null, as above
    host_lock m_lock;
    fetch_under_way* m_under_way = nullptr;
    bool m_has_threads;
    std::uint64_t m_to_populate; // bytes, at most
    grace_periods<os::machine, checking_threads> m_grace;
};

} // namespace tulle::dsm
