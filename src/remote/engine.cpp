// SPDX-License-Identifier: Apache-2.0
// Life, progress and sending. What arrives: deliver.cpp; accounts of activities: accounts.cpp.
#include "remote/engine.hpp"

#include "base/error.hpp"
#include "os/clock.hpp"
#include "remote/pending.hpp"

#include <tulle/this_thread.hpp>

#include <cstddef>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>

#include <pthread.h>

namespace tulle::remote {

namespace {

constexpr std::uint64_t k_look_again_ns = 100'000; // for room, while messages are kept
constexpr std::uint64_t k_end_patience_ns = 1'000'000'000;
constexpr std::size_t k_least_bytes = 512; // that may follow a packet: a reference, or a shortened exception
constexpr std::size_t k_most_kept = 1024;  // then threads that send wait

std::atomic<engine*> s_engine{nullptr};

} // namespace

engine* engine_of_process() noexcept { return s_engine.load(std::memory_order_acquire); }        // pairs with the next
void set_engine_of_process(engine* e) noexcept { s_engine.store(e, std::memory_order_release); } // pairs with engine_of_process

engine::engine(std::unique_ptr<net::transport> over) : m_transport(std::move(over)) {
    if (m_transport->most_bytes() < k_least_bytes)
        throw std::invalid_argument("tulle: messages of " + std::to_string(m_transport->most_bytes()) + " bytes are too small");
    for (rank r = 0; r < count(); ++r) m_out.push_back(std::make_unique<outbox>());
}

void engine::start() {
    m_service = std::thread([this] { service(); });
    pthread_setname_np(m_service.native_handle(), "tulle-service");
}

engine::~engine() {
    while (m_running.load(std::memory_order_acquire) != 0) this_thread::yield(); // pairs with ~in_use
    m_stopping.store(true, std::memory_order_release);                           // pairs with service
    m_transport->wake();
    if (m_service.joinable()) m_service.join();
}

// --- progress --------------------------------------------------------------------------------------------------------

bool engine::poll() noexcept {
    std::unique_lock const held(m_polling, std::try_to_lock);
    return held && poll_alone();
}

// Under m_polling.
bool engine::poll_alone() noexcept {
    if (waiting_to_leave() != 0) send_what_was_kept();
    return m_transport->poll(*this);
}

// Who polls at this moment may have passed by a message already whose sender has seen this watch. tests/model/doorbell_test.cpp has the rule.
void engine::end_watch() noexcept {
    m_transport->end_watch();
    std::unique_lock const held(m_polling, std::try_to_lock);
    if (held)
        static_cast<void>(poll_alone());
    else
        m_transport->wake();
}

// Before a sleep: waits for who polls at this moment, for the same reason.
bool engine::poll_in_turn() noexcept {
    std::lock_guard const held(m_polling);
    return poll_alone();
}

void engine::service() noexcept {
    while (!m_stopping.load(std::memory_order_acquire)) { // pairs with ~engine
        if (poll()) continue;
        m_transport->arm();
        if (poll_in_turn() || m_stopping.load(std::memory_order_acquire)) continue; // pairs with ~engine
        m_transport->sleep(waiting_to_leave() != 0 ? os::monotonic_ns() + k_look_again_ns : os::k_no_deadline);
    }
}

void engine::tell_end() noexcept {
    for (rank r = 0; r < count(); ++r)
        if (r != here()) send(r, {message_kind::end}, {}, nullptr);
    std::uint64_t const give_up = os::monotonic_ns() + k_end_patience_ns;
    while (waiting_to_leave() != 0 && os::monotonic_ns() < give_up) static_cast<void>(poll());
}

// --- sending ---------------------------------------------------------------------------------------------------------

void engine::send(rank to, message_tag tag, packet head, std::byte const* payload) noexcept {
    head.kind = tag.encode();
    {
        std::lock_guard const held(m_out[to]->lock);
        if (m_out[to]->waiting.empty() && m_transport->try_send(to, head, payload)) return;
        keep(to, head, payload);
    }
    m_transport->wake();
}

// Under the outbox's lock.
void engine::keep(rank to, packet const& head, std::byte const* payload) noexcept try {
    m_out[to]->waiting.push_back({head, std::vector<std::byte>(payload, payload + head.size)});
    m_waiting_count.fetch_add(1, std::memory_order_relaxed); // relaxed: a hint; who is woken reads it after the wake-up
} catch (std::bad_alloc const&) {
    base::fatal("no memory for a message of %u bytes to place %u, which does not take any at the moment", head.size, to);
}

void engine::send_what_was_kept() noexcept {
    for (rank r = 0; r < count(); ++r) {
        outbox& out = *m_out[r];
        std::lock_guard const held(out.lock);
        for (; !out.waiting.empty(); out.waiting.pop_front()) {
            kept_message const& oldest = out.waiting.front();
            if (!m_transport->try_send(r, oldest.head, oldest.payload.data())) break;
            m_waiting_count.fetch_sub(1, std::memory_order_relaxed); // relaxed: as above
        }
    }
}

// By threads after they have sent, so that nobody keeps more and more.
void engine::let_others_catch_up() noexcept {
    while (waiting_to_leave() > k_most_kept) {
        static_cast<void>(poll());
        this_thread::yield();
    }
}

payload_reference engine::lend(std::span<std::byte const> payload) {
    std::vector<std::byte> copy(payload.begin(), payload.end());
    std::uint64_t const address = reinterpret_cast<std::uintptr_t>(copy.data());
    std::lock_guard const held(m_lent_lock);
    m_lent.emplace(m_lent_so_far + 1, std::move(copy));
    return {address, payload.size(), ++m_lent_so_far};
}

void engine::take_back(std::uint64_t number) noexcept {
    std::vector<std::byte> freed; // after the lock
    std::lock_guard const held(m_lent_lock);
    auto const found = m_lent.find(number);
    if (found == m_lent.end()) return;
    freed = std::move(found->second);
    m_lent.erase(found);
}

// A payload that the receiver gives back if it is large.
engine::enclosure engine::enclose(message_tag& tag, std::span<std::byte const> payload) {
    tag.by_reference = payload.size() > m_transport->most_bytes();
    return tag.by_reference ? enclosure{lend(payload), {}} : enclosure{{}, payload};
}

void engine::send(rank to, message_tag tag, packet head, enclosure const& enclosed) noexcept {
    auto const bytes = tag.by_reference ? std::as_bytes(std::span(&enclosed.where, 1)) : enclosed.bytes;
    head.size = static_cast<std::uint32_t>(bytes.size());
    send(to, tag, head, bytes.data());
}

void engine::send_lent(rank to, message_tag tag, packet const& head, std::span<std::byte const> payload) {
    enclosure const enclosed = enclose(tag, payload);
    send(to, tag, head, enclosed);
}

// A payload that stays until the receiver has answered.
void engine::send_in_place(rank to, message_tag tag, packet const& head, std::span<std::byte const> payload) noexcept {
    tag.by_reference = payload.size() > m_transport->most_bytes();
    send(to, tag, head, enclosure{{reinterpret_cast<std::uintptr_t>(payload.data()), payload.size(), 0}, payload});
}

} // namespace tulle::remote
