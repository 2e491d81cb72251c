// SPDX-License-Identifier: Apache-2.0
// Waits for descriptors. A thread that finds one not ready queues at it; an epoll reports it to
// whoever polls: a worker that searches for work, a busy one now and then, the scheduler's watcher,
// or, while workers sleep, an OS thread of the reactor.
//   - A descriptor stays in the epoll, which reports each event once (EPOLLET) and has it counted.
//     A call reads the count, tries, and queues only if the count is the same (look, wait): an
//     event that came in between is not lost, and one that comes later finds the waiter.
//   - A number may have gone over to another file since, of which the epoll does not know. So a
//     descriptor at which a thread has queued is checked before the poller rests, and now and then
//     (check): the epoll is asked anew, which adds the file if need be, and reports it if it is
//     ready. Of threads that wake each other by their output the events come before that.
//   - The OS thread waits for the epoll itself in a second one, which is armed by a worker that
//     goes to sleep. While other workers poll it leaves the events to them, and sees once in a
//     millisecond whether they still do (serve).
// A reactor is started by the first wait. In a deterministic run the OS thread waits with its
// thread.
#pragma once

#include "base/event_source.hpp"
#include "io/descriptor_table.hpp"
#include "io/helpers.hpp"
#include "os/epoll.hpp"

#include <atomic>
#include <cerrno>
#include <cstdint>

#include <pthread.h>

namespace tulle::io {

// 0: it is ready, or may be: try again. Else why not: ETIMEDOUT and ECANCELED say which part of
// the limit was reached; EPERM that the descriptor is never waited for, as it is always ready or
// blocks; EBADF, ENOMEM, ENOSPC, EMFILE and others are those of the system.
using wait_error = int;

// Which part of a limit that is over was reached.
[[nodiscard]] inline wait_error end_of(wait::limit<parking> const& until) noexcept {
    return until.token != nullptr && until.token->is_requested() ? ECANCELED : ETIMEDOUT;
}

class reactor final : public base::event_source {
public:
    reactor() noexcept = default;
    reactor(reactor const&) = delete;
    reactor& operator=(reactor const&) = delete;

    // The one of the process.
    [[nodiscard]] static reactor& instance() noexcept;

    // Before a try, whose failure may be followed by a wait.
    [[nodiscard]] event_count look(int number, direction d) const noexcept;
    // A read of one buffer without flags, which had looked before, took less than it asked for.
    void note_short_read(int number, event_count seen) noexcept {
        if (descriptor* const d = m_table.find(number)) d->note_short_read(seen);
    }
    // Whether a read would find nothing.
    [[nodiscard]] bool is_drained(int number, event_count seen) const noexcept {
        descriptor* const d = seen != k_never_looked ? m_table.find(number) : nullptr;
        return d != nullptr && d->is_drained(seen);
    }
    // A hint: it was one when somebody last began to wait for it.
    [[nodiscard]] bool was_socket(int number) const noexcept {
        descriptor* const d = m_table.find(number);
        // relaxed: the system says so if it is none any longer.
        return d != nullptr && d->is_socket.load(std::memory_order_relaxed);
    }
    // Suspends the caller until descriptor `number` is ready for `d`, or was since it was looked
    // at.
    [[nodiscard]] wait_error wait(int number, direction d, event_count seen,
                                  wait::limit<parking> until) noexcept;
    // Suspends the caller until a helper has made a call that blocks (helpers.hpp). Foreign OS
    // threads, and any in a deterministic run, make it themselves.
    [[nodiscard]] wait_error run_on_helper(void (*call)(void*) noexcept, void* argument,
                                           wait::limit<parking> until) noexcept;
    // Makes a call that closes the descriptor, or gives its number to another file, and ends waits
    // for it with EBADF. Returns what the call has.
    [[nodiscard]] int replace(int number, int (*call)(void*) noexcept, void* argument) noexcept;
    // The system has made a descriptor of this number.
    void expect_new(int number) noexcept;

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
        return (m_watched.load(std::memory_order_relaxed) ||
                m_dozes.load(std::memory_order_relaxed)) &&
               m_to_check.load(std::memory_order_relaxed) == nullptr;
    }
    bool poll() noexcept override;
    bool poll_sometimes() noexcept override;
    void watch() noexcept override;
    [[nodiscard]] bool owns_os_thread(int tid) const noexcept override {
        // relaxed: it does not change.
        return tid == m_tid.load(std::memory_order_relaxed) || m_helpers.owns_os_thread(tid);
    }

private:
    [[nodiscard]] int start() noexcept;
    [[nodiscard]] int start_locked() noexcept;
    [[nodiscard]] int open() noexcept;
    struct entry; // into the list of a descriptor
    [[nodiscard]] wait_error queue_at(descriptor& d, direction way, event_count seen,
                                      wait::limit<parking> until) noexcept;
    [[nodiscard]] bool enter(entry& e, wait::waiter<parking>& self) noexcept;
    [[nodiscard]] int report(descriptor& d, std::uint32_t wanted) noexcept;
    void check_later(descriptor& d) noexcept;
    void check_all() noexcept;
    void check(descriptor& d) noexcept;
    void deliver(descriptor& d, std::uint32_t events) noexcept;
    [[nodiscard]] bool take_events(std::uint64_t now) noexcept;
    [[nodiscard]] bool is_polled_by_others(std::uint64_t now, void const* caller) const noexcept;
    static void* run(void* self);
    void serve() noexcept;
    void serve_event() noexcept;

    descriptor_table m_table;
    helpers m_helpers;
    os::epoll m_events; // of descriptors
    os::epoll m_outer;  // of m_events, and of the wish to stop
    int m_stop = -1;    // an eventfd
    pthread_t m_thread{};
    base::spin_lock m_starting;
    std::atomic<bool> m_runs{false};
    std::atomic<bool> m_watched{false}; // m_events is armed in m_outer
    std::atomic<bool> m_dozes{false};   // the OS thread, for a millisecond
    std::atomic<int> m_tid{0};
    std::atomic<std::uint32_t> m_waiting{0}; // threads
    // Hints: when somebody has polled last, which worker that was (null: none), how often.
    std::atomic<std::uint64_t> m_polled_at{0};
    std::atomic<void const*> m_poller{nullptr};
    std::atomic<std::uint32_t> m_polls{0};
    // A stack, of which all are taken at once.
    std::atomic<descriptor*> m_to_check{nullptr};
};

} // namespace tulle::io
