// SPDX-License-Identifier: Apache-2.0
// What this place does when another one has died and it is to go on: docs/protocols/place_death.md.
#include "remote/calls.hpp"
#include "remote/pending.hpp"

#include "base/error.hpp"

#include <tulle/place.hpp>
#include <tulle/thread.hpp>

#include <cstring>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include <sys/wait.h>

namespace tulle::remote {

namespace {

std::string how_it_ended(int status) {
    if (status == net::k_unknown_status) return "nobody knows how";
    if (WIFSIGNALED(status)) return "ended by signal " + std::to_string(WTERMSIG(status)) + " (" + strsignal(WTERMSIG(status)) + ")";
    return "ended with exit code " + std::to_string(WEXITSTATUS(status));
}

} // namespace

void engine::throw_death(rank of, std::uint64_t lost) const {
    std::string text = "tulle: place " + std::to_string(of) + " has died: " + how_it_ended(m_deaths[of].wait_status);
    if (lost != 0) text += "; " + std::to_string(lost) + (lost == 1 ? " activity is lost" : " activities are lost");
    throw dead_place(static_cast<int>(of), lost, text);
}

// By who polls. Whoever learns of it by is_dead() may rely on nothing but that; sends are dropped a moment later.
void engine::place_died(rank which, int wait_status) noexcept try {
    if (m_dies_with_others && (!m_survives || which == 0)) base::fatal("place %u has died, and place %u ends with it", which, here());
    if (!m_survives) return; // who has started the places ends them
    m_deaths[which].wait_status = wait_status;
    m_deaths[which].is_dead.store(true, std::memory_order_release); // pairs with is_dead
    awaited_list lost = close_outbox(which);
    forget_what_is_lent(which);
    mourn(which);
    tell_accounts(which);
    stop_orphans(which);
    m_letters.lose(which);
    while (awaited* const one = lost.take()) one->is_lost(*one);
    m_running.fetch_add(1, std::memory_order_relaxed); // relaxed: only its end matters
    spawn_detached([this, which] {
        m_state.waits.lose(static_cast<int>(which));
        m_state.deaths->tell(static_cast<int>(which));
        m_running.fetch_sub(1, std::memory_order_release); // pairs with ~engine
    });
} catch (...) {
    base::fatal("no memory to go on without place %u", which);
}

// What waits to be sent is dropped; whoever waits for an answer is told by the caller.
awaited_list engine::close_outbox(rank to) noexcept {
    std::list<kept_message> dropped; // after the lock
    outbox& out = *m_out[to];
    std::lock_guard const held(out.lock);
    out.is_closed = true;
    dropped.swap(out.waiting);
    m_waiting_count.fetch_sub(dropped.size(), std::memory_order_relaxed); // relaxed: as in keep
    return std::exchange(out.answers, {});
}

void engine::forget_what_is_lent(rank to) noexcept {
    std::lock_guard const held(m_lent_lock);
    std::erase_if(m_lent, [to](auto const& one) { return one.second.to == to; });
}

// A message to a place that has died. What the transport has staged for it, the transport takes back.
void engine::drop(message_tag tag, std::byte const* payload, awaited* answer) noexcept {
    if (tag.by_reference)
        if (auto const where = reference_in(payload); where.lent != payload_reference::k_staged) take_back(here(), where);
    if (answer != nullptr) answer->is_lost(*answer);
}

// --- finishes of this place ------------------------------------------------------------------------------------------------

// From its first message to another place on.
void engine::enroll(finish_root& root) {
    std::lock_guard const held(m_roots_lock);
    if (root.is_enrolled.load(std::memory_order_relaxed)) return; // relaxed: under the lock
    m_roots.insert(&root);
    {
        std::lock_guard const its(root.lock);
        for (auto const& [dead, number] : m_accounts.numbers()) root.count.lose(dead, 0);
    }
    root.born = m_accounts.deaths();
    root.is_enrolled.store(true, std::memory_order_relaxed); // relaxed: set and read by threads of the finish, in order of its messages
}

void engine::withdraw(finish_root& root) noexcept {
    std::lock_guard const held(m_roots_lock);
    m_roots.erase(&root);
}

void engine::mourn(rank dead) {
    std::lock_guard const held(m_roots_lock);
    std::vector<rank> survivors;
    for (rank r = 0; r < count(); ++r)
        if (r != here() && !is_dead(r)) survivors.push_back(r);
    m_accounts.die(dead, survivors);
    for (finish_root* const root : m_roots) change(*root, [&](finish_root& of) { of.count.lose(dead, survivors.size()); });
    settle_accounts();
}

// Under m_roots_lock.
void engine::settle_accounts() {
    while (auto const done = m_accounts.take_complete()) {
        std::uint32_t const number = m_accounts.numbers().at(done->dead);
        for (finish_root* const root : m_roots)
            if (root->born <= number) change(*root, [&](finish_root& of) { add_account(of, *done); });
    }
}

void engine::add_account(finish_root& root, account_book::entry const& of) {
    for (account::part const& part : of.alive)
        if (part.root == root.root) root.count.losses().adopt({of.from, part.epoch});
    root.count.losses().account_complete();
}

void engine::take_account(packet const& head, std::span<std::byte const> parts) noexcept try {
    account told{static_cast<rank>(head.a), static_cast<std::uint32_t>(head.c), head.b, {}};
    told.alive.resize(parts.size() / sizeof(account::part));
    if (!parts.empty()) std::memcpy(told.alive.data(), parts.data(), parts.size());
    std::lock_guard const held(m_roots_lock);
    m_accounts.receive(head.from, std::move(told));
    settle_accounts();
} catch (std::bad_alloc const&) {
    base::fatal("no memory for what place %u tells of its activities", static_cast<unsigned>(head.from));
}

void engine::fetch_account(arrived* message) noexcept try {
    detail::remote_result const parts = fetch(message->head.from, reference_in(message->payload()));
    take_account(message->head, parts.bytes());
} catch (dead_place const&) { // its account is not needed any more
} catch (std::bad_alloc const&) {
    base::fatal("no memory for what place %u tells of its activities", static_cast<unsigned>(message->head.from));
}

// --- parts of other places' finishes -----------------------------------------------------------------------------------

void engine::tell_accounts(rank dead) {
    std::map<rank, std::vector<account::part>> alive;
    std::vector<std::uint64_t> reports;
    packet head;
    head.a = dead;
    {
        std::lock_guard const held(m_parts_lock);
        head.c = ++m_deaths_known; // with what follows: tells the reports before from those after it
        reports = m_reports;
        for (auto const& [key, part] : m_parts) alive[key.first].push_back({part->root, part->share.epoch()});
    }
    for (rank home = 0; home < count(); ++home) {
        if (home == here() || is_dead(home)) continue;
        head.b = reports[home];
        send_lent(home, {message_kind::account}, head, std::as_bytes(std::span(alive[home])));
    }
}

} // namespace tulle::remote
