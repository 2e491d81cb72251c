// SPDX-License-Identifier: Apache-2.0
// The set of workers of this process, grouped into shepherds, and what they share. One object; it
// can be started and stopped again and again, but is never destroyed, because foreign threads and
// thieves may still hold addresses in it.
#pragma once

#include "base/debug_access.hpp"
#include "base/event_source.hpp"
#include "base/idle_poller.hpp"
#include "os/topology.hpp"
#include "park/sleep_steps.hpp"
#include "park/timekeeper.hpp"
#include "sched/active_workers.hpp"
#include "sched/find_work.hpp"
#include "sched/growing_list.hpp"
#include "sched/modes/deterministic.hpp"
#include "sched/modes/guest_list.hpp"
#include "sched/modes/process_fork.hpp"
#include "sched/modes/stack_shortage.hpp"
#include "sched/queues/injector.hpp"
#include "sched/records/thread_record.hpp"
#include "sched/registry.hpp"
#include "sched/stacks/shared_spares.hpp"
#include "sched/stacks/stack_use.hpp"
#include "sched/switch.hpp"
#include "sched/watch/standstill_finder.hpp"
#include "sched/watch/watcher.hpp"
#include "sched/worker.hpp"
#include "wait/timer_queue.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace tulle::sched {

using wait::k_never;
using wait::timer;
using wait::timer_queue;

struct settings {
    os::topology machine;
    int workers = 1;
    int max_workers = 1; // at least `workers`; fixed while running
    // Workers besides, in place of those that are stuck; 0: nobody searches for these.
    int max_substitutes = 0;
    // A caller that was adopted goes on elsewhere when its own worker is stuck with another thread.
    bool main_may_move = true;
    // Workers go to the shepherds in turn; else as many as the shepherds' processors call for.
    bool deals_evenly = false;
    std::size_t stack_size = 0;
    stack::guard_choice guard = stack::guard_choice::automatic;
    std::uint64_t spin_ns = 20000; // how long a worker searches before it sleeps
    std::uint64_t seed = 0;        // not 0: a run by modes/deterministic.hpp, of one worker
    // Called when something is found to stand still; may end the program. Null: nobody checks.
    void (*on_deadlock)(standstill found) noexcept = nullptr;
    // Nothing has moved for so long when the first check comes.
    std::uint64_t first_check_ns = 1'000'000'000;
    // Whether the program has handlers that somebody else may cause to be called. Null: it has
    // none.
    bool (*awaits_signal)() noexcept = nullptr;
    // Searches for a circle among threads that wait while others go on; one call at a time. Null:
    // nobody searches.
    circle_search (*find_circle)() noexcept = nullptr;
    // The calling OS thread becomes worker 0; else all workers are new OS threads.
    bool adopt_caller = true;
    std::size_t most_stacks = 0;               // at a time; 0: as many as memory allows
    std::uint32_t most_unstarted = UINT32_MAX; // in a queue, before a spawner is held up
    bool explains = false;                     // the option `explain`
    bool measures_stacks = false;              // stacks/stack_use.hpp
    // Called, where stacks are measured, when a stack without a guard is found to have overflowed.
    void (*on_late_overflow)(stack_user const& user, thread_id id) noexcept = nullptr;
};

class scheduler {
public:
    static constexpr int k_spares_kept = 2; // when idle

    // The one of this process; exists from the first call on.
    [[nodiscard]] static scheduler& instance() noexcept;

    // --- life (lifecycle.cpp); the caller serialises these ---------------------------------------
    [[nodiscard]] int start(settings const& chosen); // 0 or a positive errno
    // 0; EBUSY: threads are alive; EPERM: this thread may not stop it.
    [[nodiscard]] int may_stop() noexcept;
    void stop() noexcept; // after may_stop() has returned 0
    // The OS thread that initialised calls these before stop(): end_caller() destroys its values
    // and its name, and caller_has_end() says whether it has any.
    [[nodiscard]] bool caller_has_end() const noexcept;
    void end_caller() noexcept;
    // acquire pairs with start.
    [[nodiscard]] bool is_running() const noexcept {
        return m_running.load(std::memory_order_acquire);
    }
    [[nodiscard]] settings const& chosen() const noexcept { return m_settings; }
    // Whether the deques that are opened from now on leave the fences of their owners to thieves.
    // In a deterministic run each fork and join takes its cold path.
    [[nodiscard]] bool opens_asymmetric_deques() const noexcept {
        return m_asymmetric && !is_deterministic();
    }
    [[nodiscard]] bool is_deterministic() const noexcept { return m_settings.seed != 0; }
    [[nodiscard]] deterministic_run& deterministic() noexcept { return m_deterministic; }
    [[nodiscard]] std::int64_t live_threads() const noexcept;

    // --- which workers there are -----------------------------------------------------------------
    [[nodiscard]] active_workers& active() noexcept { return m_active; }
    [[nodiscard]] active_workers const& active() const noexcept { return m_active; }
    // Each index of a worker is below this.
    [[nodiscard]] int most_workers() const noexcept {
        return m_settings.max_workers + m_settings.max_substitutes;
    }

    // The process is about to end, by exit, and the run time need not have stopped: of the OS
    // threads of workers none ends from now on, and those that have ended are joined.
    void prepare_end_of_process() noexcept;

    // --- workers that are stuck; the watcher calls these -----------------------------------------
    void join_ended_workers() noexcept;
    // Whether something is ready that no worker is about to take. A hint.
    [[nodiscard]] bool something_waits() noexcept;
    // --- main, which may go on elsewhere then (main_moves.cpp); the watcher calls the first ------
    // Lets any worker run main from now on, if main is ready while its own worker is stuck.
    void free_main() noexcept;
    // Main calls this: any worker may run it from now on, stuck or not. By others: nothing.
    void let_main_move() noexcept;
    // Main calls this to go on on the OS thread that it was adopted on.
    void bind_main() noexcept;
    [[nodiscard]] watcher const& watching() const noexcept { return m_watcher; }
    void pause_watcher(bool pauses) noexcept { m_watcher.pause(pauses); }

    // --- guests (modes/guest.cpp) ----------------------------------------------------------------
    // Makes a guest of the calling OS thread, which has no worker. False: no memory.
    [[nodiscard]] bool attach_guest() noexcept;
    [[nodiscard]] static std::size_t guest_bytes() noexcept;
    // The deadline of a token has come nearer, and may end their waits sooner.
    void tell_guests_of_deadline() noexcept;
    void detach_guest(worker& w) noexcept;

    [[nodiscard]] process_fork& around_fork() noexcept { return m_process_fork; }

    // --- making work -----------------------------------------------------------------------------
    // Queues a thread that comes from outside the workers (shepherd -1) or is placed on a shepherd,
    // and wakes a worker for it.
    void inject(runnable& r, int shepherd_index) noexcept;
    // The fiber that is bound to this worker is ready.
    void post_to_mailbox(worker_remote& w, fiber& f) noexcept;
    // Wakes a worker if need be, after plain stores that made work (park/sleep_steps.hpp).
    void notify_light() noexcept;
    // Called in its place before a switch. False: it need not be called behind it.
    [[nodiscard]] bool notice_is_due() const noexcept;
    // Wakes a worker that sleeps or naps, after work was made outside the workers. False: no worker
    // searches or has slept.
    bool notify_all_idle() noexcept;
    // Shows the records of a fiber that is about to be suspended to thieves.
    void park_records(fiber& f) noexcept;
    // Called before the thread on `f` waits, once it is sure that its worker can go on: makes room
    // where stacks are short, and then does what park_records does.
    void leave_records(fiber& f) noexcept;
    // Called before, if this is another turn of the same wait, whose waker counts on the waiter to
    // try again soon: then no room is made.
    void note_another_turn(fiber const& f) noexcept;
    // `w` stands on a stack with this deque from now on.
    void show_deque(worker& w, record_deque* deque) noexcept;
    // The same of the first one that `w`, perhaps a guest, has: a worker that does not see it when
    // it goes to sleep makes no heavy fence (others_make_work), so that this makes a fence.
    void show_first_deque(worker& w, record_deque* deque) noexcept;

    // --- finding work (find_work.cpp, idle.cpp) --------------------------------------------------
    [[nodiscard]] bool has_other_work(worker& w) noexcept; // for yield: a hint
    [[nodiscard]] runnable* take_local(worker& w) noexcept;
    // A thread that was placed or injected, or is ready on another worker.
    [[nodiscard]] runnable* take_shared(worker& w) noexcept;
    // A thread that was placed or injected at the worker's own shepherd. Of the injected ones it
    // queues some more.
    [[nodiscard]] runnable* take_at_home(worker& w) noexcept;
    [[nodiscard]] record* steal_record(worker& w) noexcept;
    std::size_t expire_timers() noexcept; // returns how many have fired
    // Whether `w` should not sleep, after it has announced its sleep (H2).
    [[nodiscard]] bool something_to_do(worker_remote& w) noexcept;
    // Makes the next fork into each deque wake a sleeper. False: nobody shows a deque.
    [[nodiscard]] bool set_wake_flags() noexcept;
    // Of a worker that has made a fence, and is awake or has announced its sleep: whether others
    // may make work without one.
    [[nodiscard]] bool others_make_work(bool is_announced) noexcept;
    [[nodiscard]] park::idle_set<os::machine>& idle() noexcept { return m_idle; }
    // relaxed: a worker that goes to sleep reads it after its heavy fence (H2), and one that stands
    // by after the limit, which changes later.
    [[nodiscard]] bool is_stopping() const noexcept {
        return m_stopping.load(std::memory_order_relaxed);
    }
    // Null: there is none. A poller must stay until workers have been told of another one and have
    // ended their searches. release pairs with idle_poller. The fence: of work that is made for it
    // after this, either the maker sees that nobody searches, or the searcher sees the poller
    // (others_make_work).
    void set_idle_poller(base::idle_poller* poller) noexcept {
        m_idle_poller.store(poller, std::memory_order_release);
        os::machine::fence_seq_cst();
    }
    // acquire pairs with set_idle_poller.
    [[nodiscard]] base::idle_poller* idle_poller() const noexcept {
        return m_idle_poller.load(std::memory_order_acquire);
    }
    // Null: there is none. It stays as long as workers may use it. release pairs with events.
    void set_event_source(base::event_source* source) noexcept {
        m_events.store(source, std::memory_order_release);
    }
    // Called by each worker's OS thread before it runs threads, from the next start on. It chooses
    // the signals that the OS thread gets, which has blocked all of them till then.
    void set_worker_start(void (*begin)() noexcept) noexcept { m_begin_worker = begin; }
    // acquire pairs with set_event_source.
    [[nodiscard]] base::event_source* events() const noexcept {
        return m_events.load(std::memory_order_acquire);
    }
    // Null: no thread waits for an event.
    [[nodiscard]] base::event_source* awaited_events() const noexcept {
        base::event_source* const source = events();
        return source != nullptr && source->is_awaited() ? source : nullptr;
    }
    // Gives memory back. A worker calls it that has been idle for a while.
    void trim(worker& w) noexcept;

    // --- stacks ----------------------------------------------------------------------------------
    // Null: there is no stack, and no memory for one.
    [[nodiscard]] fiber* make_loop_fiber(worker& w) noexcept;
    // The fiber's stack has the class that `t` wants.
    [[nodiscard]] fiber* make_thread_fiber(worker& w, thread_record& t) noexcept;
    // The largest stack that a worker keeps for the next thread of that size.
    static constexpr std::size_t k_most_kept = std::size_t{256} << 10U;
    void return_spares(worker& w) noexcept;
    void release_fiber(fiber& f) noexcept; // nobody stands on it
    [[nodiscard]] stack::stack_pool& stacks() noexcept { return *m_stacks; }
    // False in a child process before its first use.
    [[nodiscard]] bool has_stacks() const noexcept { return m_stacks != nullptr; }
    // Null: stacks are not measured. It stays until the next start.
    [[nodiscard]] stack_uses* uses_of_stacks() const noexcept { return m_stack_uses.get(); }
    // A thread at the bottom of its stack has ended.
    void note_use(fiber const& f, void const* site, bool is_forked, thread_id id) noexcept;

    // Where stacks are short, waits and starts keep to an order in which work goes on.
    [[nodiscard]] stack_shortage& shortage() noexcept { return m_shortage; }

    // --- deques ----------------------------------------------------------------------------------
    [[nodiscard]] record_deque* open_deque(fiber& f, std::uint8_t level) noexcept;
    void close_newest_deque(fiber& f) noexcept; // it is empty, and not the smallest
    void close_deques(fiber& f) noexcept;       // all but the smallest
    void free_deque(record_deque& deque) noexcept;

    // --- queues, timers, numbers -----------------------------------------------------------------
    // Takes records out of the queues that their joiners have claimed, see
    // records/claimed_records.cpp.
    void drop_claimed(worker& w) noexcept;
    // Whether so many threads wait in the queue that a thread for this shepherd (-1: for anyone)
    // goes to that its spawner is held up.
    [[nodiscard]] bool is_far_behind(int shepherd_index) const noexcept {
        return m_injector.is_far_behind(shepherd_index, m_settings.most_unstarted);
    }
    [[nodiscard]] timer_queue& timers() noexcept { return m_timers; }
    void insert_timer(timer& t) noexcept;
    // A worker that was to see to the deadlines has found work to run (find_work.cpp).
    void leave_deadlines(worker& w) noexcept;
    // The first deadline that no sleeping worker wakes for, or soon after; k_never: there is none.
    [[nodiscard]] std::uint64_t first_unkept_deadline() const noexcept;
    // The sleeping worker that wakes for the first deadline, and the first of those that do so a
    // while later (idle.cpp).
    [[nodiscard]] park::timekeeper<os::machine>& keeper() noexcept { return m_keeper; }
    [[nodiscard]] park::timekeeper<os::machine>& second_keeper() noexcept {
        return m_second_keeper;
    }

    [[nodiscard]] std::vector<std::unique_ptr<shepherd>> const& shepherds() const noexcept {
        return m_registry.shepherds();
    }
    [[nodiscard]] guest_list const& guests() const noexcept { return m_guests; }
    [[nodiscard]] injector const& queues() const noexcept { return m_injector; }
    [[nodiscard]] standstill_finder& standstills() noexcept { return m_standstills; }
    // These include workers that stand by.
    [[nodiscard]] growing_list<worker_remote*> const& workers() const noexcept {
        return m_registry.workers();
    }
    // relaxed: only different numbers are wanted.
    [[nodiscard]] thread_id draw_ids(std::uint64_t count) noexcept {
        return m_next_id.fetch_add(count, std::memory_order_relaxed);
    }

private:
    scheduler();
    friend void* worker_main(void* self);
    friend class active_workers;
    friend class deterministic_run;
    friend class process_fork;
    friend class stack_shortage;

    void prepare_stacks(bool measured);
    worker& make_worker(shepherd* home); // null: where there is most room
    // Starts an OS thread for a dedicated worker that has none.
    [[nodiscard]] int start_os_thread(worker& w);
    // Gives a dedicated worker an OS thread if it has none, or one that is at its end.
    [[nodiscard]] int revive(worker& w);
    [[nodiscard]] int start_os_threads();
    static void flush_caches(worker& w) noexcept;
    static void pin(worker_remote& w) noexcept;
    void adopt_caller(worker& w);
    void settle(guest& g) noexcept;
    void adopt_guest(worker& as_guest) noexcept;
    void retire_guest(guest& retired) noexcept;
    void join_os_threads() noexcept;
    void free_everything() noexcept;
    static void wake_from_nap(worker_remote& w) noexcept;
    void wake_one_of(shepherd& s) noexcept;
    [[nodiscard]] bool hand_to_sleeper(runnable& r, int shepherd_index) noexcept;
    [[nodiscard]] runnable* take_ready_of(worker& thief, worker_remote& victim) noexcept;
    [[nodiscard]] record* steal_record_of(worker& thief,
                                          growing_list<worker_remote*> const& victims) noexcept;
    [[nodiscard]] runnable* take_ready_of(worker& thief,
                                          growing_list<worker_remote*> const& victims) noexcept;

    settings m_settings;
    std::atomic<base::idle_poller*> m_idle_poller{nullptr};
    std::atomic<base::event_source*> m_events{nullptr};
    void (*m_begin_worker)() noexcept = nullptr; // set before the start
    bool m_asymmetric = true;
    std::atomic<bool> m_running{false};
    std::atomic<bool> m_stopping{false};
    registry m_registry; // workers are added under m_active.hold()
    active_workers m_active{*this};
    injector m_injector{m_registry.shepherds()};
    watcher m_watcher;
    fiber m_adopted{fiber_kind::adopted};
    thread_frame m_adopted_frame;
    std::atomic<bool> m_main_stays{false}; // it has to be at home from now on
    std::unique_ptr<stack::stack_pool> m_stacks;
    std::unique_ptr<stack_uses> m_stack_uses;
    struct {
        void (*loop)(void*);
        void (*own_stack)(void*);
    } m_entries{}; // of new stacks: loop.cpp, measuring or not
    stack_shortage m_shortage{*this, m_stacks};
    deque_pool m_deques;
    parked_deques m_parked;
    timer_queue m_timers;
    park::timekeeper<os::machine> m_keeper, m_second_keeper;
    park::idle_set<os::machine> m_idle;
    deterministic_run m_deterministic;
    std::atomic<thread_id> m_next_id{1};

    standstill_finder m_standstills{*this};
    shared_spares m_shared_spares;
    guest_list m_guests;
    // Threads that guests had made more than ended when the scheduler started.
    std::int64_t m_guests_surplus = 0;

    friend class census;

    process_fork m_process_fork{*this};
    friend struct base::debug_access;
};

TULLE_INLINE void scheduler::show_deque(worker& w, record_deque* deque) noexcept {
    set_current_deque(deque);
    w.visible.show(deque, m_idle, m_asymmetric);
}

inline void scheduler::show_first_deque(worker& w, record_deque* deque) noexcept {
    set_current_deque(deque);
    w.visible.show(deque, m_idle, false);
}

// Entry of the fibers in the pool: finds work and runs it, for ever (loop.cpp).
void loop_main(void*);
void measuring_loop_main(void*); // the same, with stacks/stack_use.hpp
// Entry of a stack with one thread on it; the argument is its record (loop.cpp).
void own_stack_main(void* record);
void measuring_own_stack_main(void* record);

inline void scheduler::notify_light() noexcept { park::notify_light(m_idle, m_asymmetric); }
inline bool scheduler::notice_is_due() const noexcept {
    return park::notice_is_due(m_idle, m_asymmetric);
}

} // namespace tulle::sched
