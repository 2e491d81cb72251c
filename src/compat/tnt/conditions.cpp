// SPDX-License-Identifier: Apache-2.0
// Condition variables. A thread that waits takes a ticket at the condition's node before it unlocks
// the mutex, which may be another node's; so a signal that is sent with the mutex held finds it.
#include "compat/tnt/managed.hpp"

#include <tnt.h>
#include <tulle/latch.hpp>

#include <deque>

namespace tulle::tnt {

namespace {

struct ticket {
    explicit ticket(number its_name) : name(its_name) {}
    number const name;
    tulle::latch called{1};
};

struct managed_condition {
    tulle::mutex lock; // guards the next ones
    number last = 0;
    bool is_gone = false; // destroyed; it stays for those who have been called
    std::deque<std::shared_ptr<ticket>> waiting;
    std::unordered_map<number, std::shared_ptr<ticket>> all; // these, and those that were called
};

// What enter says is a number, where other calls have an errno value.
struct entry {
    int error = EINVAL;
    number name = 0;
};

entry enter_here(number condition) {
    auto const c = registry_of<managed_condition>().find(condition);
    if (c == nullptr) return {};
    std::lock_guard const held(c->lock);
    if (c->is_gone) return {};
    auto const made = std::make_shared<ticket>(++c->last);
    c->all.emplace(made->name, made);
    c->waiting.push_back(made);
    return {0, made->name};
}

void call_first(managed_condition& c) { // with its lock
    if (c.waiting.empty()) return;
    c.waiting.front()->called.count_down();
    c.waiting.pop_front();
}

enum class leaving { after_wait, unused };

// Whether it was still waiting. A call that was for a ticket that nobody uses is the next one's.
bool leave(managed_condition& c, number condition, number name, leaving how) {
    std::lock_guard const held(c.lock);
    auto const is_it = [name](std::shared_ptr<ticket> const& t) { return t->name == name; };
    bool const has_waited = std::erase_if(c.waiting, is_it) != 0;
    bool const was_there = c.all.erase(name) != 0;
    if (how == leaving::unused && was_there && !has_waited) call_first(c);
    if (c.is_gone && c.all.empty()) registry_of<managed_condition>().remove(condition);
    return has_waited;
}

std::shared_ptr<ticket> ticket_of(managed_condition& c, number name) {
    std::lock_guard const held(c.lock);
    return c.all.at(name);
}

int wait(managed_condition& c, number condition, number name, std::int64_t deadline) {
    auto const own = ticket_of(c, name);
    if (deadline == k_never)
        own->called.wait();
    else
        static_cast<void>(own->called.wait_for(std::chrono::nanoseconds(left_until(deadline))));
    return leave(c, condition, name, leaving::after_wait) ? ETIMEDOUT : 0;
}

int call(managed_condition& c, bool all) {
    std::lock_guard const held(c.lock);
    if (c.is_gone) return EINVAL;
    do call_first(c);
    while (all && !c.waiting.empty());
    return 0;
}

int destroy(managed_condition& c, number name) {
    std::lock_guard const held(c.lock);
    if (c.is_gone) return EINVAL;
    if (!c.waiting.empty()) return EBUSY;
    c.is_gone = true;
    if (c.all.empty()) registry_of<managed_condition>().remove(name);
    return 0;
}

// By who cannot wait after all.
void give_back(number condition, number ticket) noexcept {
    static_cast<void>(guarded([&] {
        return manage_number<managed_condition>(
            condition,
            [](managed_condition& c, number its_name, number name) {
                return static_cast<int>(leave(c, its_name, name, leaving::unused));
            },
            ticket);
    }));
}

int wait_with(number condition, tnt_mutex_t const* mutex, std::int64_t deadline) {
    if (!is_number(condition)) return EINVAL;
    entry const own = at(
        place(node_of(condition)), [](number of) { return enter_here(of); }, condition);
    if (own.error != 0) return own.error;
    if (int const error = tnt_mutex_unlock(mutex)) {
        give_back(condition, own.name);
        return error;
    }
    int const found = guarded([&] {
        return manage_number<managed_condition>(
            condition,
            [](managed_condition& c, number its_name, number name, std::int64_t until) {
                return wait(c, its_name, name, until);
            },
            own.name, deadline);
    });
    if (found != 0 && found != ETIMEDOUT) give_back(condition, own.name);
    int const locked = tnt_mutex_lock(mutex);
    return locked != 0 ? locked : found;
}

int wait_before(tnt_cond_t const* condition, tnt_mutex_t const* mutex, std::int64_t deadline) {
    if (condition == nullptr || mutex == nullptr || deadline < 0) return EINVAL;
    return guarded(
        [&] { return wait_with(resolve<managed_condition>(condition), mutex, deadline); });
}

} // namespace
} // namespace tulle::tnt

using namespace tulle::tnt;

int tnt_cond_init(tnt_cond_t* condition) { return make<managed_condition>(condition); }
int tnt_cond_wait(const tnt_cond_t* condition, const tnt_mutex_t* mutex) {
    return wait_before(condition, mutex, k_never);
}
int tnt_cond_timedwait(const tnt_cond_t* condition, const tnt_mutex_t* mutex,
                       const struct timespec* until) {
    return wait_before(condition, mutex, deadline_of(until));
}
int tnt_cond_signal(const tnt_cond_t* condition) {
    return manage<managed_condition>(condition,
                                     [](managed_condition& c, number) { return call(c, false); });
}
int tnt_cond_broadcast(const tnt_cond_t* condition) {
    return manage<managed_condition>(condition,
                                     [](managed_condition& c, number) { return call(c, true); });
}
int tnt_cond_destroy(const tnt_cond_t* condition) {
    return manage<managed_condition>(
        condition, [](managed_condition& c, number name) { return destroy(c, name); });
}
