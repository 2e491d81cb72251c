// SPDX-License-Identifier: Apache-2.0
// What a future and its promise share, without the value: whether there is one, the threads that
// wait for it, what is to be done then, and how many references there are.
#pragma once

#include <tulle/detail/attributes.hpp>
#include <tulle/detail/limit.hpp>
#include <tulle/detail/opaque.hpp>
#include <tulle/detail/reference_count.hpp>
#include <tulle/detail/thread_core.hpp>

#include <atomic>
#include <cstdint>
#include <exception>

namespace tulle::detail {

// std::future_error, by the library: its header takes a compiler as long as a tenth of Tulle.
enum class future_fault { no_state, already_satisfied, already_retrieved };
[[noreturn]] TULLE_API TULLE_COLD void throw_future_error(future_fault fault);
[[nodiscard]] TULLE_API TULLE_COLD std::exception_ptr broken_promise() noexcept;

// Run once, by the thread that makes the future ready: briefly, and without waiting. It may free
// itself.
struct future_callback {
    void (*run)(future_callback*) noexcept = nullptr;
    future_callback* next = nullptr;
};

class future_core {
public:
    TULLE_API explicit future_core(void (*destroy)(future_core*) noexcept) noexcept;
    future_core(future_core const&) = delete;
    future_core& operator=(future_core const&) = delete;

    // True for the first caller: it writes value or exception, and calls make_ready().
    [[nodiscard]] bool claim() noexcept { return detail::claim(m_claimed); }
    // The caller has a reference of its own.
    TULLE_API void make_ready() noexcept;
    [[nodiscard]] TULLE_API bool is_ready() const noexcept;
    // If the thread that is to make it ready has not started, it runs in the caller's frame.
    TULLE_API void wait() noexcept;
    [[nodiscard]] TULLE_API bool wait_before(limit until) noexcept;
    // False: it is ready, and the callback is the caller's business.
    [[nodiscard]] TULLE_API bool add(future_callback& c) noexcept;

    // Sets the thread that will make it ready, not detached, before others know this core. The
    // handle is the core's from then on. relaxed: the core is not shared yet.
    void set_runner(thread_core* t) noexcept { m_runner.store(t, std::memory_order_relaxed); }
    // That thread calls this at its end, and so does the destructor.
    TULLE_API void drop_runner() noexcept;

    void add_reference() noexcept { detail::add_reference(m_references); }
    void release() noexcept {
        if (detail::drop_reference(m_references)) m_destroy(this);
    }

    std::exception_ptr exception; // instead of a value

protected:
    ~future_core() { drop_runner(); }

private:
    void (*m_destroy)(future_core*) noexcept;
    std::atomic<thread_core*> m_runner{nullptr}; // the thread that takes it has the handle
    std::atomic<std::uint32_t> m_references{1};
    std::atomic<bool> m_claimed{false};
    opaque<8> m_callbacks;
    opaque<40> m_ready;
};

// Counts as a reference.
template <class State> class state_pointer {
public:
    state_pointer() noexcept = default;
    explicit state_pointer(State* adopted) noexcept : m_at(adopted) {}
    state_pointer(state_pointer const& other) noexcept : m_at(other.m_at) {
        if (m_at != nullptr) m_at->add_reference();
    }
    state_pointer(state_pointer&& other) noexcept : m_at(other.m_at) { other.m_at = nullptr; }
    state_pointer& operator=(state_pointer other) noexcept {
        State* const mine = m_at;
        m_at = other.m_at;
        other.m_at = mine;
        return *this;
    }
    ~state_pointer() {
        if (m_at != nullptr) m_at->release();
    }
    [[nodiscard]] State* operator->() const noexcept { return m_at; }
    [[nodiscard]] State& operator*() const noexcept { return *m_at; }
    [[nodiscard]] State* get() const noexcept { return m_at; }
    [[nodiscard]] explicit operator bool() const noexcept { return m_at != nullptr; }

private:
    State* m_at = nullptr;
};

// Where a thread was started that the library starts later: the address that the caller returns to.
// For reports.
[[nodiscard]] TULLE_API void const* call_site() noexcept;
// While one exists, what the caller makes ready runs its callbacks at once, not behind the one that
// the caller is in: around what is the user's, and may wait.
class callbacks_apart {
public:
    TULLE_API callbacks_apart() noexcept;
    callbacks_apart(callbacks_apart const&) = delete;
    callbacks_apart& operator=(callbacks_apart const&) = delete;
    TULLE_API ~callbacks_apart();

private:
    void* m_outer;
};

// Starts `body(argument)` as a detached thread, or calls it where there is no memory for one.
TULLE_API void start_or_call(void (*body)(void*) noexcept, void* argument,
                             void const* site) noexcept;

} // namespace tulle::detail
