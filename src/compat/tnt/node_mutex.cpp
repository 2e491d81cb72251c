// SPDX-License-Identifier: Apache-2.0
#include "compat/tnt/node_mutex.hpp"

#include "sync/lock_settings.hpp"

#include <tulle/c/place.h>

#include <climits>
#include <cstdio>
#include <cstdlib>

namespace tulle::tnt {

namespace {

using sync::entered;
using sync::left;
using sync::stay;

[[noreturn]] void refuse(char const* option, char const* text, int least) noexcept {
    std::fprintf(stderr, "tulle: tnt: %s=%s: set it to a number from %d to %d\n", option, text,
                 least, INT_MAX);
    std::abort();
}
sync::lock_settings const& chosen_locks() noexcept {
    static sync::lock_settings const s_chosen = sync::lock_settings_of_environment(&refuse);
    return s_chosen;
}

// The parts of this node. Never destroyed, as threads may outlive static objects.
class parts_of_node {
public:
    std::shared_ptr<node_mutex> find(number name) {
        std::lock_guard const held(m_lock);
        auto const found = m_all.find(name);
        return found != m_all.end() ? found->second : nullptr;
    }
    std::shared_ptr<node_mutex> add(number name, int type) {
        std::lock_guard const held(m_lock);
        auto& found = m_all[name];
        if (found == nullptr) found = std::make_shared<node_mutex>(name, type);
        return found;
    }
    void remove(number name) {
        std::lock_guard const held(m_lock);
        m_all.erase(name);
    }

private:
    tulle::mutex m_lock; // guards the rest
    std::unordered_map<number, std::shared_ptr<node_mutex>> m_all;
};
parts_of_node& parts() {
    static auto* const s_parts = new parts_of_node;
    return *s_parts;
}

// An i-let.
void forget_here(std::uint64_t name, std::uint64_t /*unused*/) { parts().remove(name); }

left recall_here(number name) {
    auto const part = parts().find(name);
    return part != nullptr ? part->recall() : left::stays;
}

constexpr std::int64_t k_at_once = 0; // a deadline that has passed

mutex_answer ask(number name, bool is_contended, std::int64_t deadline) {
    return at(
        place(node_of(name)),
        [](number of, int node, bool contended, std::int64_t until) {
            auto const found = registry_of<managed_mutex>().find(of);
            return found == nullptr ? mutex_answer{EINVAL}
                                    : found->take(of, node, contended, until);
        },
        name, here().index(), is_contended, deadline);
}

} // namespace

// --- at the manager ------------------------------------------------------------------------------

mutex_answer managed_mutex::take(number name, int node, bool is_contended, std::int64_t deadline) {
    request own;
    own.machine = node;
    // A recall takes a worker of the node, which may compute for long.
    bool const may_pay = false;
    auto const got = m_home.take(own, is_contended, chosen_locks().threshold, may_pay);
    bool const stays = got.how == stay::until_wanted;
    if (got.is_granted) return {0, stays, false};
    try {
        recall(name, got.recall_at);
    } catch (...) { // nobody waits any more
        if (!m_home.withdraw(own)) {
            own.granted.wait();
            release(left::goes_home);
        }
        throw;
    }
    if (deadline != k_never &&
        !own.granted.wait_for(std::chrono::nanoseconds(left_until(deadline))) &&
        m_home.withdraw(own))
        return {ETIMEDOUT};
    own.granted.wait();
    return {0, stays, own.is_wanted.load()};
}

// A node that has it, and where nobody may have it locked.
void managed_mutex::recall(number name, int from) {
    if (from < 0) return;
    left const how = at(
        place(from), [](number of) { return recall_here(of); }, name);
    if (goes_home(how)) release(how);
}

void managed_mutex::release(left how) {
    if (request* const next = m_home.release(how)) next->granted.count_down();
}

void managed_mutex::join(int node) {
    std::lock_guard const held(m_lock);
    m_nodes.insert(node);
}

int managed_mutex::destroy(number name) {
    if (take(name, here().index(), false, k_at_once).error != 0) return EBUSY;
    registry_of<managed_mutex>().remove(name);
    release(left::goes_home); // nobody sleeps for ever who has come in this moment
    std::lock_guard const held(m_lock);
    for (int const node : m_nodes) tulle_start_at(node, {&forget_here, name, 0});
    return 0;
}

// --- at each node --------------------------------------------------------------------------------

std::shared_ptr<node_mutex> node_mutex_of(number name) {
    if (auto const found = parts().find(name)) return found;
    int const type = at(
        place(node_of(name)),
        [](number of, int node) {
            auto const found = registry_of<managed_mutex>().find(of);
            if (found != nullptr) found->join(node);
            return found != nullptr ? found->type : -1;
        },
        name, here().index());
    return type >= 0 ? parts().add(name, type) : nullptr;
}

int node_mutex::lock(number by, std::int64_t deadline) {
    // relaxed: it is the caller's own, or not
    if (m_owner.load(std::memory_order_relaxed) == by)
        if (int const done = lock_again(true); done >= 0) return done;
    bool was_taken = false;
    entered const got = m_share.enter_until(deadline, was_taken);
    if (!got.has_share) {
        static_cast<void>(give_back(got.otherwise));
        return ETIMEDOUT;
    }
    if (!m_share.is_found_here())
        if (int const error = fetch(was_taken, deadline)) return error;
    return own(by);
}

int node_mutex::try_lock(number by) {
    // relaxed: as above
    if (m_owner.load(std::memory_order_relaxed) == by)
        if (int const done = lock_again(false); done >= 0) return done;
    if (!m_share.try_enter()) return EBUSY;
    if (!m_share.is_found_here())
        if (int const error = fetch(false, k_at_once)) return error == ETIMEDOUT ? EBUSY : error;
    return own(by);
}

int node_mutex::unlock(number by) {
    number const owner = m_owner.load(std::memory_order_relaxed); // relaxed: as above
    bool const is_normal = m_type == TNT_MUTEX_DEFAULT;
    if (owner == 0) return is_normal && by != k_anybody ? unlock_elsewhere() : EPERM;
    if (owner != by && !is_normal) return EPERM;
    if (m_again != 0) {
        --m_again;
        return 0;
    }
    m_owner.store(0, std::memory_order_relaxed); // relaxed: under the share
    return give_back(m_share.unlock(chosen_locks().turns));
}

// By its owner. -1: it has to wait, for ever if the mutex is of the default type.
int node_mutex::lock_again(bool may_wait) noexcept {
    if (m_type == TNT_MUTEX_ERRORCHECK) return may_wait ? EDEADLK : EBUSY;
    if (m_type != TNT_MUTEX_RECURSIVE) return -1;
    ++m_again;
    return 0;
}

int node_mutex::own(number by) noexcept {
    m_owner.store(by, std::memory_order_relaxed); // relaxed: under the share
    return 0;
}

// With the share, which it leaves if the mutex does not come.
int node_mutex::fetch(bool is_contended, std::int64_t deadline) try {
    mutex_answer const got = ask(m_name, is_contended, deadline);
    if (got.error != 0)
        m_share.leave_share();
    else
        m_share.arrive(got.stays ? stay::until_wanted : stay::once, got.is_wanted);
    return got.error;
} catch (...) {
    m_share.leave_share();
    throw;
}

// When this returns the home knows: nobody finds it locked who comes after the unlock.
int node_mutex::give_back(left how) {
    if (how == left::not_held) return EPERM;
    if (how == left::stays) return 0;
    return at(
        place(node_of(m_name)),
        [](number of, left way) {
            auto const found = registry_of<managed_mutex>().find(of);
            if (found == nullptr) return EINVAL;
            found->release(way);
            return 0;
        },
        m_name, how);
}

int node_mutex::unlock_elsewhere() const {
    int const keeper = at(
        place(node_of(m_name)),
        [](number of) {
            auto const found = registry_of<managed_mutex>().find(of);
            return found != nullptr ? found->keeper() : -1;
        },
        m_name);
    if (keeper < 0 || keeper == here().index()) return EPERM;
    return at(
        place(keeper),
        [](number of) {
            auto const part = parts().find(of);
            return part != nullptr ? part->unlock(node_mutex::k_anybody) : EPERM;
        },
        m_name);
}

} // namespace tulle::tnt
