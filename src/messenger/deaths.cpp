// SPDX-License-Identifier: Apache-2.0
// What becomes of messages when a place has died and this one is to go on:
// src/messenger/place_death.md.
#include "messenger/endpoint.hpp"

#include "base/error.hpp"

#include <tulle/place.hpp>

#include <cstring>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include <sys/wait.h>

namespace tulle::messenger {

namespace {

std::string how_it_ended(int status) {
    if (status == net::k_unknown_status) return "nobody knows how";
    if (WIFSIGNALED(status))
        return "ended by signal " + std::to_string(WTERMSIG(status)) + " (" +
               strsignal(WTERMSIG(status)) + ")";
    return "ended with exit code " + std::to_string(WEXITSTATUS(status));
}

} // namespace

// Another place may have told the caller of the death before this one hears of it.
void endpoint::throw_death(rank place, std::uint64_t lost) const {
    int const status = is_dead(place) ? m_deaths[place].wait_status : net::k_unknown_status;
    std::string text =
        "tulle: place " + std::to_string(place) + " has died: " + how_it_ended(status);
    if (lost != 0)
        text += "; " + std::to_string(lost) +
                (lost == 1 ? " activity is lost" : " activities are lost");
    throw dead_place(static_cast<int>(place), lost, text);
}

// The polling thread calls this. A thread that learns of the death by is_dead() may rely on nothing
// but that; sends are dropped a moment later.
void endpoint::place_died(rank dead, int wait_status) noexcept try {
    if (m_dies_with_others && (!m_survives || dead == 0))
        base::fatal("place %u has died, and place %u ends with it", dead, here());
    if (!m_survives) return; // the process that has started the places ends them
    m_deaths[dead].wait_status = wait_status;
    m_deaths[dead].is_dead.store(true, std::memory_order_release); // pairs with is_dead
    awaited_list lost = close_outbox(dead);
    forget_what_is_lent(dead);
    for (death_listener const& one : m_death_listeners) one.told(one.object, dead);
    while (awaited* const one = lost.pop_front()) one->is_lost(*one);
} catch (...) {
    base::fatal("no memory to go on without place %u", dead);
}

// Drops what waits to be sent. The caller tells the threads that wait for an answer.
awaited_list endpoint::close_outbox(rank to) noexcept {
    std::list<kept_message> dropped; // after the lock
    outbox& out = *m_out[to];
    std::lock_guard const held(out.lock);
    out.is_closed = true;
    dropped.swap(out.waiting);
    m_waiting_count.fetch_sub(dropped.size(), std::memory_order_relaxed); // relaxed: as in keep
    return out.answers.take_all();
}

void endpoint::forget_what_is_lent(rank to) noexcept {
    std::lock_guard const held(m_lent_lock);
    std::erase_if(m_lent,
                  [to](auto const& one) { return one.second.to == to && !one.second.may_return; });
}

// A message to a place that has died. What the transport has staged for it, the transport takes
// back.
void endpoint::drop(message_tag tag, std::byte const* payload, awaited* answer) noexcept {
    if (tag.by_reference)
        if (auto const where = reference_in(payload); where.lent != payload_reference::k_staged)
            take_back(here(), where);
    if (answer != nullptr) answer->is_lost(*answer);
}

} // namespace tulle::messenger
