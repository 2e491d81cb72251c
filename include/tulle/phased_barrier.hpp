// SPDX-License-Identifier: Apache-2.0
// A barrier whose participants may arrive without waiting, wait later, and leave; the shape of
// std::barrier. <tulle/barrier.hpp> is cheaper where all arrive and wait, and withdraws an arrival
// whose time is up. Contexts: any thread of the process.
#pragma once

#include <tulle/detail/attributes.hpp>
#include <tulle/detail/chrono.hpp>
#include <tulle/detail/opaque.hpp>
#include <tulle/wait_limit.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

namespace tulle {

namespace detail {

class phases {
public:
    TULLE_API explicit phases(std::ptrdiff_t participants);
    // True: the last of its phase; the caller then calls end_phase().
    [[nodiscard]] TULLE_API bool arrive(std::ptrdiff_t count, bool drops,
                                        std::uint64_t& phase) noexcept;
    TULLE_API void end_phase() noexcept;
    [[nodiscard]] TULLE_API bool wait(std::uint64_t phase, limit until) noexcept;

private:
    opaque<56> m_core;
};

struct no_completion {
    void operator()() const noexcept {}
};

} // namespace detail

// `Completion` is called by the last that arrives in a phase, before anybody goes on; it must not
// throw.
// Memory ordering: what happens before each arrival of a phase happens before the call of the
// completion function, and that before every return from a wait for the phase.
// Destruction: all calls must have returned; a thread that has arrived may not have begun to wait
// yet.
template <class Completion = detail::no_completion> class phased_barrier {
    static_assert(std::is_nothrow_invocable_v<Completion&>);

public:
    // A phase that the holder has arrived in.
    class arrival_token {
    public:
        arrival_token(arrival_token&&) noexcept = default;
        arrival_token& operator=(arrival_token&&) noexcept = default;

    private:
        friend class phased_barrier;
        explicit arrival_token(std::uint64_t phase) noexcept : m_phase(phase) {}
        std::uint64_t m_phase;
    };

    // Errors: std::invalid_argument: negative.
    explicit phased_barrier(std::ptrdiff_t participants, Completion completion = Completion())
        : m_phases(participants), m_completion(std::move(completion)) {}
    phased_barrier(phased_barrier const&) = delete;
    phased_barrier& operator=(phased_barrier const&) = delete;

    // The largest number of participants.
    [[nodiscard]] static constexpr std::ptrdiff_t max() noexcept {
        return std::numeric_limits<std::ptrdiff_t>::max();
    }

    // Ends the program with a message if more arrive than take part.
    [[nodiscard]] arrival_token arrive(std::ptrdiff_t count = 1) noexcept {
        return arrival_token(enter(count, false));
    }
    // Arrives; the caller does not take part in the phases that follow.
    void arrive_and_drop() noexcept { static_cast<void>(enter(1, true)); }
    // Arrives and waits until all have.
    void arrive_and_wait() noexcept { wait(arrive()); }
    // Waits until all have arrived in the phase of the token.
    void wait(arrival_token&& arrival) noexcept {
        static_cast<void>(m_phases.wait(arrival.m_phase, detail::k_no_deadline));
    }

    // False: the phase has not ended yet. The arrival counts all the same, and the token can be
    // waited for again.
    [[nodiscard]] bool try_wait(arrival_token const& arrival) noexcept {
        return m_phases.wait(arrival.m_phase, std::uint64_t{0});
    }
    [[nodiscard]] bool wait(arrival_token const& arrival, wait_limit const& limit) noexcept {
        return m_phases.wait(arrival.m_phase, limit.get());
    }
    template <class Rep, class Period>
    [[nodiscard]] bool wait_for(arrival_token const& arrival,
                                std::chrono::duration<Rep, Period> const& timeout) {
        return m_phases.wait(arrival.m_phase, detail::deadline_after(timeout));
    }
    template <class Clock, class Duration>
    [[nodiscard]] bool wait_until(arrival_token const& arrival,
                                  std::chrono::time_point<Clock, Duration> const& deadline) {
        return m_phases.wait(arrival.m_phase, detail::deadline_at(deadline));
    }

private:
    [[nodiscard]] std::uint64_t enter(std::ptrdiff_t count, bool drops) noexcept {
        std::uint64_t phase = 0;
        if (m_phases.arrive(count, drops, phase)) {
            m_completion();
            m_phases.end_phase();
        }
        return phase;
    }

    detail::phases m_phases;
    Completion m_completion;
};

} // namespace tulle
