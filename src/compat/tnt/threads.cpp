// SPDX-License-Identifier: Apache-2.0
// Threads. Each is an object of the node where it runs; who creates or joins it from elsewhere
// calls there.
#include "compat/tnt/keys.hpp"
#include "compat/tnt/placement.hpp"
#include "compat/tnt/registry.hpp"

#include <tnt.h>
#include <tulle.h>
#include <tulle/c/global_memory.h>
#include <tulle/detail/remote.hpp>
#include <tulle/latch.hpp>
#include <tulle/thread.hpp>
#include <tulle/thread_specific.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <system_error>

namespace tulle::tnt {

namespace {

using function = void* (*)(void*);

struct thread {
    number name = 0;
    function body = nullptr;
    void* argument = nullptr;
    bool is_counted = false;
    void* result = nullptr;            // published by the latch
    std::atomic<bool> is_taken{false}; // joined or detached
    tulle::latch over{1};
};

struct exit_request {
    void* result;
};

// Throws std::system_error: there are too many keys.
std::uint64_t self_key() {
    static std::uint64_t const s_key = detail::make_key(nullptr);
    return s_key;
}
// Without a key there is no thread of TNT.
thread* self() noexcept try {
    return static_cast<thread*>(detail::get_specific(self_key()));
} catch (std::system_error const&) {
    return nullptr;
}

void run(std::shared_ptr<thread> const& t) {
    detail::set_specific(self_key(), t.get());
    try {
        t->result = t->body(t->argument);
    } catch (exit_request const& wanted) {
        t->result = wanted.result;
    }
    end_values();
    detail::set_specific(self_key(), nullptr);
    if (t->is_counted) tell_end(here().index());
    t->over.count_down();
    // Pairs with take; who joins does it, too.
    if (t->is_taken.load(std::memory_order_acquire)) registry_of<thread>().remove(t->name);
}

struct start_order {
    std::uint64_t code;
    std::uint64_t argument;
    std::uint64_t stack_size; // 0: as usual
    bool is_counted;
    bool is_detached;
};

// At the node where it runs. 0: it does not have the function.
number start_here(start_order const& order) {
    void* const code = detail::code_of_name(order.code);
    if (code == nullptr) return 0;
    static_cast<void>(self_key());
    if (order.is_counted) expect_ends();
    number const name = registry_of<thread>().add();
    auto const t = registry_of<thread>().find(name);
    t->name = name;
    t->body =
        reinterpret_cast<function>(code); // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
    t->argument = reinterpret_cast<void*>(order.argument); // NOLINT(performance-no-int-to-ptr)
    t->is_counted = order.is_counted;
    t->is_taken.store(order.is_detached, std::memory_order_relaxed); // published by the start
    // Shared memory is mapped here from now on.
    static_cast<void>(tulle_global_local(t->argument, 1));
    try {
        attributes how{};
        if (order.stack_size != 0) how.stack_size = order.stack_size;
        spawn_detached(how, [t] { run(t); });
    } catch (...) {
        registry_of<thread>().remove(name);
        throw;
    }
    return name;
}

int create(tnt_t* made, chosen_node where, tnt_attr_t const& attributes, function body,
           void* argument) {
    start_order const order{detail::name_of_code(reinterpret_cast<void const*>(body)),
                            reinterpret_cast<std::uintptr_t>(argument), attributes.stack_size,
                            where.is_counted, attributes.detached != 0};
    try {
        *made = order.code == 0 ? 0
                                : at(
                                      place(where.node),
                                      [](start_order const& o) { return start_here(o); }, order);
    } catch (...) {
        if (where.is_counted) tell_end(where.node);
        throw;
    }
    if (*made == 0 && where.is_counted) tell_end(where.node);
    return *made == 0 ? ENOENT : 0;
}

// ESRCH, EINVAL: another one was first.
int take(number name, std::shared_ptr<thread>& found) {
    found = registry_of<thread>().find(name);
    if (found == nullptr) return ESRCH;
    // Pairs with run, and itself.
    return found->is_taken.exchange(true, std::memory_order_acq_rel) ? EINVAL : 0;
}

struct join_answer {
    int error;
    std::uint64_t result;
};

join_answer join_here(number name) {
    std::shared_ptr<thread> t;
    if (int const error = take(name, t)) return {error, 0};
    t->over.wait();
    registry_of<thread>().remove(name);
    return {0, reinterpret_cast<std::uintptr_t>(t->result)};
}

constexpr tnt_attr_t k_usual{0, TNT_CREATE_JOINABLE};
constexpr std::size_t k_least_stack = 16384; // as POSIX has it
constexpr std::size_t k_most_stack = std::size_t{1} << 30U;

bool is_stack_size(std::size_t size) { return size >= k_least_stack && size <= k_most_stack; }
bool is_state(int state) { return state == TNT_CREATE_JOINABLE || state == TNT_CREATE_DETACHED; }

int detach_here(number name) {
    std::shared_ptr<thread> t;
    if (int const error = take(name, t)) return error;
    if (t->over.try_wait()) registry_of<thread>().remove(name);
    return 0;
}

} // namespace
} // namespace tulle::tnt

using namespace tulle::tnt;
using tulle::at;
using tulle::place;

int tnt_nodes(void) { return tulle::place_count(); }
int tnt_node(void) { return tulle::here().index(); }
int tnt_node_of(tnt_t thread) { return node_of(thread); }

int tnt_create(tnt_t* thread, void* (*function)(void*), void* argument) {
    return tnt_create_with(thread, &k_usual, function, argument);
}

int tnt_create_with(tnt_t* thread, const tnt_attr_t* attributes, void* (*function)(void*),
                    void* argument) {
    if (thread == nullptr || function == nullptr) return EINVAL;
    tnt_attr_t const& chosen = attributes != nullptr ? *attributes : k_usual;
    if ((chosen.stack_size != 0 && !is_stack_size(chosen.stack_size)) || !is_state(chosen.detached))
        return EINVAL;
    return guarded([&] { return create(thread, choose_node(), chosen, function, argument); });
}

int tnt_create_at(tnt_t* thread, int node, void* (*function)(void*), void* argument) {
    if (thread == nullptr || function == nullptr || node < 0) return EINVAL;
    return guarded([&] {
        return node < tulle::place_count()
                   ? create(thread, {node, false}, k_usual, function, argument)
                   : EINVAL;
    });
}

int tnt_join(tnt_t thread, void** result) {
    return guarded([&] {
        if (!is_number(thread)) return ESRCH;
        if (thread == tnt_self()) return EDEADLK;
        join_answer const answer = at(
            place(node_of(thread)), [](number n) { return join_here(n); }, thread);
        if (answer.error == 0 && result != nullptr)
            *result = reinterpret_cast<void*>(answer.result); // NOLINT(performance-no-int-to-ptr)
        return answer.error;
    });
}

int tnt_detach(tnt_t thread) {
    return guarded([&] {
        if (!is_number(thread)) return ESRCH;
        return at(
            place(node_of(thread)), [](number n) { return detach_here(n); }, thread);
    });
}

void tnt_exit(void* result) {
    if (self() == nullptr) {
        std::fputs("tulle: tnt_exit in a thread that tnt_create has not made\n", stderr);
        std::abort();
    }
    throw exit_request{result};
}

tnt_t tnt_self(void) {
    auto const* const t = self();
    return t != nullptr ? t->name : 0;
}

int tnt_equal(tnt_t one, tnt_t other) { return one == other ? 1 : 0; }
int tnt_yield(void) {
    tulle_yield();
    return 0;
}

int tnt_attr_init(tnt_attr_t* attributes) {
    if (attributes == nullptr) return EINVAL;
    *attributes = k_usual;
    return 0;
}
int tnt_attr_destroy(tnt_attr_t* attributes) { return attributes == nullptr ? EINVAL : 0; }
int tnt_attr_setdetachstate(tnt_attr_t* attributes, int state) {
    if (attributes == nullptr || !is_state(state)) return EINVAL;
    attributes->detached = state;
    return 0;
}
int tnt_attr_getdetachstate(const tnt_attr_t* attributes, int* state) {
    if (attributes == nullptr || state == nullptr) return EINVAL;
    *state = attributes->detached;
    return 0;
}
int tnt_attr_setstacksize(tnt_attr_t* attributes, size_t size) {
    if (attributes == nullptr || !is_stack_size(size)) return EINVAL;
    attributes->stack_size = size;
    return 0;
}
int tnt_attr_getstacksize(const tnt_attr_t* attributes, size_t* size) {
    if (attributes == nullptr || size == nullptr) return EINVAL;
    *size = attributes->stack_size;
    return 0;
}
