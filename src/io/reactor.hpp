// SPDX-License-Identifier: Apache-2.0
// Waits for descriptors. A thread that finds one not ready queues at it, and the descriptor is
// armed in an epoll, which reports it to whoever polls: a worker that searches for work, a busy one
// now and then, the scheduler's watcher, or, while workers sleep, an OS thread of the reactor.
//   - A waiter queues before the descriptor is armed, and to arm one that is ready reports it at
//     once, so that no event is lost.
//   - The OS thread waits for the epoll itself in a second one, which is armed by a worker that
//     goes to sleep: while workers poll, events do not wake it.
// A reactor is started by the first wait. In a deterministic run the OS thread waits with its
// thread.
#pragma once

#include "base/event_source.hpp"
#include "io/descriptor_table.hpp"
#include "os/epoll.hpp"

#include <atomic>
#include <cstdint>

#include <pthread.h>

namespace tulle::io {

// 0: it is ready, or may be: try again. Else why not: ETIMEDOUT and ECANCELED say which part of
// the limit was reached; EPERM that the descriptor is never waited for, as it is always ready or
// blocks; EBADF, ENOMEM, ENOSPC, EMFILE and others are those of the system.
using wait_error = int;

class reactor final : public base::event_source {
public:
    reactor() noexcept = default;
    reactor(reactor const&) = delete;
    reactor& operator=(reactor const&) = delete;

    // The one of the process.
    [[nodiscard]] static reactor& instance() noexcept;

    // Suspends the caller until descriptor `number` is ready for `d`.
    [[nodiscard]] wait_error wait(int number, direction d, wait::limit<parking> until) noexcept;
    // The descriptor has been closed: waits for it end with EBADF.
    void end_waits(int number) noexcept;

    // The run time stops, and nobody waits any more: first the OS thread, which uses the workers,
    // and when they, which poll, are gone, the descriptors.
    void stop_os_thread() noexcept;
    void close() noexcept;
    // In a forked child, which shares nothing of it with its parent.
    void forget() noexcept;

    // base::event_source. relaxed, both: hints; who sleeps on their strength is told (reactor.cpp).
    [[nodiscard]] bool is_awaited() const noexcept override {
        return m_waiting.load(std::memory_order_relaxed) != 0;
    }
    [[nodiscard]] bool is_watched() const noexcept override {
        return m_watched.load(std::memory_order_relaxed);
    }
    bool poll() noexcept override;
    bool poll_sometimes() noexcept override;
    void watch() noexcept override;
    [[nodiscard]] bool owns_os_thread(int tid) const noexcept override {
        return tid == m_tid.load(std::memory_order_relaxed); // relaxed: it does not change
    }

private:
    [[nodiscard]] int start() noexcept;
    [[nodiscard]] int start_locked() noexcept;
    [[nodiscard]] int open() noexcept;
    [[nodiscard]] wait_error queue_at(descriptor& d, direction way,
                                      wait::limit<parking> until) noexcept;
    [[nodiscard]] int arm(descriptor& d) noexcept;
    void deliver(descriptor& d, std::uint32_t events) noexcept;
    static void* run(void* self);
    void serve() noexcept;

    descriptor_table m_table;
    os::epoll m_events; // of descriptors
    os::epoll m_outer;  // of m_events, and of the wish to stop
    int m_stop = -1;    // an eventfd
    pthread_t m_thread{};
    base::spin_lock m_starting;
    std::atomic<bool> m_runs{false};
    std::atomic<bool> m_watched{false};
    std::atomic<int> m_tid{0};
    std::atomic<std::uint32_t> m_waiting{0}; // threads
    std::atomic<std::uint64_t> m_polled_at{0};
};

} // namespace tulle::io
