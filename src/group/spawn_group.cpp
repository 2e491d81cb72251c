// SPDX-License-Identifier: Apache-2.0
#include "group/group_core.hpp"
#include "sched/scheduler.hpp"

#include <tulle/this_thread.hpp>

#include <cerrno>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace tulle::detail {

namespace {

using guard = std::unique_lock<mutex>;

// Only these policies treat threads of the group differently.
bool knows_members(group_core const& g) noexcept { return g.policy == when_full::record || g.policy == when_full::block; }

// Whether the caller stands on the stack of a thread of the group, which has not ended then. Under the lock.
bool is_member(group_core const& g, void const* stack) noexcept {
    group_member const* m = g.members;
    while (m != nullptr && m->stack != stack) m = m->next;
    return m != nullptr;
}

void take_place(group_core& g, guard& held) {
    g.place_is_free.wait(held, [&g] { return g.alive < g.most; });
    ++g.alive;
}

// The group is full. Under the lock, which a wait releases.
group_place enter_full(group_core& g, guard& held, void const* stack) {
    switch (g.policy) {
        case when_full::create: throw std::system_error(EAGAIN, std::generic_category(), "tulle::spawn_group: full");
        case when_full::record: return is_member(g, stack) ? group_place::none : group_place::kept;
        case when_full::run_inline: return group_place::none;
        case when_full::block: break;
    }
    if (is_member(g, stack)) return group_place::lent;
    take_place(g, held);
    return group_place::own;
}

// What is to start in the place of one that ends. Under the lock.
thread_core* pass_place_on(group_core& g) noexcept {
    if (sched::runnable* const next = g.kept.pop_front()) return static_cast<sched::thread_record*>(next);
    --g.alive;
    return nullptr;
}

void free_place(group_core& g, guard& held) noexcept {
    thread_core* const next = pass_place_on(g);
    held.unlock();
    if (next != nullptr)
        start_thread(next, true, false);
    else
        g.place_is_free.notify_one();
}

void keep(group_core& g, thread_core* t) noexcept {
    guard held(g.lock);
    bool const starts = g.alive < g.most; // one has ended meanwhile
    if (starts)
        ++g.alive;
    else
        g.kept.push_back(*static_cast<sched::thread_record*>(t));
    held.unlock();
    if (starts) start_thread(t, true, false);
}

// The place goes from the caller to the new thread and back. If nobody has started that one yet, it runs on the caller's stack.
void lend(group_core& g, thread_core* t) noexcept {
    group_lender self;
    self.to = t->id;
    {
        guard const held(g.lock);
        self.next = std::exchange(g.lenders, &self);
    }
    start_thread(t, false, false); // not detached: the caller has a reference
    if (!sched::try_run_in_place(*static_cast<sched::thread_record*>(t))) self.place_is_back.wait();
    release_thread(t);
}

// Who has lent its place to this thread, or null. Under the lock.
group_lender* take_lender(group_core& g, thread_id of) noexcept {
    group_lender** link = &g.lenders;
    while (*link != nullptr && (*link)->to != of) link = &(*link)->next;
    group_lender* const found = *link;
    if (found != nullptr) *link = found->next;
    return found;
}

void unlink(group_core& g, group_member const& self) noexcept {
    (self.prev == nullptr ? g.members : self.prev->next) = self.next;
    if (self.next != nullptr) self.next->prev = self.prev;
}

} // namespace

group_core* open_group(std::size_t most, when_full policy) {
    if (most == 0) throw std::invalid_argument("tulle::spawn_group: no thread may be alive");
    return new group_core(most, policy);
}

void close_group(group_core* g) noexcept {
    g->outstanding.wait();
    delete g;
}

group_place enter_group(group_core& g) {
    void const* const stack = &sched::this_fiber();
    guard held(g.lock);
    group_place at = group_place::own;
    if (g.alive < g.most)
        ++g.alive;
    else
        at = enter_full(g, held, stack);
    if (at != group_place::none) g.outstanding.add_signalers(1);
    return at;
}

void start_in_group(group_core& g, thread_core* t, group_place at) noexcept {
    if (at == group_place::kept) return keep(g, t);
    if (at == group_place::lent) return lend(g, t);
    start_thread(t, true, false);
}

void leave_group(group_core& g, group_place at) noexcept {
    guard held(g.lock);
    if (at == group_place::own) free_place(g, held);
    if (held.owns_lock()) held.unlock();
    g.outstanding.notify();
}

void refuse_in_group(group_core const& g) {
    if (g.policy == when_full::create) throw std::system_error(EAGAIN, std::generic_category(), "tulle::spawn_group: no memory");
}

void begin_member(group_core& g, group_member& self) noexcept {
    if (!knows_members(g)) return;
    self.stack = &sched::this_fiber();
    self.id = this_thread::get_id();
    guard const held(g.lock);
    self.next = g.members;
    if (self.next != nullptr) self.next->prev = &self;
    g.members = &self;
}

void end_member(group_core& g, group_member& self) noexcept {
    guard held(g.lock);
    if (self.stack != nullptr) unlink(g, self);
    group_lender* const lender = take_lender(g, self.id);
    if (lender == nullptr) free_place(g, held);
    if (held.owns_lock()) held.unlock();
    g.outstanding.notify();
    if (lender != nullptr) lender->place_is_back.notify(); // it is of the group, which is still there
}

void keep_group_exception(group_core& g) noexcept {
    guard const held(g.lock);
    if (g.exception == nullptr) g.exception = std::current_exception();
}

void join_group(group_core& g) {
    g.outstanding.wait();
    if (g.exception != nullptr) std::rethrow_exception(std::exchange(g.exception, nullptr));
}

std::size_t group_size(group_core const& g) noexcept {
    guard const held(g.lock);
    return g.alive;
}

} // namespace tulle::detail
