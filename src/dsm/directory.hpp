// SPDX-License-Identifier: Apache-2.0
// How copies of coherent memory are kept alike by a directory: each line is always what it is in
// one memory, in the order in which hosts store. The host that misses does all of it, by loads and
// stores in the memory of the others; nobody serves it. It is written once for the real memory and
// for the one in which tests/model explores it.
//
// Each line has an entry in the directory, a word of the hosts that have the line, which is locked
// while somebody changes that; homes have the entries by turns. Each host has a tag for each line:
// whether it alone has the line, so that it may store. Others may take that away, so a tag is
// locked for each store. A line that a host does not have is filled with a value that programs
// rarely use: a load asks the directory only if it finds that.
//
// A host may have several threads, which have one copy and one tag for each line. Who finds a tag
// locked by another one goes to the directory, too, and leaves the tag alone there.
//
// INV-1: where an entry names one host alone, the tag of that one is exclusive, or it is locked by
// a thread that stores there. Nobody makes it anything else but under the lock of the entry.
// INV-2: where an entry names several hosts, or others, a locked tag says no more than one that is
// not exclusive: the threads that have locked it ask the directory.
//
// Order of locks: an entry, then one tag. A host stores to the memory neither in handlers of
// signals nor in what it does under a lock.
//
// Source: Radovic and Hagersten, Removing the Overhead from Software-Based Shared Memory (2001);
// its homes use their tags for entries, here each host has tags and entries are words, for more
// hosts than a byte has bits.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <tulle/coherent_abi.h>

#include "dsm/line_range.hpp"
#include "dsm/protocol.hpp"

namespace tulle::dsm {

// Bits of an entry: the hosts that have the line, and the lock.
using directory_entry = std::uint64_t;
inline constexpr directory_entry k_locked_entry = std::uint64_t{1} << 63U;
inline constexpr host_number k_most_directory_hosts = 63;

// Tags.
inline constexpr std::uint8_t k_exclusive = TULLE_DIRECTORY_EXCLUSIVE;
inline constexpr std::uint8_t k_not_exclusive = TULLE_DIRECTORY_NOT_EXCLUSIVE;
inline constexpr std::uint8_t k_locked_tag = TULLE_DIRECTORY_LOCKED;

// World has the memory:
//   machine                        base::machine or model::machine
//   here()                         the number of this host
//   entry_of(line), tag_of(host, line)   atomic words
//   pause(turn)                    between two looks at a lock that another host holds
//   copy_line(from, line)          that host's copy of it, to the own one
//   invalidate(host, line)         fills that host's copy with the value that stands for none
template <class World> class directory {
public:
    // An entry that this host has locked, and what is to be written into it.
    struct held_entry {
        typename World::machine::template atomic<directory_entry>* entry;
        directory_entry value;
    };

    explicit directory(World& world) noexcept : m_world(world) {}

    // The line is here and stays so until end().
    [[nodiscard]] held_entry begin_load(line_number line) noexcept {
        directory_entry const hosts = lock_entry(line);
        if ((hosts & own_bit()) == 0) bring(line, hosts); // else the program stored that value
        return {&m_world.entry_of(line), hosts | own_bit()};
    }
    // This host alone has the line, which it may store to until end(); then it is exclusive.
    [[nodiscard]] held_entry begin_store(line_number line) noexcept {
        directory_entry const hosts = lock_entry(line);
        if (hosts != own_bit()) make_exclusive(line, hosts); // else another thread has (INV-1)
        return {&m_world.entry_of(line), own_bit()};
    }
    static void end(held_entry const& held) noexcept {
        held.entry->store(held.value, std::memory_order_release); // pairs with lock_entry
    }

    // What checked code does inline at a store, and at a load that found the value.
    template <class F> void store(line_number line, F access) noexcept {
        auto& tag = m_world.tag_of(m_world.here(), line);
        // acquire pairs with make_exclusive: another thread may have brought the line
        if (tag.exchange(k_locked_tag, std::memory_order_acquire) == k_exclusive) {
            access();
            tag.store(k_exclusive, std::memory_order_release); // pairs with end_exclusiveness
            return;
        }
        held_entry const held = begin_store(line);
        access();
        end(held);
    }
    template <class F> void load(line_number line, F access) noexcept {
        held_entry const held = begin_load(line);
        access();
        end(held);
    }

private:
    [[nodiscard]] directory_entry own_bit() const noexcept {
        return directory_entry{1} << m_world.here();
    }
    [[nodiscard]] static host_number first_of(directory_entry hosts) noexcept {
        return static_cast<host_number>(std::countr_zero(hosts));
    }
    [[nodiscard]] directory_entry lock_entry(line_number line) noexcept {
        auto& entry = m_world.entry_of(line);
        for (unsigned turn = 0;; ++turn) {
            // acquire pairs with end
            directory_entry const found = entry.fetch_or(k_locked_entry, std::memory_order_acquire);
            if ((found & k_locked_entry) == 0) return found;
            m_world.pause(turn);
        }
    }
    // The others have the line no more, and what they have stored is in the own copy (INV-1).
    void make_exclusive(line_number line, directory_entry hosts) noexcept {
        if ((hosts & own_bit()) == 0) bring(line, hosts);
        for (directory_entry rest = hosts & ~own_bit(); rest != 0; rest &= rest - 1)
            m_world.invalidate(first_of(rest), line);
        // release pairs with store, by another thread
        m_world.tag_of(m_world.here(), line).store(k_exclusive, std::memory_order_release);
    }
    // Its owner stores no more, and what it has stored is in its copy (INV-2).
    void end_exclusiveness(host_number owner, line_number line) noexcept {
        auto& tag = m_world.tag_of(owner, line);
        // acquire pairs with store
        for (unsigned turn = 0;
             tag.exchange(k_locked_tag, std::memory_order_acquire) == k_locked_tag; ++turn)
            m_world.pause(turn);
        // relaxed: threads of its owner ask the directory next, and the entry orders
        tag.store(k_not_exclusive, std::memory_order_relaxed);
    }
    void bring(line_number line, directory_entry hosts) noexcept {
        host_number const from = first_of(hosts);
        if (std::has_single_bit(hosts)) end_exclusiveness(from, line);
        m_world.copy_line(from, line);
    }

    World& m_world;
};

} // namespace tulle::dsm
