// SPDX-License-Identifier: Apache-2.0
// Messages of collective operations, and the library calls of <tulle/detail/collective.hpp>.
#include "base/error.hpp"
#include "base/made_once.hpp"
#include "messenger/calls.hpp"
#include "team/death_watch.hpp"
#include "team/place_state.hpp"

#include <tulle/detail/collective.hpp>
#include <tulle/thread.hpp>

#include <cstring>
#include <functional>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

namespace tulle::teams {

using messenger::endpoint_of_caller;
using messenger::no_memory_for;
using messenger::reference_in;

place_state::place_state(endpoint& carrier) : m_carrier(&carrier) {
    carrier.handle<&place_state::take_collective>(message_kind::collective, *this);
    carrier.on_death<&place_state::place_died>(*this);
}

void place_state::post(rank to, detail::collective_message const& message, wire_writer& bytes) {
    packet head;
    head.handler = message.team;
    head.a = message.number;
    head.b = message.step;
    message_tag tag{message_kind::collective};
    endpoint::enclosure const enclosed = m_carrier->enclose(to, tag, bytes);
    m_carrier->send(to, tag, head, enclosed);
    m_carrier->let_others_catch_up();
}

void place_state::take_collective(packet const& head, std::byte const* payload) noexcept try {
    collective_body body{message_tag::decode(head.kind).by_reference,
                         detail::remote_result(head.size)};
    if (head.size != 0) std::memcpy(body.bytes.data(), payload, head.size);
    m_inbox.arrive({{head.handler, head.a, head.b}, head.from}, std::move(body));
} catch (std::bad_alloc const&) {
    no_memory_for(head);
}

detail::remote_result place_state::take(rank from, detail::collective_message const& message) {
    std::optional<collective_body> body = m_inbox.take({message, from});
    if (!body) m_carrier->throw_death(from);
    return body->by_reference ? m_carrier->fetch(from, reference_in(body->bytes.data()))
                              : std::move(body->bytes);
}

// The polling thread calls this. The functions that are to be told may wait, so a thread calls
// them.
void place_state::place_died(rank dead) {
    m_inbox.lose(dead);
    m_carrier->begin_use();
    spawn_detached([this, dead] {
        waits.lose(static_cast<int>(dead));
        deaths->tell(static_cast<int>(dead));
        m_carrier->end_use();
    });
}

place_state& state_here() {
    endpoint const* const e = endpoint_of_caller();
    if (e != nullptr) return state_of(*e);
    constinit static base::made_once<place_state> s_alone;
    return s_alone.get();
}

void forget_collectives(std::uint64_t team) {
    place_state& s = state_here();
    std::lock_guard const held(s.lock);
    s.collectives.erase(team);
}

death_watch::death_watch(std::function<void(int)> told)
    : m_registry(state_here().deaths), m_number(0) {
    m_number = static_cast<death_registry*>(m_registry.get())->add(std::move(told));
}
death_watch::~death_watch() { static_cast<death_registry*>(m_registry.get())->remove(m_number); }

} // namespace tulle::teams

namespace tulle::detail {

using teams::state_here;

void post_collective(int to, collective_message const& message, wire_writer& bytes) {
    state_here().post(static_cast<net::rank>(to), message, bytes);
}

remote_result take_collective(int from, collective_message const& message) {
    return state_here().take(static_cast<net::rank>(from), message);
}

std::uint64_t new_name() {
    constexpr unsigned k_bits_of_count = 48;
    auto const here = static_cast<std::uint64_t>(here_index());
    teams::place_state& s = state_here();
    std::lock_guard const held(s.lock);
    return (here << k_bits_of_count) + ++s.names;
}

// Ends the program where there is no memory to count the operation: this place would meet the
// others in another one from then on.
std::uint64_t begin_collective(std::uint64_t team) try {
    teams::place_state& s = state_here();
    std::lock_guard const held(s.lock);
    return s.collectives[team]++;
} catch (std::bad_alloc const&) {
    base::fatal("no memory to begin a collective operation, for which other places wait");
}

void set_local_object(std::uint64_t name, std::shared_ptr<void> object) {
    teams::place_state& s = state_here();
    std::lock_guard const held(s.lock);
    std::shared_ptr<void>& there = s.objects[name];
    there.swap(object); // what was there is destroyed after the lock
    if (there == nullptr) s.objects.erase(name);
}

std::shared_ptr<void> local_object(std::uint64_t name) {
    teams::place_state& s = state_here();
    std::lock_guard const held(s.lock);
    auto const found = s.objects.find(name);
    return found != s.objects.end() ? found->second : nullptr;
}

mutex& lock_of_atomic_blocks() { return state_here().atomic_blocks; }
condition_variable& end_of_atomic_block() { return state_here().block_has_ended; }

} // namespace tulle::detail
