// SPDX-License-Identifier: Apache-2.0
// One host's part in coherent memory by a directory. Any threads, at the same time.
#pragma once

#include "dsm/atomic_access.hpp"
#include "dsm/directory_memory.hpp"
#include "dsm/forked_child.hpp"
#include "dsm/words.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace tulle::dsm {

class directory_host {
public:
    using held_entry = directory<directory_memory>::held_entry;

    // As for directory_memory.
    directory_host(geometry const& chosen, host_map const& hosts, int descriptor,
                   std::uint64_t own_copy_at, std::byte* tags_at)
        : m_memory(chosen, hosts, descriptor, own_copy_at, tags_at), m_directory(m_memory) {}

    [[nodiscard]] geometry const& chosen() const noexcept { return m_memory.chosen(); }
    [[nodiscard]] bool contains(std::uint64_t address) const noexcept {
        return address - m_memory.chosen().address < m_memory.chosen().bytes;
    }
    // As those of basic_coherent_host.
    void add(line_range lines) noexcept {
        std::lock_guard const held(m_changes);
        m_memory.add(lines);
    }
    void share() noexcept {
        std::lock_guard const held(m_changes);
        if (!m_memory.is_shared()) m_memory.share();
    }
    [[nodiscard]] bool hold(line_range pages) noexcept { return m_memory.hold(pages); }
    void share_held(line_range pages) noexcept {
        std::lock_guard const held(m_changes);
        m_memory.give_to_all(pages);
    }

    // What checked code asks for; the access is the caller's, and then the end.
    [[nodiscard]] held_entry begin_load(std::uint64_t address) noexcept {
        line_number const line = address / TULLE_COHERENT_LINE;
        return has(line) ? m_directory.begin_load(line) : nobody();
    }
    [[nodiscard]] held_entry begin_store(std::uint64_t address) noexcept {
        line_number const line = address / TULLE_COHERENT_LINE;
        if (has(line)) return m_directory.begin_store(line);
        m_memory.tag_of(m_memory.here(), line).store(k_exclusive, std::memory_order_relaxed);
        return nobody();
    }
    static void end(held_entry const& held) noexcept { directory<directory_memory>::end(held); }

    // Bytes of one line of this memory.
    void load(std::uint64_t address, std::byte* to, std::size_t bytes) noexcept {
        held_entry const held = begin_load(address);
        copy_bytes(to, own(address), bytes);
        end(held);
    }
    void store(std::uint64_t address, std::byte const* from, std::size_t bytes) noexcept {
        change(address, [&] { copy_bytes(own(address), from, bytes); });
    }
    void fill(std::uint64_t address, std::uint8_t value, std::size_t bytes) noexcept {
        change(address, [&] { fill_bytes(as_numbers(own(address)), value, bytes); });
    }
    // An atomic access, all of which are exclusive ones. Returns what was there before.
    std::uint64_t access(far_access const& wanted) noexcept {
        std::uint64_t before = 0;
        change(wanted.address, [&] {
            before = access_atomically(reinterpret_cast<std::uintptr_t>(own(wanted.address)),
                                       wanted.operand, wanted.expected,
                                       static_cast<std::uint32_t>(wanted.action));
        });
        return before;
    }

private:
    // Ahead of an access.
    [[nodiscard]] bool has(line_number line) noexcept {
        if (!contains(line * TULLE_COHERENT_LINE)) return false;
        expect_no_child();
        return m_memory.has(line);
    }
    // Of memory that only this host uses.
    [[nodiscard]] held_entry nobody() noexcept { return {&m_nobody, 0}; }
    template <class F> void change(std::uint64_t address, F access) noexcept {
        line_number const line = address / TULLE_COHERENT_LINE;
        if (has(line)) return m_directory.store(line, access);
        access();
    }
    [[nodiscard]] std::byte* own(std::uint64_t address) noexcept {
        return m_memory.own_at(address / TULLE_COHERENT_LINE) + address % TULLE_COHERENT_LINE;
    }
    [[nodiscard]] static std::uint8_t* as_numbers(std::byte* at) noexcept {
        return reinterpret_cast<std::uint8_t*>(at);
    }
    static void copy_bytes(std::byte* to, std::byte const* from, std::size_t bytes) noexcept {
        std::size_t k = 0;
        for (; k + sizeof(std::uint64_t) <= bytes; k += sizeof(std::uint64_t)) {
            std::uint64_t word = 0;
            __builtin_memcpy(&word, from + k, sizeof word);
            __builtin_memcpy(to + k, &word, sizeof word);
        }
        for (; k < bytes; ++k) to[k] = from[k];
    }

    directory_memory m_memory;
    directory<directory_memory> m_directory;
    std::atomic<directory_entry> m_nobody{0};
    // Held while entries are made, and while what this host has written is copied to all others,
    // which takes long: who waits for it gives the processor up.
    std::mutex m_changes;
};

} // namespace tulle::dsm
