// SPDX-License-Identifier: Apache-2.0
// A worker is an OS thread that runs threads, and what belongs to it. A foreign OS thread that uses
// Tulle gets one as well, of kind `guest`: it owns a deque and runs its own threads at their joins,
// but has no loop.
// Who may touch what is said by types. A `worker&` is the caller's own. Anybody else has a
// `worker_remote&`.
#pragma once

#include "arch/float_environment.hpp"
#include "arch/registers.hpp"
#include "base/rng.hpp"
#include "os/signal_stack.hpp"
#include "park/idle_set.hpp"
#include "sched/fiber.hpp"
#include "sched/lent_number.hpp"
#include "sched/queues/mailbox.hpp"
#include "sched/queues/ready_queue.hpp"
#include "sched/records/record_deque.hpp"
#include "sched/records/shown_deque.hpp"
#include "sched/rest_flag.hpp"
#include "sched/shepherd.hpp"
#include "sched/stacks/spare_stock.hpp"
#include "sched/stacks/stack_cache.hpp"
#include "sched/steal_pace.hpp"
#include "sched/watch/stuck_judge.hpp"
#include "wait/timer_queue.hpp"

#include <tulle/detail/current.hpp>

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include <pthread.h>

namespace tulle::detail {
struct cancellation;
}

namespace tulle::sched {

class scheduler;
class deterministic_run;
struct thread_record;

// What a context leaves to the next one: run by it first, so that nothing is published before its
// registers are saved.
struct post_action {
    void (*run)(void*, void*) = nullptr;
    void* a = nullptr;
    void* b = nullptr;
};

// What an OS thread that went to sleep last remembers, to see later whether all has stood still
// since.
struct quiet_watch {
    std::uint64_t activity = 0; // wakes and waits of guests so far
    std::uint64_t period_ns = 0;
    std::uint64_t due = 0; // ns: of the next check for a deadlock
};

// Counts up, by one thread; others see it change.
class progress_count {
public:
    // relaxed: its own. release: pairs with the fence behind dsm::grace_periods::last_ended;
    // nothing else is read on its strength.
    std::uint32_t advance() noexcept {
        std::uint32_t const next = m_count.load(std::memory_order_relaxed) + 1;
        m_count.store(next, std::memory_order_release);
        return next;
    }
    [[nodiscard]] std::uint32_t value() const noexcept {
        return m_count.load(std::memory_order_relaxed);
    }

private:
    std::atomic<std::uint32_t> m_count{0};
};

// The next decision of a worker probes for timers and the work of others first. Set by the worker,
// and by the watcher where something waits. relaxed: one that is missed comes again.
class probe_request {
public:
    void set() noexcept { m_is_set.store(true, std::memory_order_relaxed); }
    void clear() noexcept { m_is_set.store(false, std::memory_order_relaxed); }
    [[nodiscard]] bool is_set() const noexcept { return m_is_set.load(std::memory_order_relaxed); }

private:
    std::atomic<bool> m_is_set{false};
};

// Threads that became ready together: whose time had come when the worker last expired timers in a
// search, or whose events had come when it took them; and those that it then took from a worker of
// which this is true. Written by the worker only. A hint; relaxed: it saves searches.
class ready_burst {
public:
    // `decisions`: of the worker, so far.
    void begin(std::uint32_t decisions) noexcept {
        m_began.store(decisions, std::memory_order_relaxed);
        m_threads.store(0, std::memory_order_relaxed);
    }
    void add(std::uint32_t decisions, std::size_t threads) noexcept {
        if (!is_all(decisions)) begin(decisions);
        m_threads.store(size() + static_cast<std::uint32_t>(threads), std::memory_order_relaxed);
    }
    // Whether the worker has done nothing since but run them: each takes a decision to start, and
    // one to find what comes next.
    [[nodiscard]] bool is_all(std::uint32_t decisions) const noexcept {
        return decisions - m_began.load(std::memory_order_relaxed) <= 2 * size();
    }
    [[nodiscard]] std::uint32_t size() const noexcept {
        return m_threads.load(std::memory_order_relaxed);
    }

private:
    std::atomic<std::uint32_t> m_began{0};
    std::atomic<std::uint32_t> m_threads{0};
};

enum class worker_kind : std::uint8_t { dedicated, adopted, guest };
// One that is not regular runs although its index is not below the number that is wanted: in place
// of a worker that is stuck, or of one that a thread blocks on purpose.
enum class worker_role : std::uint8_t { regular, substitute, stand_in };

// What others may touch. A thief, a waker, the watcher and a report get no more of a worker than
// this.
struct alignas(128) worker_remote {
    worker_remote(scheduler& its_scheduler, worker_kind its_kind, int its_index,
                  bool asymmetric) noexcept
        : owner(&its_scheduler),
          index(its_index),
          kind(its_kind),
          keeps_resumed(its_kind != worker_kind::guest),
          ready(asymmetric),
          stands_by(its_kind == worker_kind::dedicated),
          numbers(its_index) {}
    worker_remote(worker_remote const&) = delete;
    worker_remote& operator=(worker_remote const&) = delete;

    [[nodiscard]] bool is_guest() const noexcept { return kind == worker_kind::guest; }
    // Whether a thread may run here that is placed on this shepherd (-1: on none).
    [[nodiscard]] bool may_run(int shepherd_index) const noexcept {
        return !is_guest() && (shepherd_index < 0 || shepherd_index == home->index);
    }

    // What it runs; written by its own OS thread, which alone relies on it: a report of a running
    // worker knows that it may be old (watch/census.cpp). First, as detail::current_fiber reads it
    // there.
    fiber* current = nullptr;

    // --- fixed before others learn of the worker -------------------------------------------------
    scheduler* owner;
    shepherd* home = nullptr; // guests: null
    int index;                // dedicated and adopted: 0 .. workers-1; guests: -1
    worker_kind kind;

    // --- what its owner changes often ------------------------------------------------------------
    // A thread that it wakes becomes ready here, and others are told. False for a guest, for a
    // worker of a forked child, which may wake copies of threads that are not there, and while it
    // gathers. Only its own OS thread uses this.
    bool keeps_resumed;
    bool gathers_events = false;                    // nobody is told yet; likewise
    std::uint32_t gathered = 0;                     // threads, by its own OS thread
    progress_count decisions;                       // of the scheduler; written by the worker only
    probe_request probe;                            // its next decision
    ready_burst event_burst;                        // of events; find_work.cpp
    ready_burst burst;                              // of timers; find_work.cpp
    ready_queue ready;                              // its ready threads
    shown_deque<os::machine, record_deque> visible; // the deque of its current fiber
    // These count threads with a record of their own; written by the worker only.
    std::atomic<std::int64_t> threads_made{0};
    std::atomic<std::int64_t> threads_ended{0}; // likewise
    rest_flag<os::machine> rest;                // it searches, sleeps or stands by
    // ns: it finds nothing that it has a stack for; 0: not so. Written by the worker only.
    std::atomic<std::uint64_t> starves_since{0};

    // --- how it is woken -------------------------------------------------------------------------
    sched::mailbox<os::machine, fiber> mailbox; // its bound fiber, made ready by somebody else
    park::sleeper<os::machine> sleeper;
    std::atomic<std::uint32_t> nap_word{0}; // futex; 1 while the worker naps (idle.cpp)

    // --- whether it may run threads --------------------------------------------------------------
    // These are written under active_workers::m_changing.
    // It is not active, and runs nothing: not yet, or not any more.
    std::atomic<bool> stands_by;
    std::atomic<worker_role> role{worker_role::regular};
    std::atomic<bool> is_disabled{false};
    // It is to stand by until the number that it has lent, or was lent, is back.
    std::atomic<bool> is_held_back{false};
    lent_number numbers;
    std::atomic<bool> has_ended{false}; // its OS thread is at its end, to be joined
    // Dedicated and started; used by those who start and join OS threads.
    bool has_os_thread = false;
    pthread_t os_thread{};   // likewise
    std::atomic<int> tid{0}; // of its OS thread, as the system numbers them; 0: none

    // --- guests that wait (watch/standstill_finder.cpp) ------------------------------------------
    std::atomic<bool> waits_forever{false};    // until it is resumed, without a deadline
    std::atomic<std::uint32_t> waits_begun{0}; // written by the guest only
    arch::code_point waits_at;                 // of its wait; read by others while waits_forever

    // --- for reports -----------------------------------------------------------------------------
    std::atomic<stuck_state> found{stuck_state::free}; // written by the watcher
    // The system call it was found in; -1: none, or not known.
    std::atomic<int> found_call{-1};
    // What a report's signal has interrupted; meaningful with stopped_in.
    arch::registers stopped_at;
    std::atomic<std::uint32_t> stopped_in{0}; // number of the request (diag/snapshot.cpp)
    // Odd while it is in the handler of that signal, where it sits in the kernel without being
    // stuck. Written by its own OS thread.
    std::atomic<std::uint32_t> halts{0};
};

// What only the worker's own OS thread touches. While the worker has no OS thread, the one that
// makes, starts or frees it does.
struct alignas(128) worker_core {
    explicit worker_core(worker_kind kind, int index) noexcept
        : keeps_spawned(kind != worker_kind::guest),
          random(static_cast<std::uint64_t>(index) + 1) {}
    worker_core(worker_core const&) = delete;
    worker_core& operator=(worker_core const&) = delete;

    // --- switching -------------------------------------------------------------------------------
    post_action post;
    void* exception_globals = nullptr; // of its OS thread
    void* thread_pointer = nullptr;    // of its OS thread; guests: null, they switch to nobody
    // A thread that is spawned here goes to `ready`; not for a guest.
    bool keeps_spawned;
    std::uint32_t most_unstarted = UINT32_MAX; // in `ready`, as settings say
    bool waits_again = false;                  // scheduler::note_another_turn; until leave_records
    // What it runs handles messages, and must not be suspended, though it may spawn.
    bool delivers = false;
    spare_stock spares; // suspended fibers with an idle loop
    // Suspended at the bottom of a stack of another size, whose thread has ended: for the next one
    // of that size. Null: there is none.
    fiber* kept = nullptr;
    // The OS thread's own stack, when it is not where threads run.
    fiber* native = nullptr;
    // That it takes part in (modes/deterministic.hpp); fixed before the worker starts.
    deterministic_run* run = nullptr;

    // --- finding work ----------------------------------------------------------------------------
    thread_record* start_next = nullptr; // to be run by the loop before anything else (child first)
    // Claimed already: the next context, a loop, runs it at once.
    thread_record* begins = nullptr;
    thread_record* begins_on_kept = nullptr; // likewise, on what was `kept`
    arch::float_environment begins_with;     // that one, as on a stack that is made for it
    record_deque* stolen_from = nullptr;     // the deque of the record that it stole last
    base::rng random;
    steal_pace pace;                 // of its steals from other workers' ready queues
    std::vector<std::uint32_t> seen; // progress of other workers' ready queues at the last visit
    // Nobody but this worker may see to the first deadline; until it sleeps or runs something.
    bool leaves_deadlines = false;
    int barren_wakes = 0;    // woken in a row without finding work
    bool has_worked = false; // since it last gave memory back
    quiet_watch watch;       // watch/standstill_finder.cpp
    std::uint64_t steals = 0, suspends = 0;

    // --- threads with records of their own -------------------------------------------------------
    std::uint64_t next_id = 0, id_limit = 0; // thread identities drawn in blocks
    runnable_list free_records;              // memory of thread records
    int free_record_count = 0;
    // Claims by joiners that are left until claimed records are taken out of the queues
    // (records/claimed_records.cpp).
    std::uint32_t claims_left = 0;

    // --- its OS thread ---------------------------------------------------------------------------
    // Of its slot in worker-local tables: even for workers, odd for guests.
    std::size_t local_number = 0;
    // Where signal handlers run that ask for it; stacks of threads may be too small.
    os::signal_stack handlers;
    // Adopted, guests: an address on the stack of the OS thread.
    void const* on_system_stack = nullptr;
    wait::timer* own_timer = nullptr; // guests: ends its wait; null: no time does
    // Guests: ends its wait, perhaps at a time; null: none does.
    detail::cancellation* own_token = nullptr;

    stack_cache stacks;
};

// A worker as its own OS thread has it: this_worker(). Of any other there is a worker_remote.
struct worker : worker_remote, worker_core {
    worker(scheduler& its_scheduler, worker_kind its_kind, int its_index, bool asymmetric) noexcept
        : worker_remote(its_scheduler, its_kind, its_index, asymmetric),
          worker_core(its_kind, its_index) {}
};

// From its construction to end(), threads that this worker makes ready go to its queue, and nobody
// is told of them.
class gathering {
public:
    explicit gathering(worker_remote& w) noexcept
        : m_worker(w), m_kept(std::exchange(w.keeps_resumed, false)) {
        w.gathers_events = true;
        w.gathered = 0;
    }
    gathering(gathering const&) = delete;
    gathering& operator=(gathering const&) = delete;
    void end() noexcept {
        m_worker.gathers_events = false;
        m_worker.keeps_resumed = m_kept;
        if (m_worker.gathered != 0)
            m_worker.event_burst.add(m_worker.decisions.value(), m_worker.gathered);
    }

private:
    worker_remote& m_worker;
    bool m_kept;
};

// The calling OS thread's worker, or null. Read afresh after anything that may switch stacks.
[[nodiscard]] TULLE_INLINE worker* this_worker() noexcept {
    return static_cast<worker*>(
        detail::read_current<offsetof(detail::current_block, worker)>(&tulle_read_current));
}
void write_current_outlined(int offset, void* word) noexcept;
TULLE_INLINE void set_this_worker(worker* w) noexcept {
    detail::write_current<offsetof(detail::current_block, worker)>(w, &write_current_outlined);
    detail::write_current<offsetof(detail::current_block, run)>(w != nullptr ? w->run : nullptr,
                                                                &write_current_outlined);
}
// Writes, too, what the inline hot path reads.
TULLE_INLINE void set_current_deque(record_deque* deque) noexcept {
    detail::write_current<offsetof(detail::current_block, deque)>(
        static_cast<detail::deque_front*>(deque), &write_current_outlined);
}

// Says the same in thread-local variables that are not the caller's yet, so that no signal handler
// finds another worker's words once they are.
void write_current_beside(void* thread_pointer, worker& w, record_deque* deque) noexcept;

} // namespace tulle::sched
