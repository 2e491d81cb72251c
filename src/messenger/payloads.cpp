// SPDX-License-Identifier: Apache-2.0
// Payloads that are larger than what may follow a packet: where they wait for the receiver, and how
// it gets them.
#include "messenger/calls.hpp"
#include "messenger/payload_store.hpp"
#include "messenger/pending.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

namespace tulle::messenger {

namespace {

void unstage(detail::payload_owner const& self, std::byte* /*bytes*/) noexcept {
    static_cast<net::transport*>(self.at)->unstage(static_cast<rank>(self.place), self.number);
}

} // namespace

// --- by the sender -------------------------------------------------------------------------------

// Memory where the receiver reads the payload without further help, or else memory of this place.
detail::payload_bytes endpoint::room_for_large(rank reader, std::size_t bytes) {
    auto const there = bytes > m_transport->most_bytes_to(reader)
                           ? m_transport->stage(reader, bytes)
                           : net::transport::staged();
    if (there.bytes == nullptr) return take_block(bytes);
    return {there.bytes, {&unstage, m_transport.get(), there.name, static_cast<int>(reader)}};
}

// The payload is the receiver's from then on.
std::optional<payload_reference> endpoint::lend_staged(detail::payload_bytes& bytes,
                                                       std::size_t size) noexcept {
    if (bytes == nullptr || bytes.get_deleter().give_up != &unstage) return std::nullopt;
    static_cast<void>(bytes.release());
    return payload_reference{bytes.get_deleter().number, size, payload_reference::k_staged};
}

payload_reference endpoint::lend(rank to, detail::payload_bytes&& bytes, std::size_t size,
                                 bool may_return) {
    if (auto const staged = lend_staged(bytes, size)) return *staged;
    std::uint64_t const address = reinterpret_cast<std::uintptr_t>(bytes.get());
    std::lock_guard const held(m_lent_lock);
    lent_payload& entry = m_lent[m_lent_so_far + 1]; // there may be no memory for it
    entry = {to, std::move(bytes), may_return};
    return {address, size, ++m_lent_so_far};
}

// It is sent next, and take_out() is not called. If its reader has died meanwhile, send() frees it.
void endpoint::give_up(payload_reference const& reference) noexcept {
    if (reference.lent == 0 || reference.lent == payload_reference::k_staged) return;
    std::lock_guard const held(m_lent_lock);
    auto const found = m_lent.find(reference.lent);
    if (found != m_lent.end()) found->second.may_return = false;
}

payload_reference endpoint::lend(rank to, std::span<std::byte const> payload) {
    detail::payload_bytes room = room_for_large(to, payload.size());
    std::memcpy(room.get(), payload.data(), payload.size());
    return lend(to, std::move(room), payload.size(), false);
}

// The receiver has read a payload that was lent: a staged one, which has a name, or another one.
void endpoint::take_release(packet const& head, std::byte const* /*payload*/) noexcept {
    take_back(head.from, {head.b, 0, head.a});
}

void endpoint::take_back(rank from, payload_reference const& reference) noexcept {
    if (reference.lent == payload_reference::k_staged)
        return m_transport->unstage(from, reference.address);
    detail::payload_bytes freed; // after the lock
    std::lock_guard const held(m_lent_lock);
    auto const found = m_lent.find(reference.lent);
    if (found == m_lent.end()) return;
    freed = std::move(found->second.bytes);
    m_lent.erase(found);
}

endpoint::enclosure endpoint::enclose(rank to, message_tag& tag, wire_writer& payload) {
    tag.by_reference = payload.size() > m_transport->most_bytes_to(to);
    if (!tag.by_reference) return {{}, {payload.data(), payload.size()}};
    return {lend(to, std::move(payload.storage()), payload.size(), true), {}};
}

void endpoint::send(rank to, message_tag tag, packet head, enclosure const& enclosed,
                    awaited* answer) noexcept {
    auto const bytes =
        tag.by_reference ? std::as_bytes(std::span(&enclosed.where, 1)) : enclosed.bytes;
    head.size = static_cast<std::uint32_t>(bytes.size());
    if (tag.by_reference && m_survives) give_up(enclosed.where);
    send(to, tag, head, bytes.data(), answer);
}

void endpoint::take_out(rank to, message_tag tag, enclosure const& enclosed,
                        wire_writer& payload) noexcept {
    if (!tag.by_reference) return;
    payload_reference const& where = enclosed.where;
    if (where.lent == payload_reference::k_staged) {
        auto* const bytes = const_cast<std::byte*>(
            m_transport->find_staged(where.address)); // NOLINT: it is the sender's
        payload.storage() = {bytes,
                             {&unstage, m_transport.get(), where.address, static_cast<int>(to)}};
        return;
    }
    std::lock_guard const held(m_lent_lock);
    auto const found = m_lent.find(where.lent);
    payload.storage() = std::move(found->second.bytes);
    m_lent.erase(found);
}

void endpoint::send_copy(rank to, message_tag tag, packet const& head,
                         std::span<std::byte const> payload) {
    tag.by_reference = payload.size() > m_transport->most_bytes_to(to);
    send(to, tag, head,
         tag.by_reference ? enclosure{lend(to, payload), {}} : enclosure{{}, payload});
}

// A payload that stays until the receiver has answered, unless it is the receiver's already.
void endpoint::send_in_place(rank to, message_tag tag, packet const& head, wire_writer& payload,
                             awaited* answer) noexcept {
    std::size_t const size = payload.size();
    tag.by_reference = size > m_transport->most_bytes_to(to);
    enclosure enclosed{{reinterpret_cast<std::uintptr_t>(payload.data()), size, 0},
                       {payload.data(), size}};
    if (tag.by_reference)
        enclosed.where = lend_staged(payload.storage(), size).value_or(enclosed.where);
    send(to, tag, head, enclosed, answer);
}

// --- by the receiver -----------------------------------------------------------------------------

// 0, EFAULT: there is no such memory, or EHOSTDOWN: the place has died. Reads it where it is; if
// that is not allowed, has it sent.
int endpoint::copy_from(rank from, std::uint64_t address, std::span<std::byte> to) noexcept {
    int const refused = to.empty() ? 0 : m_transport->read(from, to.data(), address, to.size());
    if (refused == 0 || refused == EFAULT) return refused;
    std::uint64_t const size = to.size();
    transfer whole(to.data(), size);
    packet ask;
    // What is on its way into memory cannot be called back when its sender dies.
    if (!m_survives)
        ask.c = m_transport->begin_receive(from, to, reinterpret_cast<std::uintptr_t>(&whole));
    // relaxed: published by the message
    if (ask.c != 0) whole.missing.store(2, std::memory_order_relaxed);
    ask.a = address;
    ask.b = reinterpret_cast<std::uintptr_t>(&whole);
    ask.size = sizeof size;
    send(from, {message_kind::push}, ask, reinterpret_cast<std::byte const*>(&size), &whole);
    whole.complete.wait();
    return whole.has_died ? EHOSTDOWN : 0;
}

void endpoint::give_back(rank to, payload_reference const& reference) noexcept {
    packet done;
    done.a = reference.lent;
    done.b = reference.address;
    send(to, {message_kind::release}, done, nullptr);
}

// Without memory for it the sender's is free all the same.
detail::remote_result endpoint::room_for(rank from, payload_reference const& reference) try {
    return detail::remote_result(reference.size);
} catch (std::bad_alloc const&) {
    if (reference.lent != 0) give_back(from, reference);
    throw;
}

detail::remote_result endpoint::fetch(rank from, payload_reference const& reference) {
    if (reference.lent == payload_reference::k_staged) return borrow(from, reference);
    detail::remote_result all = room_for(from, reference);
    int const error = copy_from(from, reference.address, {all.data(), reference.size});
    if (error == EHOSTDOWN) throw_death(from);
    if (error != 0)
        base::fatal("place %u sent a message of %llu bytes and cannot be read", from,
                    static_cast<unsigned long long>(reference.size));
    if (reference.lent != 0) give_back(from, reference);
    return all;
}

// The receiver reads the payload where it is, and gives it back.
detail::remote_result endpoint::borrow(rank from, payload_reference const& reference) noexcept {
    detail::payload_owner const of{
        [](detail::payload_owner const& self, std::byte* /*bytes*/) noexcept {
            static_cast<endpoint*>(self.at)->give_back(
                static_cast<rank>(self.place), {self.number, 0, payload_reference::k_staged});
        },
        this, reference.address, static_cast<int>(from)};
    auto* const bytes = const_cast<std::byte*>(
        m_transport->find_staged(reference.address)); // NOLINT: nobody writes to it
    return {detail::payload_bytes(bytes, of), reference.size};
}

void endpoint::send_pieces(packet const& head, std::byte const* payload) noexcept {
    std::uint64_t size = 0;
    std::memcpy(&size, payload, sizeof size);
    auto const* const bytes = &object_at<std::byte const>(head.a);
    if (head.c != 0) {
        if (m_transport->begin_send(head.from, static_cast<std::uint32_t>(head.c), {bytes, size},
                                    head.b))
            return;
        no_memory_for(head);
    }
    for (std::uint64_t at = 0; at < size;) {
        packet piece;
        piece.a = head.b;
        piece.b = at;
        piece.size = static_cast<std::uint32_t>(
            std::min<std::uint64_t>(size - at, m_transport->most_bytes_to(head.from)));
        send(head.from, {message_kind::fragment}, piece, bytes + at);
        at += piece.size;
    }
}

void endpoint::take_fragment(packet const& head, std::byte const* payload) noexcept {
    auto& into = object_at<transfer>(head.a);
    if (head.size == 0) return count_down(into, head.from, 1);
    std::memcpy(into.to + head.b, payload, head.size);
    count_down(into, head.from, head.size);
}

void endpoint::count_down(transfer& whole, rank from, std::uint64_t by) noexcept {
    // acq_rel: all pieces are there
    if (whole.missing.fetch_sub(by, std::memory_order_acq_rel) != by) return;
    cross_off(from, whole);
    whole.complete.notify();
}

// One side of a stream is done. The receiver must not tell that the payload is free before the
// sender says so.
void endpoint::moved(rank peer, std::uint64_t cookie, bool was_sent) noexcept {
    if (!was_sent) return count_down(object_at<transfer>(cookie), peer, 1);
    packet sent;
    sent.a = cookie;
    send(peer, {message_kind::fragment}, sent, nullptr);
}

} // namespace tulle::messenger
