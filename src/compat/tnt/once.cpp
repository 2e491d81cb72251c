// SPDX-License-Identifier: Apache-2.0
// A function that is called once in the program, by the first thread of any node that asks. If all
// nodes have one word, or a node has one of its own, the word says how far that has come: it begins
// as the constant, names an object for those who wait, and is k_done in the end, so that it may be
// set to the constant again. Where each node has a copy of the variable, the manager of its name
// knows whether the function has been called, and a copy only learns it.
#include "compat/program/program_data.hpp"
#include "compat/program/shared_variables.hpp"
#include "compat/tnt/managed.hpp"

#include <tnt.h>
#include <tulle/c/global_memory.h>

namespace tulle::tnt {

namespace {

constexpr number k_done = k_static - 1;
// What steps return; other values are errors.
constexpr int k_mine = -1; // it is the caller's to call
constexpr int k_over = 0;  // it has been called
constexpr int k_gone = -2; // there is no such object

struct managed_once {
    tulle::mutex lock; // guards the next ones
    tulle::condition_variable changed;
    bool is_running = false;
    bool is_done = false;
};

enum class step { begin, finish, give_up };

int take(managed_once& o) {
    std::unique_lock held(o.lock);
    o.changed.wait(held, [&o] { return !o.is_running; });
    o.is_running = !o.is_done;
    return o.is_running ? k_mine : k_over;
}
int leave(managed_once& o, bool is_done) {
    std::lock_guard const held(o.lock);
    o.is_running = false;
    o.is_done = is_done;
    o.changed.notify_all();
    return k_over;
}

int act_here(number object, step what) {
    auto const o = registry_of<managed_once>().find(object);
    if (o == nullptr) return k_gone;
    return what == step::begin ? take(*o) : leave(*o, what == step::finish);
}

// For copies of a variable: the object stays.
int act_by_name(std::uint64_t name, step what) noexcept {
    return guarded([&] {
        return at(
            manager_of(name),
            [](std::uint64_t of, step s) { return act_here(static_object<managed_once>(of), s); },
            name, what);
    });
}
// For one word: it says that the function has been called before the object goes.
int act_by_object(number object, step what) noexcept {
    return guarded([&] {
        return at(
            place(node_of(object)),
            [](number of, step s) {
                int const found = act_here(of, s);
                if (s == step::finish) registry_of<managed_once>().remove(of);
                return found;
            },
            object, what);
    });
}

template <class Act> int call(void (*function)(), std::atomic_ref<number> word, Act act) {
    int const begun = act(step::begin);
    if (begun != k_mine) return begun;
    try {
        function();
    } catch (...) {
        act(step::give_up);
        throw;
    }
    // Before others are told: who has returned may free the variable. Pairs with loads of the word.
    word.store(k_done, std::memory_order_release);
    return act(step::finish);
}

// What the word says, after it has got an object of this node if it is the constant.
int look(std::atomic_ref<number> word, number& found) noexcept {
    found = word.load(std::memory_order_acquire); // pairs with the exchange below, and the end
    if (found != k_static) return 0;
    return guarded([&] {
        number const made = registry_of<managed_once>().add();
        // Pairs with the load above.
        if (word.compare_exchange_strong(found, made, std::memory_order_acq_rel))
            found = made;
        else
            registry_of<managed_once>().remove(made); // nobody else has seen it
        return 0;
    });
}

int call_by_word(std::atomic_ref<number> word, void (*function)()) {
    for (number before = k_static;;) {
        number found = k_static;
        if (int const error = look(word, found)) return error;
        if (found == k_done) return 0;
        if (!is_number(found) || found == before) return EINVAL; // it names nothing
        int const result =
            call(function, word, [&](step what) { return act_by_object(found, what); });
        if (result != k_gone) return result;
        before = found;
    }
}

// Whether nodes have copies of the variable that mean the same.
bool has_copies(void const* variable, std::uint64_t name) {
    if (name == 0 || tulle_global_place_of(variable) >= 0) return false;
    return !program::are_shared() || !program::program_data::of_process().has(variable);
}

} // namespace
} // namespace tulle::tnt

using namespace tulle::tnt;

int tnt_once(tnt_once_t* variable, void (*function)(void)) {
    if (variable == nullptr || function == nullptr) return EINVAL;
    std::atomic_ref<number> const word(*variable);
    // Pairs with the store after a call, here or by a thread that found it done.
    number const found = word.load(std::memory_order_acquire);
    if (found == k_done) return 0;
    std::uint64_t name = 0;
    bool is_copy = false;
    if (int const error = guarded([&] {
            name = common_name(variable);
            is_copy = has_copies(variable, name);
            return 0;
        }))
        return error;
    if (!is_copy) return call_by_word(word, function);
    if (found != k_static) return EINVAL;
    int const error = call(function, word, [&](step what) { return act_by_name(name, what); });
    if (error == 0) word.store(k_done, std::memory_order_release); // pairs with the load above
    return error;
}
