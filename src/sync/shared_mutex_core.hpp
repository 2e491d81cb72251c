// SPDX-License-Identifier: Apache-2.0
// Held by one writer or by any number of readers. One word decides:
//   bit 0: a writer holds it | bit 1: threads wait | bits 2..63: readers that hold it
//   INV-1  under the lock: bit 1 is set exactly while one of the lists is not empty
//   INV-2  readers wait only while a writer holds it or waits
// While bit 1 is clear holders come and go by compare-and-swap. While it is set, threads get the
// mutex from the lists only, and the last holder passes it on: a writer to all readers that wait,
// else to the next writer; the last reader to the next writer, else to all readers. So readers and
// writers take turns, writers in their order, and nobody waits for more than one turn of the others
// for each writer before it.
// Source: phase-fair locks (Brandenburg and Anderson 2010, doi:10.1007/s11241-010-9097-2), with
// queues in place of spinning.
#pragma once

#include "sync/waits.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>

namespace tulle::sync {

template <class Parking> class shared_mutex_core {
    using machine = typename Parking::machine;
    template <class T> using atomic = typename machine::template atomic<T>;

public:
    // Snapshots; relaxed: nothing is read on their strength.
    [[nodiscard]] std::uint64_t readers() const noexcept {
        return m_word.load(std::memory_order_relaxed) / k_reader;
    }
    [[nodiscard]] bool is_written() const noexcept {
        return (m_word.load(std::memory_order_relaxed) & k_writer) != 0;
    }
    [[nodiscard]] bool is_used() const noexcept {
        return m_word.load(std::memory_order_relaxed) != 0;
    }

    // --- writers ---------------------------------------------------------------------------------
    [[nodiscard]] bool try_lock() noexcept {
        Parking::schedule_point();
        return take();
    }
    void lock() noexcept {
        if (try_lock() || spin([this] { return take(); })) return;
        waiter<Parking> self;
        park({wait::wait_kind::shared_mutex, this}, self, m_lock,
             [this, &self] { return enter(self); });
    }
    // False: not before the limit was reached.
    [[nodiscard]] bool lock_until(limit<Parking> until) noexcept {
        if (try_lock()) return true;
        if (until.is_over()) return false;
        if (spin([this] { return take(); })) return true;
        timed_waiter<Parking> self(until);
        woken_chain<Parking> readers;
        bool const locked = park_until(
            {wait::wait_kind::shared_mutex, this}, self, m_lock, m_writers,
            [this, &self] { return enter(self); }, [this, &readers] { let_readers_in(readers); });
        readers.resume_all();
        return locked;
    }
    void unlock() noexcept {
        std::uint64_t word = k_writer;
        // release pairs with take and take_shared.
        if (!m_word.compare_exchange_strong(word, 0, std::memory_order_release,
                                            std::memory_order_relaxed))
            pass_on_from_writer();
        Parking::schedule_point();
    }

    // --- readers ---------------------------------------------------------------------------------
    [[nodiscard]] bool try_lock_shared() noexcept {
        Parking::schedule_point();
        return take_shared(k_writer | k_waiting);
    }
    void lock_shared() noexcept {
        if (try_lock_shared() || spin([this] { return take_shared(k_writer | k_waiting); })) return;
        waiter<Parking> self;
        park({wait::wait_kind::shared_mutex, this}, self, m_lock,
             [this, &self] { return enter_shared(self); });
    }
    [[nodiscard]] bool lock_shared_until(limit<Parking> until) noexcept {
        if (try_lock_shared()) return true;
        if (until.is_over()) return false;
        if (spin([this] { return take_shared(k_writer | k_waiting); })) return true;
        timed_waiter<Parking> self(until);
        auto const join = [this, &self] { return enter_shared(self); };
        return park_until({wait::wait_kind::shared_mutex, this}, self, m_lock, m_readers, join,
                          [this] { settle(); });
    }
    void unlock_shared() noexcept {
        // release pairs with take, take_shared and pass_on_from_reader.
        std::uint64_t const before = m_word.fetch_sub(k_reader, std::memory_order_release);
        if (before / k_reader == 1 && (before & k_waiting) != 0) pass_on_from_reader();
        Parking::schedule_point();
    }

private:
    using section = std::lock_guard<typename Parking::lock>;

    static constexpr std::uint64_t k_writer = 1;
    static constexpr std::uint64_t k_waiting = 2;
    static constexpr std::uint64_t k_reader = 4;

    [[nodiscard]] bool take() noexcept {
        std::uint64_t word = 0;
        // acquire pairs with the releases in unlock, unlock_shared and the functions that pass it
        // on.
        return m_word.load(std::memory_order_relaxed) == 0 && // relaxed: the exchange decides
               m_word.compare_exchange_strong(word, k_writer, std::memory_order_acquire,
                                              std::memory_order_relaxed);
    }
    // Takes it for a reader, unless one of these bits is set.
    [[nodiscard]] bool take_shared(std::uint64_t hindrance) noexcept {
        // relaxed: the exchange decides
        std::uint64_t word = m_word.load(std::memory_order_relaxed);
        while ((word & hindrance) == 0) {
            // acquire pairs with the releases in unlock and the functions that pass it on.
            if (m_word.compare_exchange_weak(word, word + k_reader, std::memory_order_acquire,
                                             std::memory_order_relaxed))
                return true;
        }
        return false;
    }
    // A holder is often about to let go. In a deterministic run time does not pass.
    template <class Take> [[nodiscard]] bool spin(Take take) noexcept {
        if (Parking::is_deterministic()) return false;
        std::uint32_t pauses = 1;
        for (int round = 0; round < Parking::k_spin_rounds; ++round) {
            if (take()) return true;
            // relaxed: a hint
            if ((m_word.load(std::memory_order_relaxed) & k_waiting) != 0) return false;
            if (Parking::has_ready_threads()) return false;
            for (std::uint32_t k = 0; k < pauses; ++k) machine::pause();
            pauses = std::min(2 * pauses, Parking::k_most_pauses);
        }
        return false;
    }

    // --- under the lock --------------------------------------------------------------------------
    // False: the caller has got the mutex.
    [[nodiscard]] bool enter(waiter<Parking>& self) noexcept {
        // relaxed: the exchanges decide
        std::uint64_t word = m_word.load(std::memory_order_relaxed);
        for (;;) {
            if (word == 0) {
                if (take()) return false;
                word = m_word.load(std::memory_order_relaxed); // relaxed: as above
            } else if (announce(word)) {
                m_writers.push_back(self);
                return true;
            }
        }
    }
    [[nodiscard]] bool enter_shared(waiter<Parking>& self) noexcept {
        for (;;) {
            if (m_writers.empty() && take_shared(k_writer)) return false;
            // relaxed: the exchange decides
            std::uint64_t word = m_word.load(std::memory_order_relaxed);
            bool const must_wait = (word & k_writer) != 0 || !m_writers.empty(); // INV-2
            if (must_wait && announce(word)) {
                m_readers.push_back(self);
                return true;
            }
        }
    }
    // Sets bit 1 if the word, which says that the mutex is held, is still `word`: the holder then
    // finds the caller in its list. INV-1
    [[nodiscard]] bool announce(std::uint64_t& word) noexcept {
        // relaxed: the list is published by the lock.
        return (word & k_waiting) != 0 ||
               m_word.compare_exchange_weak(word, word | k_waiting, std::memory_order_relaxed,
                                            std::memory_order_relaxed);
    }
    [[nodiscard]] std::uint64_t waiting_bit() const noexcept {
        return m_writers.empty() && m_readers.empty() ? 0 : k_waiting;
    }
    void settle() noexcept {
        // relaxed: it lets go of nothing
        if (waiting_bit() == 0) m_word.fetch_and(~k_waiting, std::memory_order_relaxed);
    }
    [[nodiscard]] std::uint64_t wake_readers(woken_chain<Parking>& woken) noexcept {
        std::uint64_t count = 0;
        for (; waiter<Parking>* const w = m_readers.pop_front(); ++count) woken.add(*w);
        return count;
    }
    [[nodiscard]] bool wake_writer(woken_chain<Parking>& woken) noexcept {
        waiter<Parking>* const w = m_writers.pop_front();
        if (w != nullptr) woken.add(*w);
        return w != nullptr;
    }
    // A writer has given up: readers that waited behind it need not any longer. INV-2
    void let_readers_in(woken_chain<Parking>& woken) noexcept {
        // relaxed: a writer's bit, or its absence while the bit 1 is set, changes under this lock
        // only.
        if (m_writers.empty() && (m_word.load(std::memory_order_relaxed) & k_writer) == 0)
            // Pairs with unlock, through the word.
            m_word.fetch_add(k_reader * wake_readers(woken), std::memory_order_acquire);
        settle();
    }

    // --- holders that let go ---------------------------------------------------------------------
    // Bit 0 is set, so that nobody changes the word without the lock.
    void pass_on_from_writer() noexcept {
        woken_chain<Parking> woken;
        {
            section const held(m_lock);
            std::uint64_t const readers = wake_readers(woken);
            std::uint64_t const holders = readers != 0         ? readers * k_reader
                                          : wake_writer(woken) ? k_writer
                                                               : 0;
            // Pairs with take, take_shared.
            m_word.store(holders | waiting_bit(), std::memory_order_release);
        }
        woken.resume_all();
    }
    // Nobody held it when the caller had let go; bit 1 was set, and as long as it is, nobody
    // changes the word without the lock.
    void pass_on_from_reader() noexcept {
        woken_chain<Parking> woken;
        {
            section const held(m_lock);
            // Somebody did it. acquire pairs with unlock_shared of all.
            if (m_word.load(std::memory_order_acquire) != k_waiting) return;
            std::uint64_t const holders =
                wake_writer(woken) ? k_writer : wake_readers(woken) * k_reader;
            // Pairs with take, take_shared.
            m_word.store(holders | waiting_bit(), std::memory_order_release);
        }
        woken.resume_all();
    }

    atomic<std::uint64_t> m_word{0};
    typename Parking::lock m_lock;
    wait_list<Parking> m_writers;
    wait_list<Parking> m_readers;
};

} // namespace tulle::sync
