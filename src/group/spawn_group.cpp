// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "group/group_core.hpp"
#include "sched/scheduler.hpp"

#include <tulle/detail/caught_exception.hpp>
#include <tulle/detail/deadline.hpp>
#include <tulle/runtime.hpp>

#include <cerrno>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

namespace tulle::detail {

namespace {

using group::k_any_column;

// Others treat threads of the group like any.
bool knows_members(group_core const& g) noexcept {
    return g.bytes != nullptr || g.policy == when_full::record || g.policy == when_full::block;
}

void stand_on_stack(group_member& self) noexcept {
    self.outer = std::exchange(sched::this_fiber().member, &self);
}

[[noreturn]] void refuse(std::string const& why) {
    base::throw_error(EINVAL, ("tulle::spawn_group: " + why).c_str());
}

std::size_t column_of(group_core const& g, int shepherd) {
    if (shepherd < -1 || (shepherd >= 0 && shepherd >= shepherd_count()))
        refuse("the shepherd does not exist");
    if (!g.is_by_shepherd) return 0;
    if (g.permits.columns() != static_cast<std::size_t>(shepherd_count()))
        refuse("made for another number of shepherds");
    return shepherd < 0 ? k_any_column : static_cast<std::size_t>(shepherd);
}

void set_shepherd(thread_core& t, group_core const& g, std::size_t column) noexcept {
    if (g.is_by_shepherd) t.shepherd = static_cast<std::int16_t>(column);
}

// Admits a thread with a permit.
void admit(group_core& g, group_ticket& t, std::size_t column, group_permit permit) {
    t.permit = permit;
    t.column = column;
    if (g.is_by_shepherd) t.shepherd = static_cast<int>(column);
    g.outstanding.add_signalers(1);
}

// The group is full: does as the policy says.
void enter_full(group_core& g, group_ticket& t, std::size_t wanted) {
    if (g.policy == when_full::create) base::throw_error(EAGAIN, "tulle::spawn_group: full");
    if (g.policy == when_full::run_inline) return;
    group_member const* const here = member_here(g);
    if (g.policy == when_full::record) {
        if (here != nullptr) return;
        t.permit = group_permit::kept;
        t.column = wanted;
        g.outstanding.add_signalers(1);
    } else if (here != nullptr) {
        admit(g, t, here->column, group_permit::lent);
        ::new (static_cast<void*>(t.lender)) group_lender(g, here->column);
    } else {
        admit(g, t, g.permits.take(wanted), group_permit::own);
    }
}

group_lender& lender_in(group_ticket& t) noexcept {
    return *std::launder(reinterpret_cast<group_lender*>(t.lender));
}

// Gives a permit that has come free to a record. It is called under the lock of the permits; the
// record starts without the lock.
struct pass_on {
    group_core& g;
    thread_core* next = nullptr;

    bool operator()(std::size_t column) noexcept {
        sched::runnable* const r = g.kept.pop(column);
        if (r == nullptr) return false;
        next = static_cast<sched::thread_record*>(r);
        set_shepherd(*next, g, column);
        return true;
    }
    void start() const noexcept {
        if (next != nullptr) start_thread(next, true, false);
    }
};

// Keeps a record, unless a permit has come free meanwhile: then it starts.
void keep(group_core& g, thread_core* t, std::size_t wanted) noexcept {
    std::size_t const column = g.permits.try_take(
        wanted, [&g, t, wanted] { g.kept.push(wanted, *static_cast<sched::thread_record*>(t)); });
    if (column == k_any_column) return;
    set_shepherd(*t, g, column);
    start_thread(t, true, false);
}

// The permit goes from the caller to the new thread. If no worker has started that thread yet, it
// runs on the caller's stack.
void lend(group_core& g, thread_core* t, group_lender& self) noexcept {
    start_thread(t, false, false); // with a reference for the caller beside that of the body
    static_cast<void>(sched::try_run_in_place(*static_cast<sched::thread_record*>(t)));
    g.permits.wait_back(self);
    sched::drop_reference(*static_cast<sched::thread_record*>(t));
}

// A thread's word is the address of its group, or with one of these bits of what it was given.
constexpr std::uintptr_t k_is_lender = 1;
constexpr std::uintptr_t k_is_grant = 2;

template <class T> T* object_in(std::uintptr_t word, std::uintptr_t kind) noexcept {
    return (word & kind) != 0 ? reinterpret_cast<T*>(word - kind) : nullptr;
}

} // namespace

group_member* member_here(group_core const& g) noexcept {
    group_member* m = sched::this_fiber().member;
    while (m != nullptr && m->group != &g) m = m->outer;
    return m;
}

group_core* open_group(std::size_t most, when_full policy) {
    if (most == 0) throw std::invalid_argument("tulle::spawn_group: no thread may be alive");
    return new group_core(1, false, most, policy);
}

group_core* open_group(per_shepherd most, when_full policy) {
    if (most.most == 0) throw std::invalid_argument("tulle::spawn_group: no thread may be alive");
    return new group_core(static_cast<std::size_t>(shepherd_count()), true, most.most, policy);
}

void close_group(group_core* g) noexcept {
    g->outstanding.wait();
    delete g;
}

void enter_group(group_core& g, group_ticket& t, int shepherd) {
    schedule_point();
    std::size_t const wanted = column_of(g, shepherd);
    t.shepherd = shepherd;
    if (g.bytes != nullptr) return enter_with_bytes(g, t);
    std::size_t const column = g.permits.try_take(wanted, [] {});
    column != k_any_column ? admit(g, t, column, group_permit::own) : enter_full(g, t, wanted);
}

void enter_group_until(group_core& g, group_ticket& t, int shepherd, limit until) {
    schedule_point();
    std::size_t const wanted = column_of(g, shepherd);
    t.shepherd = shepherd;
    if (g.bytes != nullptr) return enter_with_bytes_until(g, t, until);
    std::size_t column = g.permits.try_take(wanted, [] {});
    wait::limit<sync::parking> const bounds(until);
    if (column == k_any_column && bounds.is_none()) column = g.permits.take(wanted);
    if (column == k_any_column && !bounds.is_over()) column = g.permits.take_until(wanted, bounds);
    column != k_any_column ? admit(g, t, column, group_permit::own)
                           : void(t.permit = group_permit::refused);
}

std::uintptr_t group_of(group_core& g, group_ticket& t) noexcept {
    if (t.grant != nullptr) return reinterpret_cast<std::uintptr_t>(t.grant) | k_is_grant;
    if (t.permit == group_permit::lent)
        return reinterpret_cast<std::uintptr_t>(&lender_in(t)) | k_is_lender;
    return reinterpret_cast<std::uintptr_t>(&g);
}

void start_in_group(group_core& g, thread_core* t, group_ticket& ticket) noexcept {
    t->shepherd = static_cast<std::int16_t>(ticket.shepherd);
    if (ticket.permit == group_permit::kept && ticket.grant != nullptr)
        return keep_until_served(*ticket.grant, t);
    if (ticket.permit == group_permit::kept) return keep(g, t, ticket.column);
    if (ticket.permit == group_permit::lent) return lend(g, t, lender_in(ticket));
    start_thread(t, true, false);
}

// A permit that was to be lent, and was not, still belongs to the lender.
void leave_group(group_core& g, group_ticket& ticket) noexcept {
    if (ticket.grant != nullptr)
        return leave_bytes(*std::exchange(ticket.grant, nullptr), ticket.permit);
    pass_on pass{g};
    if (ticket.permit == group_permit::own) g.permits.give_back(ticket.column, pass);
    pass.start();
    g.outstanding.notify();
}

void refuse_in_group(group_core const& g) {
    if (g.policy == when_full::create) base::throw_error(EAGAIN, "tulle::spawn_group: no memory");
}

void begin_member(std::uintptr_t word, group_member& self, int shepherd) noexcept {
    auto* const lender = object_in<group_lender>(word, k_is_lender);
    self.grant = object_in<group_grant>(word, k_is_grant);
    group_core& g = lender != nullptr       ? lender->group
                    : self.grant != nullptr ? self.grant->group
                                            : *reinterpret_cast<group_core*>(word);
    self.group = &g;
    self.column = lender != nullptr  ? lender->wanted
                  : g.is_by_shepherd ? static_cast<std::size_t>(shepherd)
                                     : 0;
    if (!knows_members(g)) return;
    stand_on_stack(self);
    if (self.grant != nullptr)
        self.level = self.grant->level;
    else
        g.permits.begin(self, lender);
}

void end_member(group_member& self) noexcept {
    group_core& g = *self.group;
    if (knows_members(g)) sched::this_fiber().member = self.outer;
    if (self.grant != nullptr) return end_grant(*self.grant);
    pass_on pass{g};
    g.permits.end(self, pass);
    pass.start();
    g.outstanding.notify();
}

void begin_inline(group_core& g, group_member& self, group_ticket const& ticket) noexcept {
    if (g.bytes == nullptr) return;
    self.group = &g;
    self.level = ticket.level;
    stand_on_stack(self);
}

void end_inline(group_member& self) noexcept {
    if (self.group != nullptr) sched::this_fiber().member = self.outer;
}

void keep_group_exception(group_core& g) noexcept {
    std::lock_guard const held(g.exception_lock);
    if (g.exception == nullptr) g.exception = caught_exception();
}

void join_group(group_core& g) {
    g.outstanding.wait();
    if (g.exception != nullptr) std::rethrow_exception(std::exchange(g.exception, nullptr));
}

std::size_t group_size(group_core const& g) noexcept {
    return g.bytes != nullptr ? g.bytes->permits.holders()
                              : const_cast<group_core&>(g).permits.taken();
}

} // namespace tulle::detail
