// SPDX-License-Identifier: Apache-2.0
// The library calls under <tulle/thread.hpp> and <tulle/this_thread.hpp>.
#include "arch/exception_state.hpp"
#include "arch/rounding.hpp"
#include "base/error.hpp"
#include "os/dynamic_link.hpp"
#include "sched/cancellation.hpp"
#include "sched/foreign_visits.hpp"
#include "sched/modes/guest.hpp"
#include "sched/parking.hpp"
#include "sched/records/join_word.hpp"
#include "sched/scheduler.hpp"
#include "sched/switch_steps.hpp"
#include "sched/timed.hpp"
#include "sched/values/names.hpp"
#include "wait/sole_waiter.hpp"

#include <tulle/detail/stack_attachments.hpp>
#include <tulle/schedule_point.hpp>
#include <tulle/this_thread.hpp>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <new>
#include <utility>

namespace tulle::sched {

namespace {

constexpr std::uint64_t k_ids_per_block = 1024;
constexpr std::uint64_t k_hold_up_ns = 1'000'000;

thread_id draw_id(worker& w) noexcept {
    if (w.next_id == w.id_limit) {
        w.next_id = w.owner->draw_ids(k_ids_per_block);
        w.id_limit = w.next_id + k_ids_per_block;
    }
    return w.next_id++;
}

thread_record& as_record(detail::thread_core* t) noexcept {
    return *static_cast<thread_record*>(t);
}

void check(attributes const& how, scheduler const& s) {
    if (how.stack_size > stack::k_largest_bytes)
        base::throw_error(EINVAL, "tulle::attributes::stack_size is more than 1 GiB");
    if (how.shepherd < -1 || how.shepherd >= static_cast<int>(s.shepherds().size()))
        base::throw_error(EINVAL, "tulle::attributes::shepherd does not exist");
}

worker& attached_worker() {
    if (worker* const w = this_worker(); TULLE_LIKELY(is_attached(w))) return *w;
    if (int const error = attach_caller())
        base::throw_error(error, error == EINVAL
                                     ? "tulle::spawn: the run time cannot start, as TULLE_WORKERS "
                                       "is greater than TULLE_MAX_WORKERS"
                                     : "tulle::spawn: the run time cannot start");
    return *this_worker();
}

// Names a thread whose record nobody else knows.
void give_name(thread_record& t, char const* name) {
    try {
        remember_name(t.id, name);
        t.named = true;
    } catch (std::bad_alloc const&) {
        detail::discard_thread(&t);
        base::throw_error(ENOMEM, "tulle::spawn: no memory for the name of a thread");
    }
}

void post_wait_for(void* record, void* waiter) noexcept {
    if (!join_word(static_cast<thread_record*>(record)->word)
             .set_waiter(reinterpret_cast<std::uintptr_t>(waiter)))
        resume(*static_cast<fiber*>(waiter));
}

// The spawner of a child that goes first. Others are told: it may go on elsewhere while the child
// computes.
void post_push_front(void* pending, void*) noexcept {
    worker& w = *this_worker();
    auto& f = *static_cast<fiber*>(pending);
    if (f.shepherd >= 0) return w.owner->inject(f, f.shepherd);
    w.ready.push_front(f);
    w.owner->notify_light();
}

TULLE_COLD void start_by_loop(worker& w, thread_record& t) noexcept {
    w.start_next = &t;
    suspend_to_loop(&post_push_front, w.current, nullptr);
}

// Whether the next decision of the worker need not be the loop's, and it could suspend what it
// starts.
TULLE_INLINE bool may_start_at_once(worker& w) noexcept {
    return loop_may_be_passed(w) && w.spares.size() >= 2 && w.current->shepherd < 0 &&
           !w.owner->shortage().is_on();
}

// Where `t` begins: on a stack of its own size, or on a loop's, of which there is one. Without
// memory for the first one the other will have to do.
TULLE_INLINE fiber& take_start(worker& w, thread_record& t) noexcept {
    if (TULLE_UNLIKELY(t.own_stack)) {
        if (fiber* const f = w.owner->make_thread_fiber(w, t)) return *f;
    }
    w.begins = &t;
    auto& loop = static_cast<fiber&>(w.spares.take());
    loop_control::begin_rounding(loop.context);
    return loop;
}

// The caller has claimed `t`, and stays ready: it comes first when `t` ends or waits. Others are
// told: it may go on elsewhere while `t` computes. A loop has no variables but those of its worker.
TULLE_INLINE void start_at_once(worker& w, thread_record& t,
                                void* thread_pointer = nullptr) noexcept {
    fiber& self = *w.current;
    if (TULLE_UNLIKELY(self.records != nullptr)) w.owner->park_records(self);
    fiber& start = take_start(w, t);
    if (w.begins != &t) start.thread_pointer = thread_pointer;
    w.ready.begin_push_front(self);
    bool const tell = w.owner->notice_is_due();
    switch_with_queue(w, start, tell);
}

TULLE_NOINLINE void start_first(worker& w, thread_record& t) noexcept {
    if (TULLE_UNLIKELY(!may_start_at_once(w))) return start_by_loop(w, t);
    t.claimed.store(true, std::memory_order_relaxed); // relaxed: nobody else knows it
    start_at_once(w, t);
}

// Not a loop, nor who spawns when it has polled for messages of other places: they must not be
// suspended.
bool stands_on_thread(worker const& w) noexcept {
    fiber const& f = *w.current;
    if (w.delivers) return false;
    return f.kind_of_stack != fiber_kind::pooled || f.frame != nullptr || f.runs_record;
}

// Called by a guest, for another shepherd, or where stacks are counted. Where too many are waiting,
// the spawner is held up for a moment; no longer, as they may wait for what it does next.
TULLE_COLD void start_elsewhere(worker& w, thread_record& t, bool child_first) noexcept {
    if (child_first && w.may_run(t.shepherd)) return start_first(w, t);
    int const shepherd = t.shepherd; // it may be gone before the next line
    bool is_held_up = false;
    {
        foreign_visit const visit; // it may stop the run time
        w.owner->inject(t, shepherd);
        is_held_up = w.owner->is_far_behind(shepherd) && stands_on_thread(w);
    }
    if (TULLE_UNLIKELY(is_held_up)) sleep_until_ns(now_ns() + k_hold_up_ns);
}

// There are so many threads to be started that the spawner runs this one before it goes on.
TULLE_COLD void push_back_behind_many(worker& w, thread_record& t) noexcept {
    if (stands_on_thread(w)) return start_first(w, t);
    w.ready.push_back(t);
    w.owner->notify_light();
    schedule_point();
}

// What a thread that runs in its joiner's frame must neither see nor leave behind: the exceptions
// that the joiner is handling, or that unwind its stack, and a rounding mode.
class joiner_state {
public:
    joiner_state() noexcept : m_rounding(arch::rounding()) {
        arch::swap(m_exceptions, {}, this_worker()->exception_globals);
        if (TULLE_UNLIKELY(m_rounding != FE_TONEAREST)) arch::set_rounding(FE_TONEAREST);
    }
    ~joiner_state() {
        arch::exception_state of_thread; // it has ended: empty
        arch::swap(of_thread, m_exceptions, this_worker()->exception_globals);
        if (TULLE_UNLIKELY(arch::rounding() != m_rounding)) arch::set_rounding(m_rounding);
    }
    joiner_state(joiner_state const&) = delete;
    joiner_state& operator=(joiner_state const&) = delete;

private:
    int m_rounding;
    arch::exception_state m_exceptions;
};

// The reference of whoever runs it.
void take_claimed(worker& w, thread_record& t) noexcept {
    if (!leave_queue(w, t)) detail::add_reference(t.references);
}

// The joiner got there first: the thread runs in its frame.
void run_in_place(thread_record& t) noexcept {
    take_claimed(*this_worker(), t);
    fiber& self = *this_worker()->current;
    std::int16_t const before = self.shepherd;
    if (t.shepherd >= 0 && !self.bound) self.shepherd = t.shepherd; // also after its waits
    // The finish that the joiner belongs to is not the thread's.
    void*& context = self.attachments[static_cast<std::size_t>(detail::attachment_of::activity)];
    void* const of_joiner = std::exchange(context, nullptr);
    {
        joiner_state const kept;
        static_cast<void>(run_thread(t));
    }
    context = of_joiner;
    self.shepherd = before;
}

// Frames of the library without optimisation, or with a sanitizer, do not fit on a compact stack.
#if defined(__OPTIMIZE__) && !defined(TULLE_ANNOTATE_ADDRESS) && !defined(TULLE_ANNOTATE_THREAD)
constexpr bool k_frames_are_small = true;
#else
constexpr bool k_frames_are_small = false;
#endif

// Nor does the dynamic linker, where calls are bound lazily.
bool may_be_compact() noexcept {
    enum : int { unknown, no, yes };
    constinit static std::atomic<int> s_known{unknown}; // relaxed, both: it is always the same
    int known = s_known.load(std::memory_order_relaxed);
    if (TULLE_UNLIKELY(known == unknown)) {
        known = k_frames_are_small && os::binds_at_start() ? yes : no;
        s_known.store(known, std::memory_order_relaxed);
    }
    return known == yes;
}

stack::size_class class_of(attributes const& how) noexcept {
    stack::size_class const wanted = stack::class_for(how.stack_size);
    return wanted.is_compact() && !may_be_compact() ? stack::class_for(stack::k_smallest_bytes)
                                                    : wanted;
}

// Chooses the stack of a thread that says how large it is to be.
void choose_stack(thread_record& t, attributes const& how, worker const& w) noexcept {
    stack::size_class const wanted = class_of(how);
    t.own_stack = wanted != stack::class_for(w.owner->chosen().stack_size);
    t.stack_class = wanted.index;
}

// Called in a child process: the handle is of a thread of the parent. One that had not started is
// run by its joiner; see modes/process_fork.cpp.
TULLE_COLD void join_left_behind(thread_record& t) noexcept {
    if (claim(t)) return run_in_place(t);
    t.exception = left_behind_error();
    t.run = nullptr; // tells the C functions
    t.close = nullptr;
    static_cast<void>(join_word(t.word).finish());
}

// A placed thread must not be in the frame of main, which may go on elsewhere when its worker is
// stuck (scheduler::free_main).
bool may_run_on(fiber const& joiner, thread_record const& t) noexcept {
    return this_worker()->may_run(t.shepherd) && (t.shepherd < 0 || !joiner.bound);
}

bool may_run_in_place(thread_record const& t) noexcept {
    return !t.own_stack && may_run_on(*this_worker()->current, t);
}

// Not by one that is placed, or in a deterministic run; and now and then a yield is to all, so that
// nobody waits for ever behind threads that yield to their children. The second spare is for what
// the loop starts.
bool may_yield_to_one(worker& w) noexcept {
    if (w.is_guest() || w.current->shepherd >= 0 || w.run != nullptr || !stands_on_thread(w) ||
        w.owner->shortage().is_on())
        return false;
    if (!reserve_spare(w)) return false;
    if (w.spares.size() < 2) {
        fiber* const second = w.owner->make_loop_fiber(w);
        if (second == nullptr) return false;
        w.spares.put(*second);
    }
    return may_start_at_once(w);
}

// A thread that wants a stack of its own, when this worker could not start another one while the
// joiner waits: it runs on the joiner's stack, if that is as large as the one it wants.
TULLE_COLD bool must_run_in_place(thread_record const& t, fiber const& self) noexcept {
    worker& w = *this_worker();
    if (!w.owner->shortage().is_on() || !may_run_on(self, t)) return false;
    std::size_t const wanted = stack::size_class{t.stack_class}.bytes();
    bool const fits = self.kind_of_stack == fiber_kind::adopted || wanted <= self.stack.size;
    return t.own_stack && fits && !w.owner->shortage().can_go_on_without(w);
}

// The word of a thread that is joined, for a wait with a limit.
struct join_entry {
    thread_record& joined;

    [[nodiscard]] bool enter(fiber* waiter) const noexcept {
        return join_word(joined.word).set_waiter(reinterpret_cast<std::uintptr_t>(waiter));
    }
    [[nodiscard]] bool withdraw(fiber* waiter) const noexcept {
        return join_word(joined.word).clear_waiter(reinterpret_cast<std::uintptr_t>(waiter));
    }
};

} // namespace

bool try_run_in_place(thread_record& t) noexcept {
    if (!may_run_in_place(t) || !claim(t)) return false;
    run_in_place(t);
    return true;
}

thread_identity& identity_of(fiber& f) noexcept {
    if (f.frame != nullptr) return *f.frame;
    if (f.base.id == 0) f.base.id = draw_id(*this_worker());
    return f.base;
}

detail::yielded yield_to_thread(detail::thread_core* core, void* thread_pointer) noexcept {
    thread_record& t = as_record(core);
    worker& w = *this_worker();
    if (!may_yield_to_one(w)) return detail::yielded::not_now;
    if (!w.may_run(t.shepherd) || !claim(t)) return detail::yielded::gone;
    take_claimed(w, t);
    start_at_once(w, t, thread_pointer);
    return detail::yielded::to_it;
}

} // namespace tulle::sched

namespace tulle::detail {

using namespace tulle::sched;

thread_core* new_thread(attributes const& how) {
    worker& w = sched::attached_worker();
    sched::check(how, *w.owner);
    thread_record* const t = allocate_record(w);
    if (t == nullptr)
        base::throw_error(ENOMEM, "tulle::spawn: no memory for the record of a thread");
    t->id = sched::draw_id(w);
    t->site = __builtin_return_address(0);
    t->shepherd = static_cast<std::int16_t>(how.shepherd);
    if (how.stack_size != 0) sched::choose_stack(*t, how, w);
    if (how.name != nullptr) sched::give_name(*t, how.name);
    return t;
}

void discard_thread(thread_core* t) noexcept {
    if (t->named) forget_name(t->id);
    t->references.store(1, std::memory_order_relaxed); // relaxed: nobody else knows it
    drop_reference(sched::as_record(t));
}

void start_thread(thread_core* core, bool detached, bool child_first) noexcept {
    thread_record& t = sched::as_record(core);
    worker& w = *this_worker();
    scheduler& s = *w.owner;
    // relaxed: published through the queue.
    t.references.store(detached ? 1 : 2, std::memory_order_relaxed);
    w.threads_made.store(w.threads_made.load(std::memory_order_relaxed) + 1,
                         std::memory_order_relaxed); // relaxed: one writer
    bool const here = w.keeps_spawned && (t.shepherd < 0 || t.shepherd == w.home->index);
    if (!here || (t.shepherd >= 0 && !child_first)) {
        sched::start_elsewhere(w, t, child_first);
        return schedule_point();
    }
    if (child_first) return sched::start_first(w, t);
    if (TULLE_UNLIKELY(w.ready.size_hint() >= w.most_unstarted))
        return sched::push_back_behind_many(w, t);
    w.ready.push_back(t);
    s.notify_light();
    schedule_point();
}

void wait_thread(thread_core* core) noexcept {
    thread_record& t = sched::as_record(core);
    schedule_point();
    if (join_word(t.word).is_done()) return;
    fiber& self = this_fiber();
    if ((sched::may_run_in_place(t) || sched::must_run_in_place(t, self)) && claim(t))
        return sched::run_in_place(t);
    if (TULLE_UNLIKELY(scheduler::instance().around_fork().is_of_parent(t.id)))
        return sched::join_left_behind(t);
    self.set_wait({wait_kind::spawned_thread, &t});
    suspend(&sched::post_wait_for, &t, &self);
    schedule_point();
}

bool try_run_thread(thread_core* core) noexcept {
    return this_fiber().shepherd < 0 && sched::try_run_in_place(sched::as_record(core));
}

yielded yield_to_thread(thread_core* core) noexcept {
    return sched::yield_to_thread(core, nullptr);
}

bool wait_thread_until(thread_core* core, limit until) noexcept {
    thread_record& t = sched::as_record(core);
    schedule_point();
    if (join_word(t.word).is_done()) return true;
    if (TULLE_UNLIKELY(scheduler::instance().around_fork().is_of_parent(t.id))) {
        sched::join_left_behind(t);
        return true;
    }
    sched::join_entry entry{t};
    wait::sole_waiter<sched::parking, sched::join_entry> waiter(entry, until);
    static_cast<void>(waiter.wait({wait_kind::spawned_thread, &t}));
    return join_word(t.word).is_done();
}

bool thread_is_done(thread_core const* t) noexcept {
    schedule_point();
    return t->word.load(std::memory_order_acquire) == k_done; // pairs with join_word::finish
}

void release_thread(thread_core* core) noexcept {
    thread_record& t = sched::as_record(core);
    if (!join_word(t.word).abandon()) drop_both_references(t);
}

void retire_thread(thread_core* t) noexcept {
    t->close = nullptr;
    drop_reference(sched::as_record(t));
}

void rethrow_thread(thread_core* t) {
    std::rethrow_exception(std::exchange(t->exception, nullptr));
}

} // namespace tulle::detail

namespace tulle::this_thread {

using namespace tulle::sched;

void yield() noexcept { sched::yield(); }

thread_id get_id() { return sched::identity_of(this_fiber()).id; }

std::string name() { return find_name(get_id()); }

void set_name(std::string_view name) {
    thread_identity& self = sched::identity_of(this_fiber());
    remember_name(self.id, name);
    self.at_end |= k_has_name;
}

int worker_index() noexcept {
    worker* const w = this_worker();
    return w == nullptr ? -1 : w->index;
}

int shepherd_index() noexcept {
    worker* const w = this_worker();
    return w == nullptr || w->home == nullptr ? -1 : w->home->index;
}

void sleep_until_ns(std::uint64_t deadline) noexcept { sched::sleep_until_ns(deadline); }

} // namespace tulle::this_thread
