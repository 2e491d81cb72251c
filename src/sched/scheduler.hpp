// SPDX-License-Identifier: Apache-2.0
// The set of workers of this process, grouped into shepherds, and what they share. One object; it
// can be started and stopped again and again, but is never destroyed, because foreign threads and
// thieves may still hold addresses in it.
#pragma once

#include "base/debug_access.hpp"
#include "base/idle_poller.hpp"
#include "os/topology.hpp"
#include "park/sleep_steps.hpp"
#include "sched/deterministic.hpp"
#include "sched/find_work.hpp"
#include "sched/growing_list.hpp"
#include "sched/guest_list.hpp"
#include "sched/injector.hpp"
#include "sched/registry.hpp"
#include "sched/shared_spares.hpp"
#include "sched/stack_use.hpp"
#include "sched/switch.hpp"
#include "sched/thread_record.hpp"
#include "sched/watcher.hpp"
#include "sched/worker.hpp"
#include "sched/worker_limit.hpp"
#include "wait/timer_queue.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace tulle::sched {

using wait::k_never;
using wait::timer;
using wait::timer_queue;

// What is found of a process in which something stands still.
enum class standstill : std::uint8_t {
    deadlock,      // all threads wait, and nothing is left that could wake one
    no_stack,      // all that have started wait, and there is no stack for the others
    awaits_signal, // all wait, but a handler of the program's own may still be called
    circle,        // some wait for each other in a circle, and others go on
};

enum class circle_search : std::uint8_t {
    none,
    // A circle was seen that the threads may have left one after the other: look again soon.
    doubtful,
    found, // one that has not been found before
};

struct settings {
    os::topology machine;
    int workers = 1;
    int max_workers = 1; // at least `workers`; fixed while running
    // Workers besides, in place of those that are stuck; 0: nobody looks for these.
    int max_substitutes = 0;
    // A caller that was adopted goes on elsewhere when its own worker is stuck with another thread.
    bool main_may_move = true;
    // Workers go to the shepherds in turn; else as many as the shepherds' processors call for.
    bool deals_evenly = false;
    std::size_t stack_size = 0;
    stack::guard_choice guard = stack::guard_choice::automatic;
    std::uint64_t spin_ns = 20000; // how long a worker searches before it sleeps
    std::uint64_t seed = 0;        // not 0: a deterministic run, of one worker (deterministic.hpp)
    // Called when something is found to stand still; may end the program. Null: nobody looks.
    void (*on_deadlock)(standstill found) noexcept = nullptr;
    // Nothing has moved for so long when somebody looks for the first time.
    std::uint64_t first_look_ns = 1'000'000'000;
    // Whether the program has handlers that somebody else may cause to be called. Null: it has
    // none.
    bool (*awaits_signal)() noexcept = nullptr;
    // Among threads that wait while others go on; one call at a time. Null: nobody looks.
    circle_search (*find_circle)() noexcept = nullptr;
    // The calling OS thread becomes worker 0; else all workers are new OS threads.
    bool adopt_caller = true;
    std::size_t most_stacks = 0;               // at a time; 0: as many as memory allows
    std::uint32_t most_unstarted = UINT32_MAX; // in a queue, before a spawner is held up
    bool measures_stacks = false;              // stack_use.hpp
    // Then: called when a stack without a guard is found to have overflowed.
    void (*on_late_overflow)(stack_user const& who, thread_id id) noexcept = nullptr;
};

class scheduler {
public:
    static constexpr int k_spares_kept = 2; // when idle

    // The one of this process; exists from the first call on.
    [[nodiscard]] static scheduler& instance() noexcept;

    // --- life (lifecycle.cpp); the caller serialises them ----------------------------------------
    [[nodiscard]] int start(settings const& chosen); // 0 or a positive errno
    // 0; EBUSY: threads are alive; EPERM: not from this thread.
    [[nodiscard]] int may_stop() noexcept;
    void stop() noexcept; // may_stop() returned 0
    // By the OS thread that initialised, before stop(): destroys its values and its name, if it has
    // any.
    [[nodiscard]] bool caller_has_end() const noexcept;
    void end_caller() noexcept;
    // Not on the stack of a thread of the parent process.
    [[nodiscard]] static bool may_adopt_caller() noexcept;
    // pairs with start.
    [[nodiscard]] bool is_running() const noexcept { return m_running.load(std::memory_order_acquire); }
    [[nodiscard]] settings const& chosen() const noexcept { return m_settings; }
    [[nodiscard]] bool is_asymmetric() const noexcept { return m_asymmetric; }
    [[nodiscard]] bool is_deterministic() const noexcept { return m_settings.seed != 0; }
    [[nodiscard]] deterministic_run& deterministic() noexcept { return m_deterministic; }
    [[nodiscard]] std::int64_t live_threads() const noexcept;

    // --- how many workers there are (worker_count.cpp); any thread -------------------------------
    // The others stand by: they finish what they run, hand over what they have, and sleep. 0;
    // EINVAL: not from 1 to max_workers; ENOMEM; EAGAIN: no OS threads; EBUSY: stopping. After an
    // error the number is as it was.
    [[nodiscard]] int set_active_workers(int wanted) noexcept;
    // Those that may run threads: below the number, and not disabled.
    // relaxed: a snapshot.
    [[nodiscard]] int active_workers() const noexcept { return m_active_count.load(std::memory_order_relaxed); }
    // The same with those that stand in for stuck ones.
    // relaxed: a snapshot.
    [[nodiscard]] int running_workers() const noexcept { return m_running_count.load(std::memory_order_relaxed); }
    // Indices of workers are below it.
    [[nodiscard]] int most_workers() const noexcept { return m_settings.max_workers + m_settings.max_substitutes; }
    // One worker, or those of a shepherd, stand by until they are enabled again. 0; EINVAL: there
    // is none of that number; EPERM: worker 0, or its shepherd; ENOMEM; EBUSY: stopping.
    [[nodiscard]] int enable_worker(int index, bool on) noexcept;
    [[nodiscard]] int enable_shepherd(int index, bool on) noexcept;
    // Workers may run on these from now on, each on those of its shepherd where it has any.
    void move_to(std::vector<int> const& allowed); // throws std::bad_alloc
    // An OS thread of the library that wakes no thread: where all others wait, it is no hope. 0:
    // none.
    // relaxed: as the numbers of workers.
    void set_helper(int tid) noexcept { m_helper.store(tid, std::memory_order_relaxed); }
    // Whether this worker should stand by. If so, it finds its shepherd orphaned, if it is.
    [[nodiscard]] TULLE_INLINE bool is_surplus(worker_remote const& w) const noexcept {
        // relaxed: written before the change of m_limit, which is looked at first.
        if (w.index >= m_limit.number_in(m_limit.look()) && !w.is_substitute.load(std::memory_order_relaxed)) return true;
        return w.is_disabled.load(std::memory_order_relaxed) || w.home->is_disabled.load(std::memory_order_relaxed);
    }
    // By a surplus worker at its loop, neither searching nor asleep; until it is wanted, or the
    // stop. False: its OS thread has to end, since nobody has wanted it for long.
    [[nodiscard]] bool stand_by(worker& w) noexcept;

    // --- workers in place of stuck ones (substitutes.cpp); by the watcher ------------------------
    // One more, of this shepherd. False: there are as many as there may be, or no memory, or no OS
    // threads.
    [[nodiscard]] bool add_substitute(shepherd& home) noexcept;
    // It stands by as soon as it is done with what it runs.
    void dismiss_substitute(worker_remote& w) noexcept;
    void join_ended_workers() noexcept;
    // Something is ready that no worker is about to take. A hint.
    [[nodiscard]] bool something_waits() noexcept;
    // Its own thread is ready, and the worker that it is bound to is stuck: from now on any worker
    // may run it.
    void free_main() noexcept;
    void bind_main() noexcept; // by that thread: it goes on on the OS thread that it was adopted on
    [[nodiscard]] watcher const& watching() const noexcept { return m_watcher; }
    void pause_watcher(bool pauses) noexcept { m_watcher.pause(pauses); }

    // The calling OS thread, which has no worker (guest.cpp). False: no memory.
    [[nodiscard]] bool attach_guest() noexcept;
    [[nodiscard]] static std::size_t guest_bytes() noexcept;
    void tell_guests_of_deadline() noexcept; // of a token, which may end their waits sooner now
    void detach_guest(worker& w) noexcept;
    // Around fork(2) (process_fork.cpp).
    void before_process_fork() noexcept;
    void after_process_fork_in_parent() noexcept;
    void after_process_fork_in_child() noexcept;
    // Threads with smaller numbers are of the process that this one was forked off.
    [[nodiscard]] thread_id first_id() const noexcept { return m_first_id; }

    // --- making work -----------------------------------------------------------------------------
    // From outside the workers, or placed.
    void inject(runnable& r, int shepherd_index) noexcept;
    void post_to_mailbox(worker_remote& w, fiber& f) noexcept; // a bound fiber is ready
    // After plain stores that made work (park/sleep_steps.hpp).
    void notify_light() noexcept;
    // From outside: wakes one that sleeps or naps.
    void notify_all_idle() noexcept;
    // It is about to be suspended; thieves must find its records.
    void park_records(fiber& f) noexcept;
    // `w` now stands on a stack with this deque.
    void show_deque(worker& w, record_deque* deque) noexcept;

    // --- finding work (find_work.cpp, idle.cpp) --------------------------------------------------
    [[nodiscard]] bool has_other_work(worker& w) noexcept; // for yield: a hint
    [[nodiscard]] runnable* take_local(worker& w) noexcept;
    // Placed, injected, stolen from other ready queues.
    [[nodiscard]] runnable* take_shared(worker& w) noexcept;
    [[nodiscard]] record* steal_record(worker& w) noexcept;
    std::size_t expire_timers() noexcept; // how many have fired
    // For `w`, after it has announced its sleep (H2).
    [[nodiscard]] bool something_to_do(worker_remote& w) noexcept;
    // Every deque's next publish wakes a sleeper.
    void alarm_all() noexcept;
    [[nodiscard]] park::idle_set<os::machine>& idle() noexcept { return m_idle; }
    // relaxed: who sleeps reads it after its heavy fence (H2), who stands by after the limit, which
    // changes later.
    [[nodiscard]] bool is_stopping() const noexcept { return m_stopping.load(std::memory_order_relaxed); }
    // Null: none. It must stay until workers have been told of another one and have ended their
    // searches.
    void set_idle_poller(base::idle_poller* poller) noexcept {
        m_idle_poller.store(poller, std::memory_order_release);
    } // pairs with the next
    [[nodiscard]] base::idle_poller* idle_poller() const noexcept { return m_idle_poller.load(std::memory_order_acquire); }
    void trim(worker& w) noexcept; // gives memory back; by a worker that has been idle for a while

    // --- standing still (quiescence.cpp) ---------------------------------------------------------
    // When `w`, about to sleep, should see whether all stands still. k_never: somebody else does,
    // or nobody wants to know.
    [[nodiscard]] std::uint64_t next_look(worker& w) noexcept;
    // Then, by the same: if all threads are blocked, and no OS thread is there that could wake one,
    // says so by settings::on_deadlock; or if some of them wait in a circle.
    void look_for_deadlock(worker& w) noexcept;
    // By a worker that finds no stack for what it could start: the same, if that is so for all that
    // are not asleep.
    void look_for_shortage(worker& w) noexcept;

    // --- stacks and deques -----------------------------------------------------------------------
    [[nodiscard]] fiber* make_loop_fiber(worker& w) noexcept;
    // With a stack of its own class.
    [[nodiscard]] fiber* make_thread_fiber(worker& w, thread_record& t) noexcept;
    void return_spares(worker& w) noexcept;
    // Without stacks (shortage.cpp).
    // For each worker: a loop, a spare, the reserve.
    static constexpr std::size_t k_least_stacks = 3;
    [[nodiscard]] bool keep_emergency(worker& w) noexcept;   // false: no memory
    [[nodiscard]] fiber* take_emergency(worker& w) noexcept; // the stack in reserve, or null
    // From now on it keeps none for itself but the reserve, and no thread that it could not start.
    void count_stacks(worker& w) noexcept;
    void queue_unstarted(runnable& r) noexcept;
    void drop_claimed(worker& w) noexcept; // claimed_records.cpp
    // Whether more threads than there should be wait for their start where such a thread is queued
    // that a spawner cannot run itself.
    [[nodiscard]] bool is_far_behind(int shepherd_index) const noexcept {
        return m_injector.is_far_behind(shepherd_index, m_settings.most_unstarted);
    }
    // It is about to run what it has stolen.
    void note_origin(worker& w, record const& slot) noexcept;
    void note_origin(worker& w) noexcept; // or a thread of its own
    // What it has stolen has ended, and its parent does not know yet.
    void forget_origin(fiber& f) noexcept;
    void refill_emergency(worker& w) noexcept; // from the worker's spares
    // One that has a stack; the others are left for others.
    [[nodiscard]] runnable* take_started(worker& w) noexcept;
    // What it runs now may wait, and then it can start something else.
    [[nodiscard]] bool can_go_on_without(worker& w) noexcept;
    // Before it waits: park_records, after running them if need be.
    void leave_records(fiber& f) noexcept;
    void release_fiber(fiber& f) noexcept; // nobody stands on it
    [[nodiscard]] record_deque* open_deque(fiber& f, std::uint8_t level) noexcept;
    void close_newest_deque(fiber& f) noexcept; // empty, and not the smallest
    void free_deque(record_deque& deque) noexcept;
    void close_deques(fiber& f) noexcept; // all that is above its smallest
    [[nodiscard]] stack::stack_pool& stacks() noexcept { return *m_stacks; }
    // Not in a child process before its first use.
    [[nodiscard]] bool has_stacks() const noexcept { return m_stacks != nullptr; }
    // Null: they are not measured. Stays until the next start.
    [[nodiscard]] stack_uses* uses_of_stacks() const noexcept { return m_stack_uses.get(); }
    // A thread at the bottom of its stack ends.
    void note_use(fiber const& f, void const* site, bool is_forked, thread_id id) noexcept;
    // What the OS thread that started it stands on, if it was adopted.
    [[nodiscard]] timer_queue& timers() noexcept { return m_timers; }
    void insert_timer(timer& t) noexcept;
    // The sleeping worker that wakes for the first deadline (idle.cpp); null: none.
    [[nodiscard]] std::atomic<worker_remote const*>& timekeeper() noexcept { return m_timekeeper; }

    [[nodiscard]] std::vector<std::unique_ptr<shepherd>> const& shepherds() const noexcept { return m_registry.shepherds(); }
    // Also those that stand by.
    [[nodiscard]] growing_list<worker_remote*> const& workers() const noexcept { return m_registry.workers(); }
    // relaxed: only different numbers are wanted.
    [[nodiscard]] thread_id draw_ids(std::uint64_t count) noexcept { return m_next_id.fetch_add(count, std::memory_order_relaxed); }

private:
    scheduler();
    friend void* worker_main(void* self);
    friend class deterministic_run;

    void prepare_stacks(bool measured);
    worker& make_worker(shepherd* home); // null: where there is most room
    [[nodiscard]] worker_remote* free_substitute(shepherd& home) noexcept;
    [[nodiscard]] bool may_end(worker& w) noexcept;
    [[nodiscard]] int start_os_thread(worker& w); // has none, or is no dedicated one
    [[nodiscard]] int revive(worker& w);          // likewise, or has one that runs or is at its end
    [[nodiscard]] int start_os_threads();
    [[nodiscard]] int make_ready(int wanted);
    void count_active(int wanted) noexcept;
    void apply_change(int wanted) noexcept;
    void send_away_surplus() noexcept;
    static void flush_caches(worker& w) noexcept;
    static void pin(worker_remote& w) noexcept;
    void adopt_caller(worker& w);
    void settle(guest& g) noexcept;
    void adopt_guest(worker& as_guest) noexcept;
    void retire_guest(guest& retired) noexcept;
    void become_guest(worker& old) noexcept;
    void leave_behind() noexcept;
    void join_os_threads() noexcept;
    void wake_all() noexcept;
    void free_everything() noexcept;
    static void wake_from_nap(worker_remote& w) noexcept;
    void wake_one_of(shepherd& s) noexcept;
    [[nodiscard]] bool is_left_behind(runnable const& r) const noexcept;
    [[nodiscard]] bool hand_to_sleeper(runnable& r, int shepherd_index) noexcept;
    [[nodiscard]] runnable* take_ready_of(worker& thief, worker_remote& victim) noexcept;
    [[nodiscard]] record* steal_record_of(worker& thief, growing_list<worker_remote*> const& victims) noexcept;
    [[nodiscard]] runnable* take_ready_of(worker& thief, growing_list<worker_remote*> const& victims) noexcept;
    void run_own_records(fiber& f) noexcept;
    [[nodiscard]] std::uint64_t activity() noexcept;
    [[nodiscard]] bool stands_still(worker& looks) noexcept;
    [[nodiscard]] bool all_guests_wait() const noexcept;
    [[nodiscard]] bool is_ours(int tid) const noexcept;
    [[nodiscard]] bool somebody_waits() const noexcept;
    [[nodiscard]] bool may_be_last_awake(worker const& w) const noexcept;
    [[nodiscard]] bool has_strangers() noexcept;
    [[nodiscard]] bool is_short_for_good() noexcept;
    void report_standstill(standstill found, std::uint64_t when) noexcept;
    void look_for_circle() noexcept;

    settings m_settings;
    std::atomic<base::idle_poller*> m_idle_poller{nullptr};
    bool m_asymmetric = true;
    std::atomic<bool> m_running{false};
    std::atomic<bool> m_stopping{false};
    registry m_registry; // workers are added under m_resizing
    injector m_injector{m_registry.shepherds()};
    worker_limit<os::machine> m_limit; // changed under m_resizing
    // Workers that are active; written under m_resizing.
    std::atomic<int> m_active_count{0};
    // And those that stand in for stuck ones; likewise.
    std::atomic<int> m_running_count{0};
    watcher m_watcher;
    std::mutex m_resizing; // changes of the two; held for milliseconds, never over a switch
    fiber m_adopted{fiber_kind::adopted};
    thread_frame m_adopted_frame;
    std::atomic<bool> m_main_stays{false}; // it has to be at home from now on
    std::unique_ptr<stack::stack_pool> m_stacks;
    std::unique_ptr<stack_uses> m_stack_uses;
    struct {
        void (*loop)(void*);
        void (*own_stack)(void*);
    } m_entries{}; // of new stacks: loop.cpp, measuring or not
    deque_pool m_deques;
    parked_deques m_parked;
    timer_queue m_timers;
    std::atomic<worker_remote const*> m_timekeeper{nullptr};
    park::idle_set<os::machine> m_idle;
    deterministic_run m_deterministic;
    std::atomic<thread_id> m_next_id{1};

    // Held by who looks for a deadlock; stop() takes it before the workers go.
    std::mutex m_look_lock;
    // activity() at the last report; guarded by m_look_lock.
    std::uint64_t m_reported = ~std::uint64_t{0};
    bool m_has_told_of_signals = false; // guarded by m_look_lock, as the next
    std::uint64_t m_circle_period_ns = 0;
    // When circles are looked for next, ns; written under m_look_lock.
    std::atomic<std::uint64_t> m_circle_due{0};

    shared_spares m_shared_spares;

    guest_list m_guests;
    std::atomic<int> m_helper{0};
    // Threads that guests had made more than ended when the scheduler started.
    std::int64_t m_guests_surplus = 0;

    friend class census;

    void* m_left_behind = nullptr; // in a child process: what the parent's workers used
    thread_id m_first_id = 0;
    friend struct base::debug_access;
};

TULLE_INLINE void scheduler::show_deque(worker& w, record_deque* deque) noexcept {
    set_current_deque(deque);
    w.visible.show(deque, m_idle, m_asymmetric);
}

// Entry of the fibers in the pool: looks for work and runs it, for ever (loop.cpp).
void loop_main(void*);
void measuring_loop_main(void*); // the same, with stack_use.hpp
// Entry of a stack with one thread on it; the argument is its record (loop.cpp).
void own_stack_main(void* record);
void measuring_own_stack_main(void* record);

inline void scheduler::notify_light() noexcept { park::notify_light(m_idle, m_asymmetric); }

} // namespace tulle::sched
