// SPDX-License-Identifier: Apache-2.0
// Groups whose threads are limited by the bytes that they hold, or reserve for a depth-first walk.
// Why work goes on: sched/modes/stack_shortage.md, "Bytes".
//   R1  A thread of the group never waits for bytes: what finds none is run inline.
//   R2  Who waits for bytes holds none.
//   R3  A thread at a level of a walk has reserved what this level and all below it hold.
#include "base/error.hpp"
#include "group/group_core.hpp"
#include "sched/scheduler.hpp"
#include "stack/size_class.hpp"

#include <tulle/runtime.hpp>

#include <cerrno>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>

namespace tulle::detail {

namespace {

using group::byte_limit;

// The level that the new thread is at; throws if a walk is deeper than it may be.
std::size_t next_level(byte_limit const& b, group_member const* here) {
    std::size_t const level = here == nullptr ? 0 : here->level + 1;
    if (b.levels != 0 && level >= b.levels)
        throw std::length_error("tulle::spawn_group: a walk is deeper than the " +
                                std::to_string(b.levels) + " levels that it has reserved");
    return level;
}

std::size_t bytes_wanted(byte_limit const& b, group_ticket const& t) {
    if (b.levels != 0) return (b.levels - t.level) * b.bytes_each_level; // R3
    std::size_t const bytes = t.bytes.is_stated ? t.bytes.count : t.bytes.count + b.bytes_of_thread;
    if (bytes > b.permits.most())
        base::throw_error(EINVAL,
                          ("tulle::spawn_group: a thread holds " + std::to_string(bytes) +
                           " bytes, and all together may hold " + std::to_string(b.permits.most()))
                              .c_str());
    return bytes;
}

void destroy(group_grant& grant) noexcept {
    grant.~group_grant();
    free_block(&grant);
}

void admit(group_core& g, group_ticket& t, group_permit permit) {
    t.permit = permit;
    g.outstanding.add_signalers(1);
}

// The group is full. The grant is the ticket's already.
void enter_full(group_core& g, group_ticket& t, group_member const* here) {
    if (g.policy == when_full::create) base::throw_error(EAGAIN, "tulle::spawn_group: full");
    if (g.policy == when_full::run_inline || here != nullptr) return; // R1
    if (g.policy == when_full::record) return admit(g, t, group_permit::kept);
    g.bytes->permits.take(t.grant->bytes); // R2
    admit(g, t, group_permit::own);
}

// Owns the grant until the ticket has a permit.
class new_grant {
public:
    // The ticket has none if there is no memory.
    new_grant(group_core& g, group_ticket& t, group_member const* here) : m_ticket(t) {
        t.level = next_level(*g.bytes, here);
        std::size_t const wanted = bytes_wanted(*g.bytes, t);
        if (void* const memory = allocate_block())
            t.grant = ::new (memory) group_grant(g, wanted, t.level);
    }
    new_grant(new_grant const&) = delete;
    new_grant& operator=(new_grant const&) = delete;
    ~new_grant() {
        if (m_ticket.grant == nullptr || m_ticket.permit == group_permit::own ||
            m_ticket.permit == group_permit::kept)
            return;
        destroy(*m_ticket.grant);
        m_ticket.grant = nullptr;
    }

private:
    group_ticket& m_ticket;
};

void start_served(group::byte_permits<sync::parking>::served& next) noexcept {
    while (auto* const r = next.records.pop_front())
        start_thread(static_cast<group_grant*>(r)->record, true, false);
}

std::size_t checked_product(std::size_t a, std::size_t b) {
    std::size_t all = 0;
    if (__builtin_mul_overflow(a, b, &all))
        throw std::invalid_argument("tulle::spawn_group: the walks hold more than there can be");
    return all;
}

} // namespace

group_core* open_group(bytes_held most, when_full policy) {
    if (most.most == 0) throw std::invalid_argument("tulle::spawn_group: nothing may be held");
    auto limit = std::make_unique<byte_limit>(most.most);
    limit->bytes_of_thread =
        sizeof(sched::thread_record) +
        stack::class_for(sched::running_scheduler().chosen().stack_size).bytes();
    return new group_core(std::move(limit), policy);
}

group_core* open_group(depth_first_walks w, when_full policy) {
    if (w.walks == 0 || w.levels == 0 || w.bytes_each_level == 0)
        throw std::invalid_argument("tulle::spawn_group: walks without walks, levels or bytes");
    std::size_t const of_walk = checked_product(w.levels, w.bytes_each_level);
    auto limit = std::make_unique<byte_limit>(checked_product(w.walks, of_walk));
    limit->levels = w.levels;
    limit->bytes_each_level = w.bytes_each_level;
    return new group_core(std::move(limit), policy);
}

void enter_with_bytes(group_core& g, group_ticket& t) {
    group_member const* const here = member_here(g);
    new_grant const owned(g, t, here);
    if (t.grant == nullptr) return refuse_in_group(g);
    g.bytes->permits.try_take(t.grant->bytes) ? admit(g, t, group_permit::own)
                                              : enter_full(g, t, here);
}

void enter_with_bytes_until(group_core& g, group_ticket& t, limit until) {
    new_grant const owned(g, t, member_here(g));
    if (t.grant == nullptr) return refuse_in_group(g);
    wait::limit<sync::parking> const bounds(until);
    std::size_t const bytes = t.grant->bytes;
    group::byte_permits<sync::parking>::served next;
    bool has_bytes = g.bytes->permits.try_take(bytes);
    if (!has_bytes && bounds.is_none()) {
        g.bytes->permits.take(bytes);
        has_bytes = true;
    }
    if (!has_bytes && !bounds.is_over())
        has_bytes = g.bytes->permits.take_until(bytes, bounds, next);
    start_served(next);
    has_bytes ? admit(g, t, group_permit::own) : void(t.permit = group_permit::refused);
}

void keep_until_served(group_grant& grant, thread_core* t) noexcept {
    grant.record = t;
    if (!grant.group.bytes->permits.keep(grant)) start_thread(t, true, false);
}

void leave_bytes(group_grant& grant, group_permit permit) noexcept {
    if (permit == group_permit::own) return end_grant(grant);
    group_core& g = grant.group;
    destroy(grant);
    g.outstanding.notify();
}

void end_grant(group_grant& grant) noexcept {
    group_core& g = grant.group;
    std::size_t const bytes = grant.bytes;
    destroy(grant);
    group::byte_permits<sync::parking>::served next;
    g.bytes->permits.give_back(bytes, next);
    start_served(next);
    g.outstanding.notify();
}

std::size_t bytes_held_by(group_core const& g) noexcept {
    return g.bytes != nullptr ? g.bytes->permits.held() : 0;
}

} // namespace tulle::detail
