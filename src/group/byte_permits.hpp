// SPDX-License-Identifier: Apache-2.0
// Bytes that threads hold: never more than `most` altogether. A thread gets all that it will ever
// hold when it is admitted, and gives that back when it ends. Who finds too few waits as a thread,
// or is kept as a record; both are served in the order in which they came, so that many small ones
// do not keep a large one from its bytes. What comes free may serve several.
//   INV-1  held <= most
//   INV-2  while somebody waits, the one that came first wants more than is free; try_take fails
// Source: Wheeler, Murphy, Thain, Qthreads (IPDPS 2008), section 2.2.
#pragma once

#include "base/intrusive_list.hpp"
#include "wait/wait_list.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>

namespace tulle::group {

template <class Parking> class byte_permits {
    using node = wait::waiter<Parking>;

public:
    // A record that waits for bytes, without a thread.
    struct kept {
        kept* next = nullptr;
        std::size_t bytes = 0;
        std::uint64_t since = 0; // while it waits
    };
    // Those that have got their bytes: they go on when the lock has been released.
    struct served {
        wait::woken_chain<Parking> threads;
        base::intrusive_queue<&kept::next> records; // the caller starts them
    };

    explicit byte_permits(std::size_t most) noexcept : m_most(most) {}

    [[nodiscard]] std::size_t most() const noexcept { return m_most; }
    [[nodiscard]] std::size_t held() noexcept {
        std::lock_guard const guard(m_lock);
        return m_held;
    }
    [[nodiscard]] std::size_t holders() noexcept {
        std::lock_guard const guard(m_lock);
        return m_holders;
    }

    // False: too few are free, or others wait for theirs.
    [[nodiscard]] bool try_take(std::size_t bytes) noexcept {
        std::lock_guard const guard(m_lock);
        return take_free(bytes);
    }
    // Keeps the record until it is among those served. False: it has got its bytes at once.
    [[nodiscard]] bool keep(kept& record) noexcept {
        std::lock_guard const guard(m_lock);
        if (take_free(record.bytes)) return false;
        record.since = ++m_tickets;
        m_kept.push_back(record);
        return true;
    }
    void take(std::size_t bytes) noexcept {
        request self;
        self.bytes = bytes;
        wait::park(reason(), self, m_lock, [this, &self] { return enter(self); });
    }
    // False: the limit was reached. Then those that waited behind the caller may be served.
    [[nodiscard]] bool take_until(std::size_t bytes, wait::limit<Parking> until,
                                  served& others) noexcept {
        wait::timed_waiter<Parking, request> self(until);
        self.bytes = bytes;
        bool const has_bytes = wait::park_until(
            reason(), self, m_lock, m_waiting, [this, &self] { return enter(self); },
            [this, &others] { serve(others); });
        others.threads.resume_all();
        return has_bytes;
    }
    void give_back(std::size_t bytes, served& others) noexcept {
        {
            std::lock_guard const guard(m_lock);
            m_held -= bytes;
            --m_holders;
            serve(others);
        }
        others.threads.resume_all();
    }

private:
    struct request : node {
        std::size_t bytes = 0;
    };

    [[nodiscard]] wait::wait_reason reason() const noexcept {
        return {wait::wait_kind::group_permit, this};
    }
    // All functions that follow are called under the lock.
    [[nodiscard]] bool fits(std::size_t bytes) const noexcept { return bytes <= m_most - m_held; }
    void hold(std::size_t bytes) noexcept {
        m_held += bytes;
        ++m_holders;
    }
    [[nodiscard]] bool take_free(std::size_t bytes) noexcept {
        if (!m_waiting.empty() || !m_kept.empty() || !fits(bytes)) return false;
        hold(bytes);
        return true;
    }
    // True: the caller waits.
    [[nodiscard]] bool enter(request& r) noexcept {
        if (take_free(r.bytes)) return false;
        r.since = ++m_tickets;
        m_waiting.push_back(r);
        return true;
    }
    void serve(served& out) noexcept { // INV-2
        while (is_record_first() ? serve_record(out) : serve_thread(out)) {}
    }
    [[nodiscard]] bool is_record_first() const noexcept {
        if (m_kept.empty() || m_waiting.empty()) return m_waiting.empty();
        return m_kept.first()->since < m_waiting.first()->since;
    }
    // False, here and below: it has to wait, or there is none.
    [[nodiscard]] bool serve_record(served& out) noexcept {
        kept* const first = m_kept.first();
        if (first == nullptr || !fits(first->bytes)) return false;
        static_cast<void>(m_kept.pop_front());
        hold(first->bytes);
        out.records.push_back(*first);
        return true;
    }
    [[nodiscard]] bool serve_thread(served& out) noexcept {
        auto& first = static_cast<request&>(*m_waiting.first());
        if (!fits(first.bytes)) return false;
        m_waiting.unlink(first);
        if (!first.try_wake()) return true; // its limit came first
        hold(first.bytes);
        out.threads.add(first);
        return true;
    }

    std::size_t m_most;
    typename Parking::lock m_lock; // guards the rest
    std::size_t m_held = 0;
    std::size_t m_holders = 0;
    std::uint64_t m_tickets = 0;
    wait::wait_list<Parking> m_waiting;
    base::intrusive_queue<&kept::next> m_kept;
};

} // namespace tulle::group
