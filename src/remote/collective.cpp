// SPDX-License-Identifier: Apache-2.0
// The library calls of <tulle/detail/collective.hpp>.
#include "base/error.hpp"
#include "remote/calls.hpp"
#include "remote/death_watch.hpp"
#include "remote/pending.hpp"

#include <tulle/detail/collective.hpp>

#include <functional>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

namespace tulle::remote {

void engine::post(rank to, detail::letter const& what, wire_writer& bytes) {
    packet head;
    head.handler = what.team;
    head.a = what.number;
    head.b = what.step;
    message_tag tag{message_kind::letter};
    enclosure const enclosed = enclose(to, tag, bytes);
    send(to, tag, head, enclosed);
    let_others_catch_up();
}

void engine::take_letter(packet const& head, std::byte const* payload) noexcept try {
    letter_body body{message_tag::decode(head.kind).by_reference, detail::remote_result(head.size)};
    if (head.size != 0) std::memcpy(body.bytes.data(), payload, head.size);
    m_letters.arrive({{head.handler, head.a, head.b}, head.from}, std::move(body));
} catch (std::bad_alloc const&) {
    base::fatal("no memory for a message of %u bytes from place %u", head.size, static_cast<unsigned>(head.from));
}

detail::remote_result engine::take(rank from, detail::letter const& what) {
    std::optional<letter_body> body = m_letters.take({what, from});
    if (!body) throw_death(from);
    return body->by_reference ? fetch(from, reference_in(body->bytes.data())) : std::move(body->bytes);
}

place_state& state_here() {
    engine* const e = engine_of_caller();
    if (e != nullptr) return e->state();
    static auto* const s_alone = new place_state; // threads may use it until the process has gone
    return *s_alone;
}

death_watch::death_watch(std::function<void(int)> told) : m_registry(state_here().deaths), m_number(0) {
    m_number = static_cast<death_registry*>(m_registry.get())->add(std::move(told));
}
death_watch::~death_watch() { static_cast<death_registry*>(m_registry.get())->remove(m_number); }

} // namespace tulle::remote

namespace tulle::detail {

using remote::state_here;

void post_letter(int to, letter const& what, wire_writer& bytes) {
    remote::engine_of_caller()->post(static_cast<remote::rank>(to), what, bytes);
}

remote_result take_letter(int from, letter const& what) { return remote::engine_of_caller()->take(static_cast<remote::rank>(from), what); }

std::uint64_t new_name() {
    constexpr unsigned k_bits_of_count = 48;
    auto const here = static_cast<std::uint64_t>(here_index());
    remote::place_state& s = state_here();
    std::lock_guard const held(s.lock);
    return (here << k_bits_of_count) + ++s.names;
}

// Who cannot count it would meet the others in another operation from then on.
std::uint64_t begin_collective(std::uint64_t team) try {
    remote::place_state& s = state_here();
    std::lock_guard const held(s.lock);
    return s.collectives[team]++;
} catch (std::bad_alloc const&) {
    base::fatal("no memory to begin a collective operation, for which other places wait");
}

void set_local_object(std::uint64_t name, std::shared_ptr<void> object) {
    remote::place_state& s = state_here();
    std::lock_guard const held(s.lock);
    std::shared_ptr<void>& there = s.objects[name];
    there.swap(object); // what was there is destroyed after the lock
    if (there == nullptr) s.objects.erase(name);
}

std::shared_ptr<void> local_object(std::uint64_t name) {
    remote::place_state& s = state_here();
    std::lock_guard const held(s.lock);
    auto const found = s.objects.find(name);
    return found != s.objects.end() ? found->second : nullptr;
}

void throw_dead_place(int index) { remote::engine_of_caller()->throw_death(static_cast<remote::rank>(index)); }

mutex& lock_of_atomic_blocks() { return state_here().atomic_blocks; }
condition_variable& end_of_atomic_block() { return state_here().block_has_ended; }

} // namespace tulle::detail
