// SPDX-License-Identifier: Apache-2.0
#include "compat/myth/run_queue.hpp"

#include "compat/myth/library.hpp"
#include "compat/myth/random.hpp"
#include "compat/myth/take_from_all.hpp"

#include <tulle/mutex.hpp>
#include <tulle/runtime.hpp>
#include <tulle/this_thread.hpp>
#include <tulle/thread.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <vector>

namespace tulle::myth {

namespace {

// The owner's end is the back; others take from the front.
struct run_queue {
    tulle::mutex lock; // guards the rest, and the links of what is in it
    myth_thread_t front = nullptr, back = nullptr;

    void link(myth_thread_t th, bool at_back) noexcept {
        late_start& l = *late_of(th);
        l.prev = at_back ? back : nullptr;
        l.next = at_back ? nullptr : front;
        (l.prev != nullptr ? late_of(l.prev)->next : front) = th;
        (l.next != nullptr ? late_of(l.next)->prev : back) = th;
    }
    void unlink(myth_thread_t th) noexcept {
        late_start const& l = *late_of(th);
        (l.prev != nullptr ? late_of(l.prev)->next : front) = l.next;
        (l.next != nullptr ? late_of(l.next)->prev : back) = l.prev;
    }
};

// Threads that have not begun: has_begun, is_detached and queue of each. Who puts a thread into a
// queue, or takes one out, holds it. Taken before that of a queue.
tulle::mutex s_late_lock;
std::vector<run_queue>& queues() noexcept {
    // Threads may outlive static objects.
    static auto* const s_queues = new std::vector<run_queue>;
    return *s_queues;
}

bool is_rank(int rank) noexcept {
    return rank >= 0 && static_cast<std::size_t>(rank) < queues().size();
}
// Of an OS thread that is no worker: the first.
int own_rank() noexcept {
    int const index = this_thread::worker_index();
    return is_rank(index) ? index : 0;
}

// The thread is in no queue, and has not begun. False: it has.
bool may_be_queued(myth_thread_t th) noexcept {
    late_start* const l = is_made_here(th) ? late_of(th) : nullptr;
    return l != nullptr && !l->has_begun && l->queue < 0;
}

enum class end { front, back };

// The first at that end, if the function agrees; it is in no queue then. The caller holds the lock
// of late threads.
myth_thread_t take_held(int rank, end from, myth_wsapi_decidefn_t decide, void* udata) {
    run_queue& q = queues()[static_cast<std::size_t>(rank)];
    std::lock_guard const held(q.lock);
    myth_thread_t const th = from == end::front ? q.front : q.back;
    if (th == nullptr || (decide != nullptr && decide(th, udata) == 0)) return nullptr;
    q.unlink(th);
    late_of(th)->queue = -1;
    return th;
}
myth_thread_t take_from(int rank, end from, myth_wsapi_decidefn_t decide, void* udata) {
    if (!is_rank(rank)) return nullptr;
    std::lock_guard const late(s_late_lock);
    return take_held(rank, from, decide, udata);
}

// Who joins or detaches it does so with a thread that has been started: a joiner waits for `begun`,
// and who detaches asks under the lock, which is held over the start for that. False: there is no
// thread, or it is in a queue, or has begun.
bool begin(myth_thread_t th) {
    if (th == nullptr) return false;
    detail::thread_core* const core = core_of(th);
    std::unique_lock late(s_late_lock);
    if (!may_be_queued(th)) return false;
    late_start& l = *late_of(th);
    l.has_begun = true;
    bool const is_detached = l.is_detached;
    detail::start_thread(core, false, false);
    l.begun.count_down(); // from here on its joiner may free it
    late.unlock();
    if (is_detached) detail::release_thread(core);
    return true;
}

myth_thread_t steal_from_others(int rank) {
    auto const n = static_cast<int>(queues().size());
    int const first = random_below(n);
    for (int k = 0; k < n; ++k) {
        int const victim = (first + k) % n;
        if (victim == rank) continue;
        if (myth_thread_t const th = take_from(victim, end::front, nullptr, nullptr)) return th;
    }
    return nullptr;
}

std::atomic<myth_steal_func_t> s_steal{&steal_from_others};

// The youngest of its own queue, else the oldest of another one. Null: all are empty at one moment.
myth_thread_t take_from_any(int rank) {
    int const count = static_cast<int>(queues().size());
    return take_from_all(s_late_lock, rank, random_below(count), count, [rank](int victim) {
        return take_held(victim, victim == rank ? end::back : end::front, nullptr, nullptr);
    });
}

// A ticket ends when it has started a thread, or when no thread is in a queue: where the steal
// function gives what cannot begin, the ticket goes on.
void run_ticket() {
    int const rank = own_rank();
    if (begin(take_from(rank, end::back, nullptr, nullptr))) return;
    // acquire pairs with myth_wsapi_set_stealfunc
    if (begin(s_steal.load(std::memory_order_acquire)(rank))) return;
    static_cast<void>(begin(take_from_any(rank)));
}

bool put(int rank, myth_thread_t th, end to) {
    std::lock_guard const late(s_late_lock);
    if (!may_be_queued(th)) return false;
    run_queue& q = queues()[static_cast<std::size_t>(rank)];
    std::lock_guard const held(q.lock);
    q.link(th, to == end::back);
    late_of(th)->queue = rank;
    return true;
}

// What no ticket could be made for; unless somebody has taken it, who has it then.
void take_back(int rank, myth_thread_t th) {
    std::lock_guard const late(s_late_lock);
    run_queue& q = queues()[static_cast<std::size_t>(rank)];
    std::lock_guard const held(q.lock);
    for (myth_thread_t other = q.front; other != nullptr; other = late_of(other)->next) {
        if (other != th) continue;
        q.unlink(th);
        late_of(th)->queue = -1;
        return;
    }
}

int put_with_ticket(int rank, myth_thread_t th, end to) noexcept {
    if (int const error = ensure_started()) return error;
    if (!is_rank(rank) || !put(rank, th, to)) return EINVAL;
    int const error = guarded([] { spawn_detached([] { run_ticket(); }); });
    if (error != 0) take_back(rank, th);
    return error;
}

} // namespace

void open_run_queues() {
    auto const wanted = static_cast<std::size_t>(worker_count());
    if (queues().size() != wanted) queues() = std::vector<run_queue>(wanted);
}

void close_run_queues() noexcept { queues().clear(); }

int make_late(myth_thread_t& made, myth_func_t function, void* argument,
              myth_thread_attr_t const* attr, void const* site) noexcept {
    if (int const error = make(made, function, argument, attr, site)) return error;
    extra* const more = more_of(body_of(made));
    if (more != nullptr) more->late.reset(new (std::nothrow) late_start);
    if (more == nullptr || more->late == nullptr) {
        detail::discard_thread(core_of(made));
        return ENOMEM;
    }
    more->late->is_detached = attr != nullptr && attr->detachstate == PTHREAD_CREATE_DETACHED;
    return 0;
}

bool detach_late(myth_thread_t th) noexcept {
    std::lock_guard const late(s_late_lock);
    late_start& l = *late_of(th);
    if (l.has_begun) return false;
    l.is_detached = true;
    return true;
}

} // namespace tulle::myth

using namespace tulle::myth;

myth_thread_t myth_wsapi_runqueue_peek(int victim, void* ptr, size_t* psize) {
    if (ensure_started() != 0 || !is_rank(victim)) return refuse<struct myth_thread>(EINVAL);
    std::size_t const room = ptr != nullptr && psize != nullptr ? *psize : 0;
    if (psize != nullptr) *psize = 0;
    run_queue& q = queues()[static_cast<std::size_t>(victim)];
    std::lock_guard const held(q.lock);
    if (q.front == nullptr) return nullptr;
    std::size_t const copied = std::min(room, myth_wsapi_get_hint_size(q.front));
    if (copied != 0) std::memcpy(ptr, myth_wsapi_get_hint_ptr(q.front), copied);
    if (psize != nullptr) *psize = copied;
    return q.front;
}

myth_thread_t myth_wsapi_runqueue_take(int victim, myth_wsapi_decidefn_t decidefn, void* udata) {
    if (ensure_started() != 0 || !is_rank(victim)) return refuse<struct myth_thread>(EINVAL);
    return take_from(victim, end::front, decidefn, udata);
}

int myth_wsapi_runqueue_pass(int target, myth_thread_t th) {
    int const error = put_with_ticket(target, th, end::front);
    if (error != 0) errno = error;
    return error == 0 ? 1 : 0;
}

void myth_wsapi_runqueue_push(myth_thread_t th) {
    int const error = ensure_started() == 0 ? put_with_ticket(own_rank(), th, end::back) : EAGAIN;
    if (error != 0) errno = error;
}

myth_thread_t myth_wsapi_runqueue_pop(void) {
    if (ensure_started() != 0) return refuse<struct myth_thread>(EAGAIN);
    return take_from(own_rank(), end::back, nullptr, nullptr);
}

myth_steal_func_t myth_wsapi_set_stealfunc(myth_steal_func_t fn) {
    // Pairs with run_ticket.
    return s_steal.exchange(fn != nullptr ? fn : &steal_from_others, std::memory_order_acq_rel);
}
