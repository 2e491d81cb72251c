// SPDX-License-Identifier: Apache-2.0
// The barrier of <tulle/team.hpp>, between places that share memory.
#include "messenger/calls.hpp"
#include "net/arrivals.hpp"
#include "os/clock.hpp"
#include "os/machine.hpp"
#include "sync/parking.hpp"
#include "team/place_state.hpp"

#include <tulle/detail/collective.hpp>
#include <tulle/this_thread.hpp>

#include <cstdint>

namespace tulle::teams {

using messenger::endpoint;
using messenger::endpoint_of_caller;
using net::rank;

namespace {

using detail::barrier_round;
using net::arrival;
using net::shared_arrivals;

constexpr std::uint64_t k_worth_polling_ns = 10'000;
// After so many polls of the words the thread does something else. That must take less time than
// the polls, or two places keep each other waiting.
constexpr std::uint32_t k_polls_between = 64;
constexpr std::uint32_t k_least_polls = 16; // where each may take long, as others run meanwhile
// 4^5
static_assert(barrier_round::k_most_others * 5 <= shared_arrivals::k_waiters &&
              net::k_most_places <= 1024);

std::uint64_t point_of(barrier_round const& r) noexcept {
    return r.number * barrier_round::k_most_rounds + r.round + 1;
}
std::size_t waiter(barrier_round const& r, unsigned k) noexcept {
    return r.round * barrier_round::k_most_others + k;
}

// How long it is worth polling. Where places share processors, each poll lets others run, so the
// clock alone does not say whether they could come.
class patience {
public:
    explicit patience(endpoint& e) noexcept : m_shares_processors(e.shares_processors()) {}

    [[nodiscard]] bool is_left() noexcept {
        ++m_polls;
        if (!m_shares_processors && m_polls % k_polls_between != 0) return true;
        std::uint64_t const now = os::monotonic_ns();
        if (m_until == 0) m_until = now + k_worth_polling_ns;
        return now < m_until || m_polls < k_least_polls;
    }
    // Lets the worker's other threads, messages, and processes that share the processor have a
    // turn.
    void let_others_run(endpoint& e) const noexcept {
        if (!m_shares_processors && m_polls % k_polls_between != 0) return os::machine::pause();
        if (sync::parking::has_ready_threads()) return this_thread::yield();
        static_cast<void>(e.poll());
    }

private:
    bool m_shares_processors;
    std::uint32_t m_polls = 0;
    std::uint64_t m_until = 0;
};

// One round, as one place sees it.
class meeting {
public:
    meeting(endpoint& here, barrier_round const& round) noexcept
        : m_here(here), m_round(round), m_absent(round.others) {}

    [[nodiscard]] std::uint32_t tell(shared_arrivals& own) noexcept {
        state_of(m_here).order().before_send();
        own.come_to(point_of(m_round));
        own.before_requests();
        std::uint32_t by_message = 0;
        for (unsigned k = 0; m_round.others >> k != 0; ++k)
            if (arrivals_after(k) == nullptr ||
                own.take_request(waiter(m_round, k), point_of(m_round)))
                by_message |= 1U << k;
        return by_message;
    }
    // Checks all that have not come. True: none is left whose arrival may be seen here.
    [[nodiscard]] bool check() noexcept {
        for (unsigned k = 0; m_absent >> k != 0; ++k)
            if ((m_absent >> k) % 2 != 0) check(k);
        return m_absent == 0;
    }
    void leave_requests() noexcept {
        for (unsigned k = 0; m_absent >> k != 0; ++k)
            if ((m_absent >> k) % 2 != 0 &&
                arrivals_before(k)->leave_request(waiter(m_round, k), point_of(m_round)))
                m_by_message |= 1U << k;
    }
    [[nodiscard]] std::uint32_t by_message() const noexcept {
        state_of(m_here).order().before_delivery();
        return m_by_message;
    }

private:
    [[nodiscard]] rank steps_to(unsigned k) const noexcept {
        return (k + 1) * static_cast<rank>(m_round.distance);
    }
    [[nodiscard]] shared_arrivals* arrivals_at(rank further) const noexcept {
        return m_here.transport().arrivals_of((m_here.here() + further) % m_here.workplaces());
    }
    [[nodiscard]] shared_arrivals* arrivals_after(unsigned k) const noexcept {
        return arrivals_at(steps_to(k));
    }
    [[nodiscard]] shared_arrivals* arrivals_before(unsigned k) const noexcept {
        return arrivals_at(m_here.workplaces() - steps_to(k));
    }
    void check(unsigned k) noexcept {
        shared_arrivals const* const there = arrivals_before(k);
        arrival const seen =
            there != nullptr ? there->check(point_of(m_round)) : arrival::sends_messages;
        if (seen == arrival::not_come) return;
        m_absent &= ~(1U << k);
        if (seen == arrival::sends_messages) m_by_message |= 1U << k;
    }

    endpoint& m_here;
    barrier_round const& m_round;
    std::uint32_t m_absent;
    std::uint32_t m_by_message = 0;
};

} // namespace

} // namespace tulle::teams

namespace tulle::detail {

using namespace teams;

std::uint32_t come_to(barrier_round const& round, bool has_failed) {
    endpoint& here = *endpoint_of_caller();
    shared_arrivals* const own = here.transport().arrivals_of(here.here());
    if (own == nullptr) return round.others;
    if (has_failed) own->send_from_now_on();
    if (own->sends_messages()) return round.others;
    return meeting(here, round).tell(*own);
}

std::uint32_t wait_at(barrier_round const& round) {
    endpoint& here = *endpoint_of_caller();
    meeting own(here, round);
    patience limit(here);
    while (!own.check()) {
        if (!limit.is_left()) {
            here.expect_by_messages(round.number);
            own.leave_requests();
            break;
        }
        limit.let_others_run(here);
    }
    return own.by_message();
}

} // namespace tulle::detail
