// SPDX-License-Identifier: Apache-2.0
// What teams do that does not depend on the type of a value.
#include <tulle/detail/team_operation.hpp>
#include <tulle/team.hpp>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <string>
#include <tuple>

namespace tulle {
namespace detail {
namespace {

constexpr char const* k_no_memory = "no memory";

template <class F> void for_each_in(std::uint32_t set, int distance, F f) {
    for (int d = distance; set != 0; d += distance, set /= 2)
        if (set % 2 != 0) f(d);
}

} // namespace

void team_operation::end() const {
    if (m_thrown) std::rethrow_exception(m_thrown);
    if (has_failed()) throw collective_error(m_why);
}

void team_operation::meet(unsigned round, int distance, int end) {
    std::uint32_t const all = (1U << static_cast<unsigned>((end - 1) / distance)) - 1;
    bool const is_of_all_places = m_message.team == 0;
    barrier_round const here{m_message.number, round, distance, all};
    for_each_in(is_of_all_places ? come_to(here, has_failed()) : all, distance,
                [&](int d) { send(after(d), static_cast<step_number>(d), std::tuple<>()); });
    for_each_in(is_of_all_places ? wait_at(here) : all, distance, [&](int d) {
        static_cast<void>(receive<std::tuple<>>(before(d), static_cast<step_number>(d)));
    });
}

void team_operation::fail(char const* why) noexcept {
    if (has_failed()) return;
    m_thrown = std::current_exception();
    try {
        m_why = "tulle::team: at place " + std::to_string(here_index()) + ": " + why;
    } catch (std::bad_alloc const&) {
        m_why = k_no_memory;
    }
}

// The place that waits for the value is told in any case; the shortest words need no memory.
void team_operation::send_failure(int to, step_number step) {
    try {
        post_failure(to, step, m_why);
    } catch (std::bad_alloc const&) {
        post_failure(to, step, k_no_memory);
    }
}

void team_operation::post_failure(int to, step_number step, std::string const& why) {
    wire_writer bytes(place_of(to));
    bytes.put(false);
    bytes.put(why);
    post(to, step, bytes);
}

void team_operation::post(int to, step_number step, wire_writer& bytes) {
    collective_message written = m_message;
    written.step = step;
    post_collective(place_of(to), written, bytes);
}

} // namespace detail

team::team() : m_name(0) {
    for (place const p : places()) m_members.push_back(p.index());
}

team::team(std::vector<place> const& members) : m_name(detail::new_name()) {
    if (members.empty()) throw std::invalid_argument("tulle::team: it has no members");
    for (place const p : members) {
        if (!p.runs_threads())
            throw std::invalid_argument("tulle::team: place " + std::to_string(p.index()) +
                                        " has memory only, and nobody comes from there");
        for (int const before : m_members)
            if (before == p.index())
                throw std::invalid_argument("tulle::team: place " + std::to_string(before) +
                                            " is in it twice");
        m_members.push_back(p.index());
    }
}

int team::rank() const {
    int const here = detail::here_index();
    if (m_name == 0) return here;
    for (int r = 0; r < size(); ++r)
        if (m_members[static_cast<std::size_t>(r)] == here) return r;
    throw std::logic_error("tulle::team: place " + std::to_string(here) + " is not a member");
}

void team::barrier() const {
    operation all = begin();
    unsigned round = 0;
    for (int nearest = 1; nearest < size(); nearest *= k_barrier_ways)
        all.meet(round++, nearest, std::min(nearest * k_barrier_ways, size()));
    all.end();
}

void team::check(int rank) const {
    if (rank < 0 || rank >= size())
        throw std::out_of_range("tulle::team: there is no rank " + std::to_string(rank) +
                                ", there are " + std::to_string(size()));
}

void team::check_one_for_each(std::size_t values) const {
    if (values != m_members.size())
        throw std::invalid_argument("tulle::team: " + std::to_string(values) + " values for " +
                                    std::to_string(size()) + " members");
}

} // namespace tulle
