// SPDX-License-Identifier: Apache-2.0
// What places send each other: one packet, three words, and bytes that follow.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tulle::net {

using rank = std::uint32_t; // of a place: 0 .. count-1

inline constexpr rank k_most_places = 1024; // of one session

// The head of a message. `kind` and the words belong to the sender.
struct packet {
    std::uint64_t handler = 0;
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    std::uint64_t c = 0;
    std::uint32_t size = 0; // bytes that follow
    std::uint16_t kind = 0;
    std::uint16_t from = 0; // set by the transport
};
static_assert(sizeof(packet) == 40);

inline constexpr int k_unknown_status = -1; // of a place that has died: nobody knows how

// Takes what arrives. The polling thread calls it; it must neither wait nor throw, and may send.
// `payload` is gone when it returns.
class receiver {
public:
    virtual void deliver(packet const& head, std::byte const* payload) noexcept = 0;
    // What transport::begin_send or begin_receive has begun is done, and nobody touches its bytes
    // any more here.
    virtual void moved(rank /*peer*/, std::uint64_t /*cookie*/, bool /*was_sent*/) noexcept {}
    // Once for each place that dies; nothing of it is delivered any more. `wait_status`: as from
    // waitpid, or k_unknown_status.
    virtual void place_died(rank /*which*/, int /*wait_status*/) noexcept {}

protected:
    ~receiver() = default;
};

} // namespace tulle::net
