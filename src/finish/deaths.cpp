// SPDX-License-Identifier: Apache-2.0
// What becomes of finishes when a place has died and this one is to go on:
// src/messenger/place_death.md.
#include "finish/finish_service.hpp"

#include "base/error.hpp"

#include <tulle/place.hpp>

#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace tulle::finishes {

using messenger::reference_in;

void finish_service::place_died(rank dead) {
    mourn(dead);
    tell_accounts(dead);
    stop_orphans(dead);
}

// --- finishes of this place ----------------------------------------------------------------------

// A finish is enrolled from its first message to another place on.
void finish_service::enroll(finish_root& root) {
    std::lock_guard const held(m_roots_lock);
    if (root.is_enrolled.load(std::memory_order_relaxed)) return; // relaxed: under the lock
    {
        std::lock_guard const its(root.lock);
        for (auto const& [dead, number] : m_accounts.numbers()) root.count.lose(dead, 0);
    }
    m_roots.insert(&root); // last: who is in it has to be withdrawn
    root.born = m_accounts.deaths();
    // relaxed: set and read by threads of the finish, in order of its messages
    root.is_enrolled.store(true, std::memory_order_relaxed);
}

void finish_service::withdraw(finish_root& root) noexcept try {
    std::lock_guard const held(m_roots_lock);
    m_roots.erase(&root);
    if (root.count.has_losses()) m_accounts.forget_parts_of(root.count.losses());
} catch (std::bad_alloc const&) {
    base::fatal("no memory for what is left of a finish");
}

void finish_service::mourn(rank dead) {
    std::lock_guard const held(m_roots_lock);
    std::vector<rank> survivors;
    for (rank r = 0; r < m_carrier.count(); ++r)
        if (r != m_here && !m_carrier.is_dead(r)) survivors.push_back(r);
    m_accounts.die(dead, survivors);
    for (finish_root* const root : m_roots)
        change(*root, [&](finish_root& changed) { changed.count.lose(dead, survivors.size()); });
    settle_accounts();
}

// The caller holds m_roots_lock.
void finish_service::settle_accounts() {
    while (auto const done = m_accounts.take_complete()) {
        std::uint32_t const number = m_accounts.numbers().at(done->dead);
        for (finish_root* const root : m_roots)
            if (root->born <= number)
                change(*root, [&](finish_root& changed) { add_account(changed, *done); });
    }
}

void finish_service::add_account(finish_root& root, account_book::entry const& told) {
    for (account::part const& part : told.alive)
        if (part.root == root.root) root.count.losses().adopt({told.from, part.epoch});
    root.count.losses().account_complete();
}

void finish_service::take_account(packet const& head, std::byte const* payload) noexcept {
    if (!message_tag::decode(head.kind).by_reference)
        return apply_account(head, {payload, head.size});
    m_carrier.start_thread(head, payload, [](arrived& message) noexcept {
        finishes_of(message.at).fetch_account(message);
    });
}

// Fetches an account that is too large for a message.
void finish_service::fetch_account(arrived const& message) noexcept try {
    detail::remote_result const parts =
        m_carrier.fetch(message.head.from, reference_in(message.payload()));
    apply_account(message.head, parts.bytes());
} catch (dead_place const&) { // its account is not needed any more
} catch (std::bad_alloc const&) {
    base::fatal("no memory for what place %u tells of its activities",
                static_cast<unsigned>(message.head.from));
}

void finish_service::apply_account(packet const& head, std::span<std::byte const> parts) noexcept
    try {
    account told{static_cast<rank>(head.a), static_cast<std::uint32_t>(head.c), head.b, {}};
    told.alive.resize(parts.size() / sizeof(account::part));
    if (!parts.empty()) std::memcpy(told.alive.data(), parts.data(), parts.size());
    std::lock_guard const held(m_roots_lock);
    m_accounts.receive(head.from, std::move(told));
    settle_accounts();
} catch (std::bad_alloc const&) {
    base::fatal("no memory for what place %u tells of its activities",
                static_cast<unsigned>(head.from));
}

// --- parts of other places' finishes -------------------------------------------------------------

void finish_service::tell_accounts(rank dead) {
    std::map<rank, std::vector<account::part>> alive;
    std::vector<std::uint64_t> reports;
    packet head;
    head.a = dead;
    {
        std::lock_guard const held(m_parts_lock);
        // This number goes with what follows, and tells the reports before the death from those
        // after it.
        head.c = ++m_deaths_known;
        reports = m_reports;
        m_parts.for_each([&](finish_part const& part) {
            alive[part.home].push_back({part.root, part.share.epoch()});
        });
    }
    for (rank home = 0; home < m_carrier.count(); ++home) {
        if (home == m_here || m_carrier.is_dead(home)) continue;
        head.b = reports[home];
        m_carrier.send_copy(home, {message_kind::account}, head,
                            std::as_bytes(std::span(alive[home])));
    }
}

} // namespace tulle::finishes
