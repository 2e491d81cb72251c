// SPDX-License-Identifier: Apache-2.0
// How the iterations of a loop are given to the threads that run it, and what may end it early.
#pragma once

#include <tulle/detail/attributes.hpp>
#include <tulle/detail/exceptions.hpp>

#include <atomic>
#include <concepts>
#include <cstdint>
#include <memory>
#include <stdexcept>

namespace tulle {

namespace detail {

enum class schedule_kind : std::uint8_t { automatic, even, dynamic, guided, threads };

} // namespace detail

// With each schedule, a thread that has nothing to do takes iterations that have not begun. They
// differ in how many are begun at a time, which is what must wait behind an iteration that blocks.
// Errors: std::invalid_argument: a chunk of no iterations.
class schedule {
public:
    // As many at a time as take some microseconds, by the clock; never fewer than `least` (but at
    // the end). The default.
    [[nodiscard]] static constexpr schedule automatic(std::uint64_t least = 1) {
        return {detail::schedule_kind::automatic, least};
    }
    // The static schedule of OpenMP: one part for each worker, of the same number of iterations.
    [[nodiscard]] static constexpr schedule even() { return {detail::schedule_kind::even, 1}; }
    // Always `chunk` at a time. dynamic() begins each iteration for itself: any that has not begun
    // can run elsewhere.
    [[nodiscard]] static constexpr schedule dynamic(std::uint64_t chunk = 1) {
        return {detail::schedule_kind::dynamic, chunk};
    }
    // A quarter of what is left at a time, and at least `least`.
    [[nodiscard]] static constexpr schedule guided(std::uint64_t least = 1) {
        return {detail::schedule_kind::guided, least};
    }
    // A thread for each iteration, as by spawn, with an id and a name of its own. All may wait for
    // each other.
    [[nodiscard]] static constexpr schedule one_thread_each() {
        return {detail::schedule_kind::threads, 1};
    }

    // For the loops.
    [[nodiscard]] constexpr detail::schedule_kind kind() const noexcept { return m_kind; }
    // Iterations at a time, or the least number of them.
    [[nodiscard]] constexpr std::uint64_t chunk() const noexcept { return m_chunk; }

    constexpr schedule() noexcept = default;

private:
    constexpr schedule(detail::schedule_kind kind, std::uint64_t chunk)
        : m_kind(kind), m_chunk(chunk) {
        if (chunk == 0)
            TULLE_THROW(std::invalid_argument("tulle::schedule: a chunk of no iterations"));
    }

    detail::schedule_kind m_kind = detail::schedule_kind::automatic;
    std::uint64_t m_chunk = 1;
};

// What ends a loop early: a flag, or anything with stop_requested(), such as a std::stop_token.
// Asked before each chunk; the object must outlive the loop.
class loop_stop {
public:
    constexpr loop_stop() noexcept = default;
    // Set by whoever ends the loop.
    loop_stop(std::atomic<bool> const& flag) noexcept : m_object(&flag), m_ask(&ask_flag) {}
    // Anything with stop_requested(): a tulle::cancellation_token, a std::stop_token.
    template <class T>
    requires requires(T const& t) {
        { t.stop_requested() } -> std::convertible_to<bool>;
    }
    loop_stop(T const& token) noexcept : m_object(std::addressof(token)), m_ask(&ask_token<T>) {}

    // False: nothing ends the loop early.
    [[nodiscard]] bool is_possible() const noexcept { return m_ask != nullptr; }
    // Asks the flag or the token, of which there is one.
    [[nodiscard]] bool is_requested() const { return m_ask(m_object); }

private:
    // acquire pairs with a release store by the thread that sets it, so that a thread that sees the
    // loop end early sees why.
    static bool ask_flag(void const* flag) {
        return static_cast<std::atomic<bool> const*>(flag)->load(std::memory_order_acquire);
    }
    template <class T> static bool ask_token(void const* token) {
        return static_cast<T const*>(token)->stop_requested();
    }

    void const* m_object = nullptr;
    bool (*m_ask)(void const*) = nullptr;
};

// What all loops take as their last argument; a schedule or a loop_stop alone will do.
struct loop_options {
    constexpr loop_options() noexcept = default;
    // A schedule, and what ends the loop early, or one of them.
    constexpr loop_options(schedule chosen) noexcept : how(chosen) {}
    constexpr loop_options(schedule chosen, loop_stop when) noexcept : how(chosen), until(when) {}
    constexpr loop_options(loop_stop when) noexcept : until(when) {}

    schedule how{};    // how iterations are given out
    loop_stop until{}; // what ends the loop early
};

} // namespace tulle
