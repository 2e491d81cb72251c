// SPDX-License-Identifier: Apache-2.0
// A function that is called once in the program, by the first thread of any node that asks. The
// manager of the variable knows whether that has happened; then the variable says so itself.
#include "compat/tnt/managed.hpp"

#include <tnt.h>

namespace tulle::tnt {

namespace {

constexpr number k_done = k_static - 1;

struct managed_once {
    tulle::mutex lock; // guards the next ones
    tulle::condition_variable changed;
    bool is_running = false;
    bool is_done = false;
};

enum class step { begin, finish, give_up };

// 1: it is the caller's to call. Otherwise it has been called.
int take(managed_once& o) {
    std::unique_lock held(o.lock);
    o.changed.wait(held, [&o] { return !o.is_running; });
    o.is_running = !o.is_done;
    return o.is_running ? 1 : 0;
}
int leave(managed_once& o, bool is_done) {
    std::lock_guard const held(o.lock);
    o.is_running = false;
    o.is_done = is_done;
    o.changed.notify_all();
    return 0;
}

int act_here(std::uint64_t name, step what) {
    auto const o = registry_of<managed_once>().find(static_object<managed_once>(name));
    return what == step::begin ? take(*o) : leave(*o, what == step::finish);
}

// A variable that only this node has is known by its address here, until the end.
int act_alone(void const* variable, step what) {
    std::uint64_t const name = ~reinterpret_cast<std::uintptr_t>(variable);
    int const found = act_here(name, what);
    if (what == step::finish) registry_of<managed_once>().remove(static_object<managed_once>(name));
    return found;
}

int act(std::uint64_t common, void const* variable, step what) {
    if (common == 0) return act_alone(variable, what);
    return at(
        manager_of(common), [](std::uint64_t name, step s) { return act_here(name, s); }, common,
        what);
}

int call(tnt_once_t* variable, void (*function)()) {
    std::uint64_t const name = common_name(variable);
    if (act(name, variable, step::begin) != 1) return 0;
    try {
        function();
    } catch (...) {
        act(name, variable, step::give_up);
        throw;
    }
    return act(name, variable, step::finish);
}

} // namespace
} // namespace tulle::tnt

using namespace tulle::tnt;

int tnt_once(tnt_once_t* variable, void (*function)(void)) {
    if (variable == nullptr || function == nullptr) return EINVAL;
    std::atomic_ref<number> word(*variable);
    number const found = word.load(std::memory_order_acquire); // pairs with the store below
    if (found == k_done) return 0;
    if (found != k_static) return EINVAL;
    int const error = call(variable, function);
    word.store(k_done, std::memory_order_release); // pairs with the load above
    return error;
}
