// SPDX-License-Identifier: Apache-2.0
// One host's part in coherent memory: what it does before accesses, at releases and at acquires.
// One thread at a time, or any if it is told of them. The lengths are those of logs.
#pragma once

#include "dsm/atomic_access.hpp"
#include "dsm/far_service.hpp"
#include "dsm/host_memory.hpp"
#include "dsm/protocol.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include <tulle/detail/attributes.hpp>

namespace tulle::dsm {

template <std::size_t Notices, std::size_t Fetches> class basic_coherent_host {
public:
    using memory = basic_host_memory<Notices, Fetches>;

    // As for basic_host_memory.
    basic_coherent_host(geometry const& chosen, host_map const& hosts, int descriptor,
                        std::uint64_t own_copy_at, std::uint8_t* states,
                        outdated_copies outdated = outdated_copies::are_dropped,
                        stores_are found = stores_are::checked, checking_threads* threads = nullptr)
        : m_memory(chosen, hosts, descriptor, own_copy_at, states, found, threads),
          m_protocol(m_memory, outdated) {}

    [[nodiscard]] memory& own() noexcept { return m_memory; }
    [[nodiscard]] bool contains(std::uint64_t address) const noexcept {
        return address - m_memory.chosen().address < m_memory.chosen().bytes;
    }

    // Whether an address is of what somebody has allocated, or what all hosts hold.
    [[nodiscard]] bool has(std::uint64_t address) noexcept {
        return contains(address) && m_memory.chunks().has(address / TULLE_COHERENT_LINE);
    }

    // A part that somebody has allocated may be used from now on, by others once this host lets
    // them go on.
    void add(line_range lines) noexcept {
        alone([&] {
            m_memory.let_dump(lines);
            m_memory.add_chunks(lines);
            learn_of_chunks();
        });
    }
    // While one host alone has used the memory all of it is writable. This makes all copies alike;
    // from then on others may use theirs. Again: nothing.
    void share() noexcept {
        alone([&] {
            // relaxed: the program orders this host's CREATE and what others do
            if (m_memory.head().is_shared.load(std::memory_order_relaxed)) return;
            std::uint32_t seen = 0;
            os::shared_file::part known;
            m_memory.chunks().read(seen, [this, &known](line_range chunk) {
                m_memory.copy_written_to_all(chunk, known);
            });
            m_memory.begin_sharing();
            learn_of_chunks();
        });
    }
    // Pages of the program; see basic_host_memory.
    [[nodiscard]] bool hold(line_range pages) noexcept { return m_memory.hold(pages); }
    // All hosts hold these pages, and the memory is shared: what this host has in them all have
    // then.
    void share_held(line_range pages) noexcept {
        alone([&] { m_memory.copy_to_all(pages); });
        add(pages);
    }
    // The line of an address, if it is of this memory.
    void make_loadable(std::uint64_t address) noexcept {
        if (!contains(address)) return;
        line_number const line = address / TULLE_COHERENT_LINE;
        m_protocol.expect_load(line); // the lock may wait until older stores are done
        alone([&] { m_protocol.make_loadable(line); });
    }
    // The bytes [first, last], as far as they are of this memory.
    void make_usable(std::uint64_t first, std::uint64_t last, access_kind wanted) noexcept {
        geometry const& all = m_memory.chosen();
        first = std::max(first, all.address);
        last = std::min(last, all.address + all.bytes - 1);
        if (last < first) return;
        line_number const line = first / TULLE_COHERENT_LINE;
        alone([&] {
            m_protocol.make_usable({line, last / TULLE_COHERENT_LINE - line + 1}, wanted);
        });
    }
    // After an access that the protection of a page forbids. True: it was a store into a page that
    // was not to be stored to, and is now, or was already as another thread has stored to it.
    // Around what is allocated or held pages are the program's own, or none.
    [[nodiscard]] bool resolve_fault(std::uintptr_t address) noexcept {
        if (!has(address)) return false;
        line_range const line{address / TULLE_COHERENT_LINE, 1};
        bool is_resolved = false;
        alone([&] {
            if (m_memory.faults_stores(m_memory.state_of(line.first))) {
                m_protocol.make_usable(line, access_kind::store);
                m_found_usable = 0;
                is_resolved = true;
            } else if (m_memory.has_threads() && ++m_found_usable < k_most_found_usable) {
                is_resolved = true;
            } else { // the program has protected the page
                m_found_usable = 0;
            }
        });
        return is_resolved;
    }
    // A request of a host of another machine; see far_service.
    std::size_t serve(host_number from, std::byte const* request, std::byte* answer) noexcept {
        return far_service<memory>(m_memory).serve(from, request, answer);
    }
    void release() noexcept {
        alone([&] {
            if (is_shared()) m_protocol.release();
        });
    }
    // False: it has been done. True: the caller has a fence, and then calls release_behind_fence().
    [[nodiscard]] bool begin_release() noexcept {
        if (!is_shared()) return false;
        if (!m_memory.has_threads() && !m_memory.has_far() && m_protocol.is_release_short())
            return true;
        release();
        return false;
    }
    void release_behind_fence() noexcept { m_protocol.release_behind_fence(); }
    void acquire() noexcept {
        alone([&] {
            if (!is_shared()) return;
            learn_of_chunks();
            m_protocol.acquire();
        });
    }
    // An atomic access, done in the master. Returns what was there before.
    std::uint64_t access(far_access const& wanted, bool may_store) noexcept {
        std::uint64_t before = 0;
        alone([&] { before = access_alone(wanted, may_store); });
        return before;
    }

private:
    template <class F> void alone(F f) noexcept {
        std::unique_lock held(m_memory.lock(), std::defer_lock);
        if (m_memory.has_threads()) held.lock();
        f(); // in one place, so that it is compiled into its caller
    }
    std::uint64_t access_alone(far_access const& wanted, bool may_store) noexcept {
        line_number const line = wanted.address / TULLE_COHERENT_LINE;
        host_number const home = m_protocol.claimed_home_of(line);
        bool const is_own = home == m_memory.here();
        if (is_own)
            m_protocol.make_usable({line, 1}, access_kind::store);
        else
            m_protocol.bring_home(line);
        std::uint64_t const before = m_memory.access(home, wanted);
        if (is_own && may_store) m_protocol.has_written_home(line);
        // Plain loads of this host find what it has stored, or found.
        if (!is_own && may_store)
            m_protocol.has_written_away(line);
        else if (!is_own && access_atomically(wanted.address, 0, 0, action_of(wanted)) != before)
            m_protocol.has_read_away(line);
        return before;
    }
    static std::uint32_t action_of(far_access const& a) noexcept {
        return static_cast<std::uint32_t>(a.action);
    }
    [[nodiscard]] bool is_shared() noexcept {
        // relaxed: see share
        m_is_shared = m_is_shared || m_memory.head().is_shared.load(std::memory_order_relaxed);
        return m_is_shared;
    }
    void learn_of_chunks() noexcept {
        if (is_shared() && TULLE_UNLIKELY(m_memory.chunks().has_more(m_chunks)))
            learn_of_chunks_cold();
    }
    TULLE_COLD void learn_of_chunks_cold() noexcept {
        std::uint32_t const first = m_chunks;
        m_memory.chunks().read(m_chunks, [this](line_range chunk) {
            m_memory.let_dump(chunk);
            m_memory.populate_written(chunk);
            m_memory.set_states(chunk, k_readable);
            m_protocol.expect_changes(chunk);
        });
        m_memory.chunks().read_back(first, m_chunks,
                                    [this](line_range chunk) { m_memory.populate(chunk); });
    }
    // Faults in a row at pages that others have made usable meanwhile; more than there are threads.
    static constexpr unsigned k_most_found_usable = 10'000;

    memory m_memory; // its lock guards the following, too, if there are threads
    protocol<memory> m_protocol;
    bool m_is_shared = false;
    std::uint32_t m_chunks = 0;  // that this host knows of
    unsigned m_found_usable = 0; // faults in a row
};

} // namespace tulle::dsm
