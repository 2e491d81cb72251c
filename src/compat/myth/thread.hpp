// SPDX-License-Identifier: Apache-2.0
// A thread of this interface is a native one whose record the handle points to. Its body is in the
// record; what few threads have is beside it and made when it is asked for. Other threads of the
// process have a record of their own that is made at their first myth_self() and runs nothing.
#pragma once

#include <myth/myth.h>
#include <tulle/detail/thread_core.hpp>
#include <tulle/latch.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace tulle::myth {

// Of a thread that does not begin before it is given to a run queue; run_queue.cpp.
struct late_start {
    bool has_begun = false;   // this and the next two under the lock of late threads
    bool is_detached = false; // before it has begun
    int queue = -1;           // that it is in; -1: none
    myth_thread_t next = nullptr, prev = nullptr; // in it, under its lock
    tulle::latch begun{1};
};

struct extra {
    std::size_t stack_size = 0;            // if it has a stack of its own size
    std::unique_ptr<std::byte[]> own_hint; // that it was made with
    void* hint = nullptr;                  // own_hint, or the program's
    std::size_t hint_size = 0;
    std::unique_ptr<late_start> late; // null: it was started when it was made
};

inline constexpr std::uint32_t k_cancel_requested = 1;
inline constexpr std::uint32_t k_cancel_disabled = 2;
inline constexpr std::uint32_t k_runs_nothing = 4; // of another thread of the process

// In thread_core::body.
struct thread_body {
    myth_func_t function;
    void* value; // the argument; when it has ended, the result
    std::atomic<extra*> more;
    std::atomic<std::uint32_t> flags;
};
static_assert(sizeof(thread_body) <= detail::k_thread_body_size);

[[nodiscard]] inline detail::thread_core* core_of(myth_thread_t th) noexcept {
    return reinterpret_cast<detail::thread_core*>(th);
}
[[nodiscard]] inline myth_thread_t handle_of(detail::thread_core* t) noexcept {
    return reinterpret_cast<myth_thread_t>(t);
}
[[nodiscard]] inline thread_body& body_of(detail::thread_core* t) noexcept {
    return *std::launder(reinterpret_cast<thread_body*>(t->body));
}
[[nodiscard]] inline thread_body& body_of(myth_thread_t th) noexcept {
    return body_of(core_of(th));
}
// Null: it was started when it was made. acquire pairs with more_of.
[[nodiscard]] inline late_start* late_of(myth_thread_t th) noexcept {
    extra* const more = body_of(th).more.load(std::memory_order_acquire);
    return more == nullptr ? nullptr : more->late.get();
}
// Made if it is not there; null: no memory.
[[nodiscard]] extra* more_of(thread_body& b) noexcept;

// Can be joined, detached, queued.
[[nodiscard]] inline bool is_made_here(myth_thread_t th) noexcept {
    // relaxed: never written again
    return th != nullptr &&
           (body_of(th).flags.load(std::memory_order_relaxed) & k_runs_nothing) == 0;
}

// The calling thread if it is one of this interface; else null.
[[nodiscard]] myth_thread_t running() noexcept;

// What ends a thread early.
struct exit_request {
    void* result;
};

// A record that is not started. `site`: where it is said to be made. 0 or an errno value.
[[nodiscard]] int make(myth_thread_t& made, myth_func_t function, void* argument,
                       myth_thread_attr_t const* attr, void const* site) noexcept;
// Makes and starts one.
[[nodiscard]] int create(myth_thread_t* id, myth_thread_attr_t const* attr, myth_func_t function,
                         void* argument, void const* site) noexcept;
[[nodiscard]] int join(myth_thread_t th, void** result) noexcept;

} // namespace tulle::myth
