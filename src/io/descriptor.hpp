// SPDX-License-Identifier: Apache-2.0
// The threads that wait for a file descriptor of the process, and what is known of its events.
#pragma once

#include "base/intrusive_list.hpp"
#include "os/epoll.hpp"
#include "sched/parking.hpp"
#include "wait/wait_list.hpp"

#include <tulle/mutex.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace tulle::io {

using parking = sched::parking;

enum class direction : std::uint8_t { in, out };

// How often a descriptor has been reported for a direction, when a call looked last.
using event_count = std::uint64_t;
constexpr event_count k_never_looked = ~event_count{0};

// The place at one descriptor of a thread that waits for several (reactor::wait_for_any). The
// descriptor's lock guards it; the thread itself takes it out, after its wait.
struct shared_place {
    shared_place* next = nullptr;
    shared_place* prev = nullptr;
    wait::waiter<parking>* waiter = nullptr; // whoever ends its wait resumes the thread
    struct descriptor* at = nullptr;
    direction way = direction::in;
    event_count seen = k_never_looked;
    std::uint32_t closings = 0; // of the descriptor, before
    bool is_linked = false;
};

// It exists for as long as the process, whatever its number means: nothing, or one file after
// another. A waiter that is woken for another file tries again and waits anew.
struct descriptor {
    int number = -1;
    parking::lock lock;         // guards what follows
    std::uint32_t closings = 0; // by tulle::io::close
    // Of these events the epoll reports the file that had this number when it was asked to (EPOLLIN
    // and so on).
    std::uint32_t reported = 0;
    bool is_to_check = false;       // it is in one of the reactor's lists (check_list.hpp)
    std::uint32_t waits = 0;        // that have begun
    std::uint32_t waits_before = 0; // when it came into the list, or at the last round
    // Waits in a row that events have ended: the epoll knows the file.
    std::uint32_t proofs = 0;
    std::uint32_t checked_at = 0; // which poll that was
    wait::wait_list<parking> readers;
    wait::wait_list<parking> writers;
    base::intrusive_list<&shared_place::next, &shared_place::prev> shared; // both of them

    // The lock guards what is written.
    std::atomic<event_count> in_events{0}, out_events{0};
    std::atomic<bool> is_socket{false}; // a hint: it was one
    // A hint: it was a stream of which a read takes less than it asks for only if there is no more,
    // and of whose end nothing has been reported.
    std::atomic<bool> is_stream{false};
    std::atomic<event_count> drained{k_never_looked}; // of in_events, before such a read
    descriptor* next_to_check = nullptr;              // guarded by the reactor's list
    mutex turn_to_read; // of those that may read one part of a file after the other (calls.cpp)
    // Held by a helper while it makes a call that only one at a time is to make on this descriptor,
    // after it has looked once more whether the call would wait.
    std::mutex turn_to_accept;

    [[nodiscard]] wait::wait_list<parking>& waiting(direction d) noexcept {
        return d == direction::in ? readers : writers;
    }
    [[nodiscard]] std::atomic<event_count>& events(direction d) noexcept {
        return d == direction::in ? in_events : out_events;
    }
    // With the lock held, as the next two.
    [[nodiscard]] bool is_awaited() const noexcept {
        return !readers.empty() || !writers.empty() || !shared.empty();
    }
    [[nodiscard]] bool is_awaited(direction d) noexcept {
        if (!waiting(d).empty()) return true;
        return std::any_of(shared.begin(), shared.end(),
                           [d](shared_place const& p) { return p.way == d; });
    }
    // Ends those waits for several descriptors that nobody has ended yet. The caller resumes them
    // without the lock.
    void end_shared(direction d, wait::woken_chain<parking>& woken) noexcept {
        for (shared_place& p : shared) {
            if (p.way == d && p.waiter->try_wake()) woken.add(*p.waiter);
        }
    }
    // A read that had seen this count before took less than it asked for. relaxed: if the end was
    // reported before, the look at the count has seen that too (count_event); if it is later, that
    // is another count.
    void note_short_read(event_count seen) noexcept {
        if (is_stream.load(std::memory_order_relaxed))
            drained.store(seen, std::memory_order_relaxed);
    }
    // Nothing has been reported since a read took all there was: another one would be in vain.
    // relaxed: the thread that reads has written it, or another reader whose count is the same.
    [[nodiscard]] bool is_drained(event_count seen) const noexcept {
        return drained.load(std::memory_order_relaxed) == seen;
    }
    // With the lock held: the number is that of another file, of which no epoll knows.
    void begin_anew() noexcept {
        reported = 0;
        proofs = 0;
        is_stream.store(false, std::memory_order_relaxed); // relaxed: a hint
        count_event(direction::in);
        count_event(direction::out);
    }
    // Whoever has read the old number does not begin to wait.
    void count_event(direction d) noexcept {
        // relaxed, the load: the lock is held. release pairs with reactor::look.
        std::atomic<event_count>& count = events(d);
        count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }
};

} // namespace tulle::io
