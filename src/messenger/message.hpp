// SPDX-License-Identifier: Apache-2.0
// What places tell each other. The packet's `kind` has the kind of the message (message_tag),
// whether the bytes that follow only say where the payload is, and the home of the finish that the
// message belongs to.
#pragma once

#include "net/packet.hpp"

#include <cstddef>
#include <cstdint>

namespace tulle::messenger {

using net::packet;
using net::rank;

// The numbers are given out here; the table of handlers has the handler of each.
enum class message_kind : std::uint8_t {
    // --- of the messenger itself
    call,    // handler: code, a: the pending_call to answer, payload: arguments
    ilet,    // handler: code, a, b: its words
    offer,   // handler, a, b: the ilet to run there then, payload: push_offer, perhaps bytes
    result,  // a: the pending_call, payload: result
    failure, // a: the pending_call, payload: exception
    // a: the number of a payload that was lent and has been read, or k_staged, b: then its name
    release,
    push, // a: address of a payload that cannot be read, b: the transfer to push it into,
          // c: number of a stream, or 0, payload: its size
    // a: the transfer, b: offset, payload: some of it; no payload: the sender of the stream is done
    fragment,
    active,        // handler: code, a: what waits for the answer, payload: the request
    active_answer, // a: that, payload: the answer
    end,           // place 0 ends
    // --- of finishes; b: the finish (its address at home), c: the epoch of the sender, or 0
    counted_call, // a call by an activity
    activity,     // handler: code, payload: arguments
    report,       // a: the epoch that has ended, c: part_age, payload: batch_changes
    exception,    // of an activity, payload: exception
    // Of a death (finish/losses.hpp): a: the dead place, b: reports before, c: deaths that the
    // sender knows of, payload: parts that live
    account,
    begun, // b: a finish that can be cancelled, c: the epoch that has begun
    stop,  // b: it is cancelled, says its home; another place: is to be
    // --- of global memory
    memory, // a request (gmem_access/memory_request.hpp)
    memory_answer,
    // --- of work that may run at any place
    work, // handler: what about it (balance/work_message.hpp)
    // --- of teams
    collective // handler, a, b: the collective message (detail/collective.hpp), payload: its bytes
};

// What is sent in place of a payload that is larger than what may follow a packet.
struct payload_reference {
    std::uint64_t address;
    std::uint64_t size;
    // The payload is given back by this number; 0: it need not be; k_staged: it is given back by
    // its address.
    std::uint64_t lent;

    // As `lent`: the address is the name of memory that the transport finds.
    static constexpr std::uint64_t k_staged = ~std::uint64_t{0};
};

// A region that is to be copied to the receiver. `source` 0: the bytes follow.
struct push_offer {
    std::uint64_t to;
    std::uint64_t size;
    std::uint64_t source;
    std::uint64_t handler, a, b; // the ilet to run at the sender then; handler 0: none
};

struct message_tag {
    message_kind kind;
    bool by_reference = false;
    rank home = 0;

    static constexpr std::size_t k_kinds = 32;

    [[nodiscard]] std::uint16_t encode() const noexcept {
        return static_cast<std::uint16_t>(static_cast<unsigned>(kind) | (by_reference ? 32U : 0U) |
                                          (home << 6U));
    }
    [[nodiscard]] static message_tag decode(std::uint16_t word) noexcept {
        return {static_cast<message_kind>(word & 31U), (word & 32U) != 0,
                static_cast<rank>(word >> 6U)};
    }
};
static_assert(net::k_most_places <= (1U << 10U));
static_assert(static_cast<std::size_t>(message_kind::collective) < message_tag::k_kinds);

// What a client that counts calls sends with one of them: the kind by which it takes it, and words
// of its own.
struct call_stamp {
    message_kind kind = message_kind::call;
    rank home = 0;
    std::uint64_t b = 0;
    std::uint64_t c = 0;
};

} // namespace tulle::messenger
