// SPDX-License-Identifier: Apache-2.0
// A barrier for activities at any places, which may join it and leave it: phased computation.
//   tulle::finish([](tulle::activities& all) {
//       tulle::clock const c = tulle::clock::make(); // its maker takes part
//       for (tulle::place p : tulle::places())
//           c.async_at(all, p, [](tulle::clock own) { ...; own.advance(); ...; });
//       c.drop();
//   });
// Messages: some two to six for each phase and each other place than the clock's where any of its
// activities take part, however many these are; two for each that joins or drops.
// Contexts: any thread of the process. Source: clocks of X10 (Charles and others, OOPSLA 2005).
#pragma once

#include <tulle/detail/collective.hpp>
#include <tulle/detail/invoke.hpp>
#include <tulle/finish.hpp>
#include <tulle/place.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace tulle {

// Names a clock; copies name the same one. Travels. Each activity that takes part calls advance()
// any number of times and then drop(), once;
// those that async_at() starts drop by themselves. It is gone when all have dropped.
// Errors of all: std::logic_error: more use it than take part, which the finish throws where an
// activity of async_at() finds that as it ends; those of at(); dead_place, too: an activity that
// took part was at a place that has died.
class clock {
public:
    // A new clock, at the caller's place; the caller takes part.
    [[nodiscard]] TULLE_API static clock make();

    // Waits until all that take part have called it as often, or have dropped; returns how often
    // that is.
    // Memory ordering: what any of them did before happens before the return.
    TULLE_API std::uint64_t advance() const;
    // The caller does not take part any more, and others do not wait for it.
    void drop() const { drop_for(detail::here_index()); }

    // Starts f(clock, arguments...) as an activity of `all` that takes part from now on, in the
    // present phase. The caller takes part, too.
    template <class F, class... A>
    void async_at(activities& all, place there, F f, A const&... arguments) const {
        join_for(there.index());
        membership taken(*this, there.index());
        all.async_at(
            there,
            [](membership own, F body, A... values) {
                detail::invoke(body, own.of(), std::move(values)...);
            },
            std::move(taken), f,
            arguments...); // NOLINT(bugprone-use-after-move): to another place it is only copied
        taken.hand_over();
    }
    template <class N, class F, class... A>
    requires detail::number_for_place<N, F, clock, A...>
    void async_at(activities&, N, F&&, A&&...) const = delete; // a place: tulle::place(1), not 1

private:
    class home_calls;

    // Of an activity that takes part: it drops however that ends, also if the rest of its arguments
    // cannot be read where it arrives, or it cannot be started.
    // What is sent is a copy; the sender hands it over.
    class membership {
    public:
        membership() noexcept = default;
        membership(clock const& c, int member) noexcept
            : m_home(c.m_home), m_name(c.m_name), m_member(member) {}
        membership(membership&& other) noexcept
            : m_home(std::exchange(other.m_home, k_nowhere)),
              m_name(other.m_name),
              m_member(other.m_member) {}
        membership& operator=(membership&&) = delete;
        ~membership() {
            if (m_home != k_nowhere) end();
        }
        [[nodiscard]] clock of() const noexcept { return {m_home, m_name}; }
        void hand_over() noexcept { m_home = k_nowhere; }
        template <class Archive> void serialize(Archive& archive) {
            archive(m_home, m_name, m_member);
        }

    private:
        TULLE_API void end() const;

        static constexpr int k_nowhere = -1;
        int m_home = k_nowhere;
        std::uint64_t m_name = 0;
        int m_member = k_nowhere; // where it takes part
    };

    clock(int home, std::uint64_t name) noexcept : m_home(home), m_name(name) {}

    TULLE_API void join_for(int member) const; // of that place
    TULLE_API void drop_for(int member) const;

    int m_home;
    // Is sent, too, and must not hold an address that lay there before.
    [[maybe_unused]] int m_gap = 0;
    std::uint64_t m_name;
};

} // namespace tulle
