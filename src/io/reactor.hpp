// SPDX-License-Identifier: Apache-2.0
// Waits for descriptors. A thread that finds one not ready queues at it; an epoll reports it to
// whoever polls: a worker that searches for work, a busy one now and then, the scheduler's watcher,
// or one of the workers that sleep, which waits in the epoll itself.
//   - A descriptor stays in the epoll, which reports each event once (EPOLLET) and has it counted.
//     A call reads the count, tries, and queues only if the count is the same (look, wait): an
//     event that came in between is not lost, and one that comes later finds the waiter.
//   - A number may have gone over to another file since, of which the epoll does not know. So waits
//     that last are checked (check): the epoll is asked anew, which adds the file if need be, and
//     reports it if it is ready. They are found in rounds (check_list.hpp): soon, or late where the
//     epoll has told of the descriptor a number of times.
//   - The worker that rests leaves the epoll alone for a millisecond at a time while another one
//     polls all the time: threads that wake each other stay together (begin_rest).
// A reactor is started by the first wait. In a deterministic run the OS thread waits with its
// thread.
#pragma once

#include "base/event_source.hpp"
#include "io/awaited_descriptors.hpp"
#include "io/check_list.hpp"
#include "io/descriptor_table.hpp"
#include "io/helpers.hpp"
#include "os/epoll.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

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
    // A hint: it was one when somebody last began to wait for it, or found out.
    [[nodiscard]] bool was_socket(int number) const noexcept {
        descriptor* const d = m_table.find(number);
        // relaxed: the system says so if it is none any longer.
        return d != nullptr && d->is_socket.load(std::memory_order_relaxed);
    }
    // What the system has said of it: others need not ask whether it is one, or try in vain.
    void note_socket(int number, bool is_one) noexcept {
        descriptor* const d = is_one ? m_table.find_or_make(number) : m_table.find(number);
        // relaxed: the hint of was_socket.
        if (d != nullptr) d->is_socket.store(is_one, std::memory_order_relaxed);
    }
    // Suspends the caller until descriptor `number` is ready for `d`, or was since it was looked
    // at.
    [[nodiscard]] wait_error wait(int number, direction d, event_count seen,
                                  wait::limit<parking> until) noexcept;
    // Likewise for one of several, whatever is asked of each.
    [[nodiscard]] wait_error wait_for_any(std::span<awaited_descriptor> several,
                                          wait::limit<parking> until) noexcept;
    // Suspends the caller until a helper has made a call that blocks (helpers.hpp). Foreign OS
    // threads, and any in a deterministic run, make it themselves.
    [[nodiscard]] wait_error run_on_helper(void (*call)(void*) noexcept, void* argument,
                                           wait::limit<parking> until) noexcept;
    // Whether the caller may as well make a call that blocks for a short while itself: it keeps its
    // worker from nothing, as another one sleeps, which takes what comes meanwhile.
    [[nodiscard]] bool may_block() const noexcept;
    // Null: there is no memory for it, or the number is not one that a descriptor can have.
    [[nodiscard]] mutex* turn_to_read(int number) noexcept {
        descriptor* const d = m_table.find_or_make(number);
        return d != nullptr ? &d->turn_to_read : nullptr;
    }
    // Likewise.
    [[nodiscard]] std::mutex* turn_to_accept(int number) noexcept {
        descriptor* const d = m_table.find_or_make(number);
        return d != nullptr ? &d->turn_to_accept : nullptr;
    }
    // Makes a call that closes the descriptor, or gives its number to another file, and ends waits
    // for it with EBADF. Returns what the call has.
    [[nodiscard]] int replace(int number, int (*call)(void*) noexcept, void* argument) noexcept;
    // Before a call that makes a descriptor that somebody will wait for: takes those that waiting
    // needs itself while there are some. 0, or why it cannot.
    [[nodiscard]] int prepare() noexcept;
    // The system has made a descriptor of this number.
    void expect_new(int number) noexcept;

    // The run time stops, and nobody waits any more: first the helpers, which use the workers, and
    // when they, which poll, are gone, the descriptors.
    void stop_helpers() noexcept;
    void close() noexcept;
    // In a forked child, which shares nothing of it with its parent.
    void forget() noexcept;

    // base::event_source. relaxed, both: hints; who sleeps on their strength is told (reactor.cpp).
    [[nodiscard]] bool is_awaited() const noexcept override {
        return m_waiting.load(std::memory_order_relaxed) != 0;
    }
    [[nodiscard]] bool is_watched() const noexcept override {
        return m_rester.load(std::memory_order_relaxed) != k_nobody &&
               (m_sees_rounds.load(std::memory_order_relaxed) || next_round() == os::k_no_deadline);
    }
    bool poll() noexcept override;
    bool poll_sometimes(std::uint32_t ready) noexcept override;
    [[nodiscard]] std::uint64_t begin_rest(void const* worker) noexcept override;
    [[nodiscard]] bool rest(std::uint64_t until) noexcept override;
    void take_found() noexcept override;
    void end_rest(void const* worker) noexcept override;
    void wake() noexcept override;
    [[nodiscard]] bool owns_os_thread(int tid) const noexcept override {
        return m_helpers.owns_os_thread(tid);
    }

private:
    [[nodiscard]] int start() noexcept;
    [[nodiscard]] int start_locked() noexcept;
    [[nodiscard]] int open() noexcept;
    struct entry; // into the list of a descriptor
    [[nodiscard]] wait_error queue_at(descriptor& d, direction way, event_count seen,
                                      wait::limit<parking> until) noexcept;
    [[nodiscard]] bool enter(entry& e, wait::waiter<parking>& self) noexcept;
    [[nodiscard]] bool enter(awaited_descriptor& a, poll_wait<parking>& waiting,
                             wait_error& error) noexcept;
    [[nodiscard]] wait_error wait_in_each(std::span<awaited_descriptor> several,
                                          wait::limit<parking> until) noexcept;
    void tell_of_wait(bool is_guest) noexcept;
    [[nodiscard]] int report(descriptor& d, std::uint32_t wanted) noexcept;
    void check_later(descriptor& d, std::uint32_t waits_before) noexcept;
    void check_due(std::uint64_t now) noexcept;
    void check(descriptor& d) noexcept;
    [[nodiscard]] std::uint64_t next_round() const noexcept;
    [[nodiscard]] bool deliver_all(std::span<epoll_event const> found) noexcept;
    void deliver(descriptor& d, std::uint32_t events) noexcept;
    void note_proof(descriptor& d) noexcept;
    void note_poll(std::uint64_t now) noexcept;
    [[nodiscard]] bool take_events(std::uint64_t now, std::size_t most = k_events_at_once) noexcept;
    [[nodiscard]] bool is_polled_by_others(std::uint64_t now, void const* caller) const noexcept;
    void silence() noexcept;

    static constexpr std::size_t k_events_at_once = 128;
    static constexpr std::size_t k_events_behind_many = 16;
    using event_buffer = std::array<epoll_event, k_events_at_once>;

    descriptor_table m_table;
    helpers m_helpers;
    os::epoll m_events;             // of descriptors, and of wake()
    os::private_descriptor m_wakes; // an eventfd, which only the worker that rests reads
    base::spin_lock m_starting;
    std::atomic<bool> m_runs{false};
    std::atomic<std::uint32_t> m_waiting{0}; // threads

    // The worker that rests, and in its lowest bit whether it leaves the epoll alone for now.
    static constexpr std::uintptr_t k_nobody = 0;
    static constexpr std::uintptr_t k_dozes = 1;
    std::atomic<std::uintptr_t> m_rester{k_nobody};
    std::atomic<bool> m_sees_rounds{false}; // it wakes for the next one
    event_buffer m_found;                   // by that worker
    std::size_t m_found_count = 0;

    // Hints: when somebody has polled last, which worker that was (null: none), how often.
    std::atomic<std::uint64_t> m_polled_at{0};
    std::atomic<void const*> m_poller{nullptr};
    std::atomic<std::uint32_t> m_polls{0};
    std::atomic<std::uint64_t> m_poll_again_at{0}; // after a poll that has found nothing
    check_list m_check_soon{1'000'000};
    check_list m_check_late{50'000'000};
};

} // namespace tulle::io
