// SPDX-License-Identifier: Apache-2.0
// Objects for which one node, their manager, answers all others: those who wait for one stand in
// threads of that node, which their calls have made. New objects go to the nodes in turn. One that
// a constant initialises is made when it is used for the first time, by the node that the address
// of its variable names: all nodes that have this variable find the same object, also if each has
// its own copy of the variable.
#pragma once

#include "compat/tnt/registry.hpp"

#include <tulle/condition_variable.hpp>

#include <cstdint>
#include <ctime>

namespace tulle::tnt {

inline constexpr number k_static = ~number{0}; // what the constants are

[[nodiscard]] place next_manager();

// A name of a variable that means the same at all nodes: of one of the program or its libraries, or
// in shared memory. 0: it is on a stack or a heap, and means something to this node alone.
[[nodiscard]] std::uint64_t common_name(void const* variable);
[[nodiscard]] place manager_of(std::uint64_t name);

// What a variable with the constant stands for; asked at the manager.
template <class T> number static_object(std::uint64_t name) {
    static auto* const s_lock = new tulle::mutex;
    static auto* const s_all = new std::unordered_map<std::uint64_t, number>; // under the lock
    std::lock_guard const held(*s_lock);
    number& found = (*s_all)[name];
    if (found == 0 || registry_of<T>().find(found) == nullptr) found = registry_of<T>().add();
    return found;
}

// The number of an object, which its variable then keeps.
template <class T> number resolve(number const* variable) {
    // A variable that a constant has initialised is none of read-only memory.
    std::atomic_ref<number> word(const_cast<number&>(*variable)); // NOLINT
    number found = word.load(std::memory_order_acquire);          // pairs with the exchange below
    if (found != k_static) return found;
    std::uint64_t const name = common_name(variable);
    number const made =
        name == 0
            ? registry_of<T>().add()
            : at(
                  manager_of(name), [](std::uint64_t of) { return static_object<T>(of); }, name);
    // Pairs with the load above. Another thread may have been first: then it has the same number,
    // or an object of this node that nobody else has seen goes.
    if (word.compare_exchange_strong(found, made, std::memory_order_acq_rel)) return made;
    if (name == 0) registry_of<T>().remove(made);
    return found;
}

// Action(object, number, arguments...) at the object's node.
template <class T, class Action, class... A>
int manage_number(number name, Action /*without captures*/, A const&... arguments) {
    if (!is_number(name)) return EINVAL;
    return at(
        place(node_of(name)),
        [](number of, A const&... each) {
            auto const found = registry_of<T>().find(of);
            return found == nullptr ? EINVAL : Action{}(*found, of, each...);
        },
        name, arguments...);
}

template <class T, class Action, class... A>
int manage(number const* variable, Action action, A const&... arguments) {
    if (variable == nullptr) return EINVAL;
    return guarded([&] { return manage_number<T>(resolve<T>(variable), action, arguments...); });
}

template <class T, class... A> int make(number* variable, A const&... arguments) {
    if (variable == nullptr) return EINVAL;
    return guarded([&] {
        *variable = at(
            next_manager(), [](A const&... each) { return registry_of<T>().add(each...); },
            arguments...);
        return 0;
    });
}

// --- time limits: nanoseconds of CLOCK_REALTIME, which the hosts are taken to agree about --------

inline constexpr std::int64_t k_never = INT64_MAX;
// -1: no time.
[[nodiscard]] std::int64_t deadline_of(timespec const* when) noexcept;
[[nodiscard]] std::int64_t left_until(std::int64_t deadline) noexcept;

// False: the time was up.
template <class Predicate>
bool wait_until(tulle::condition_variable& changed, std::unique_lock<tulle::mutex>& held,
                std::int64_t deadline, Predicate is_true) {
    if (deadline == k_never) {
        changed.wait(held, is_true);
        return true;
    }
    return changed.wait_for(held, std::chrono::nanoseconds(left_until(deadline)), is_true);
}

// Whom an object takes for its owner: a thread of TNT, or another one of that node. Never 0.
[[nodiscard]] number caller();

} // namespace tulle::tnt
