// SPDX-License-Identifier: Apache-2.0
// The memory of one host for the directory: its copy, and by way of a file that all hosts of a
// machine map, entries, tags, and the copies of the others.
#pragma once

#include "arch/line_blocks.hpp"
#include "base/atomic.hpp"
#include "base/cpu_pause.hpp"
#include "dsm/directory.hpp"
#include "dsm/host_memory.hpp"
#include "dsm/words.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <sched.h>

namespace tulle::dsm {

// Where entries and tags lie, behind what hosts share by any scheme.
class directory_file {
public:
    static constexpr std::size_t k_no_logs = 1; // nothing is told by logs
    using shared = basic_shared_file<k_no_logs, k_no_logs>;

    directory_file(geometry const& chosen, std::size_t copies) noexcept
        : m_chosen(chosen), m_first(shared(chosen, copies).size()) {}

    [[nodiscard]] std::uint64_t begin() const noexcept { return m_first; }
    [[nodiscard]] std::uint64_t size() const noexcept { return m_first + bytes(); }
    // Of all the following, which are offsets from begin().
    [[nodiscard]] std::uint64_t bytes() const noexcept {
        return tags(0) + m_chosen.lines() * m_chosen.hosts;
    }
    // Each home's one after the other.
    [[nodiscard]] std::uint64_t entry(line_number line) const noexcept {
        std::uint64_t const k = line - m_chosen.first_line();
        std::uint64_t const of_a_home = m_chosen.lines() / m_chosen.hosts + 1;
        return (k % m_chosen.hosts * of_a_home + k / m_chosen.hosts) * sizeof(directory_entry);
    }
    [[nodiscard]] std::uint64_t ready() const noexcept {
        return (m_chosen.lines() + m_chosen.hosts) * sizeof(directory_entry);
    }
    [[nodiscard]] std::uint64_t tags(host_number host) const noexcept {
        std::uint64_t const entries = ready() + m_chosen.bytes / used_chunks::k_bytes;
        constexpr std::uint64_t page = 64 * 1024; // whatever its size is
        return (entries + page - 1) / page * page + m_chosen.lines() * host;
    }

private:
    geometry m_chosen;
    std::uint64_t m_first;
};

// A World of the directory.
class directory_memory {
public:
    using machine = base::machine;

    // As for basic_host_memory, whose file has directory_file::size() bytes here. `tags_at`: where
    // code looks for the tag of the first line, null: nowhere.
    directory_memory(geometry const& chosen, host_map const& hosts, int descriptor,
                     std::uint64_t own_copy_at, std::byte* tags_at)
        : m_memory(chosen, hosts, descriptor, own_copy_at, nullptr),
          m_file(chosen, hosts.near.size()),
          m_shared(mapped(descriptor)) {
        if (tags_at != nullptr &&
            !os::map_again(m_shared.low() + m_file.tags(here()), tags_at, chosen.lines()))
            fail();
    }

    [[nodiscard]] geometry const& chosen() const noexcept { return m_memory.chosen(); }
    [[nodiscard]] std::byte* own_at(line_number line) noexcept { return m_memory.own_at(line); }
    [[nodiscard]] bool hold(line_range pages) noexcept { return m_memory.hold(pages); }

    // --- what the directory asks for
    [[nodiscard]] host_number here() const noexcept { return m_memory.here(); }
    [[nodiscard]] std::atomic<directory_entry>& entry_of(line_number line) noexcept {
        return at<directory_entry>(m_file.entry(line));
    }
    [[nodiscard]] std::atomic<std::uint8_t>& tag_of(host_number host, line_number line) noexcept {
        return at<std::uint8_t>(m_file.tags(host) + (line - chosen().first_line()));
    }
    static void pause(unsigned turn) noexcept {
        constexpr unsigned k_turns = 100; // then who has the lock may want this processor
        if (turn < k_turns) return base::cpu_pause();
        sched_yield();
    }
    void copy_line(host_number from, line_number line) noexcept {
        tulle_copy_lines(m_memory.copy_at(here(), line), m_memory.copy_at(from, line), 1);
    }
    void invalidate(host_number host, line_number line) noexcept {
        constexpr std::uint64_t k_twice = 0x1'0000'0001;
        tulle_fill_line(m_memory.copy_at(host, line), k_twice * TULLE_DIRECTORY_NO_DATA);
    }

    // --- which lines it has entries for; others belong to whoever uses them
    [[nodiscard]] bool has(line_number line) noexcept {
        return ready_of((line - chosen().first_line()) / used_chunks::k_lines)
                   .load(std::memory_order_acquire) == k_is_ready; // pairs with share_chunk
    }
    [[nodiscard]] bool is_shared() noexcept {
        // relaxed: the program orders this host's CREATE and what others do
        return m_memory.head().is_shared.load(std::memory_order_relaxed);
    }
    // Memory that somebody has allocated. All copies of new memory are alike.
    void add(line_range lines) noexcept {
        m_memory.add_chunks(lines);
        if (is_shared()) share_chunks(lines);
    }
    // What this host alone has used up to now all have.
    void share() noexcept {
        std::uint32_t seen = 0;
        os::shared_file::part known;
        m_memory.chunks().read(seen, [this, &known](line_range chunk) {
            m_memory.copy_written_to_all(chunk, known);
            share_chunks(chunk);
        });
        m_memory.begin_sharing();
    }
    // Lines of which this host's copy is right, while no other host uses them.
    void give_to_all(line_range lines) noexcept {
        m_memory.copy_to_all(lines);
        add(lines);
        set_shared(lines);
    }

private:
    static constexpr std::uint8_t k_is_made_ready = 1;
    static constexpr std::uint8_t k_is_ready = 2;

    template <class T> [[nodiscard]] std::atomic<T>& at(std::uint64_t offset) noexcept {
        return *reinterpret_cast<std::atomic<T>*>(m_shared.low() + offset);
    }
    [[nodiscard]] std::atomic<std::uint8_t>& ready_of(std::uint64_t chunk) noexcept {
        return at<std::uint8_t>(m_file.ready() + chunk);
    }
    void share_chunks(line_range lines) noexcept {
        std::uint64_t const first = (lines.first - chosen().first_line()) / used_chunks::k_lines;
        std::uint64_t const last = (lines.end() - 1 - chosen().first_line()) / used_chunks::k_lines;
        for (std::uint64_t chunk = first; chunk <= last; ++chunk) share_chunk(chunk);
    }
    // Once; who comes later waits.
    void share_chunk(std::uint64_t chunk) noexcept {
        std::uint8_t found = 0;
        auto& ready = ready_of(chunk);
        if (ready.compare_exchange_strong(found, k_is_made_ready, std::memory_order_acquire,
                                          std::memory_order_acquire)) {
            set_shared(
                {chosen().first_line() + chunk * used_chunks::k_lines, used_chunks::k_lines});
            return ready.store(k_is_ready, std::memory_order_release); // pairs with has
        }
        for (unsigned turn = 0; ready.load(std::memory_order_acquire) != k_is_ready; ++turn)
            pause(turn);
    }
    // relaxed: whoever uses the lines has heard of them by has(), or by the program
    void set_shared(line_range lines) noexcept {
        host_number const hosts = chosen().hosts;
        directory_entry const all = (directory_entry{1} << hosts) - 1;
        for (line_number first = lines.first; first < lines.end() && first < lines.first + hosts;
             ++first) {
            auto* entry = &entry_of(first); // those of one home follow each other
            for (line_number line = first; line < lines.end(); line += hosts, ++entry)
                entry->store(all, std::memory_order_relaxed);
        }
        for (host_number h = 0; h < hosts; ++h)
            fill_bytes(reinterpret_cast<std::uint8_t*>(&tag_of(h, lines.first)),
                       hosts == 1 ? k_exclusive : k_not_exclusive, lines.count);
    }

    [[noreturn]] static void fail() {
        throw std::system_error(errno, std::generic_category(), "coherent memory");
    }
    [[nodiscard]] os::fixed_range mapped(int descriptor) const {
        os::fixed_range made = os::fixed_range::reserve(0, m_file.bytes());
        if (!made.is_valid() || !made.fill_from(descriptor, 0, m_file.bytes(), m_file.begin()))
            fail();
        return made;
    }

    basic_host_memory<directory_file::k_no_logs, directory_file::k_no_logs> m_memory;
    directory_file m_file;
    os::fixed_range m_shared;
};

} // namespace tulle::dsm
