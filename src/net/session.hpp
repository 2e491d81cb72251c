// SPDX-License-Identifier: Apache-2.0
// The memory that the places of one host share: their states, a doorbell for each, a ring for each
// pair, which takes memory once it is used, room for large payloads, and the records that others
// may steal. The process that starts the places makes it (`tulle run`), and they inherit its
// descriptor.
#pragma once

#include "net/arrivals.hpp"
#include "net/doorbell.hpp"
#include "net/message_ring.hpp"
#include "net/packet.hpp"
#include "net/used_rings.hpp"
#include "os/machine.hpp"
#include "os/shared_memory.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tulle::net {

// os::machine, but for words that other processes map.
struct shared_machine : os::machine {
    static bool futex_wait(atomic<std::uint32_t>& word, std::uint32_t expected,
                           std::uint64_t deadline = os::k_no_deadline) noexcept {
        return os::shared_futex_wait(word, expected, deadline) != os::wait_result::timed_out;
    }
    static void futex_wake(atomic<std::uint32_t>& word, int count) noexcept {
        os::shared_futex_wake(word, count);
    }
};

struct alignas(64) ring_line {
    std::atomic<std::uint32_t> tag{0};
    std::uint32_t unused = 0;
    packet head;
    // The first bytes; the others follow in the next lines, which have no tags.
    std::byte payload[16];
};
static_assert(sizeof(ring_line) == 64);

using shared_doorbell = doorbell<shared_machine>;
using shared_ring_control = ring_control<shared_machine>;

enum class place_state : std::uint32_t { absent, joined, left, dead };

struct alignas(64) place_entry {
    std::atomic<place_state> state{place_state::absent};
    std::atomic<std::int32_t> process{0};     // its number
    std::atomic<std::int32_t> wait_status{0}; // as from waitpid; meaningful once it is dead
    shared_doorbell doorbell;
    used_rings<shared_machine, k_most_places> senders; // whose rings to this place have been used
    shared_arrivals barriers;
};

// At the beginning of the memory; entries, controls and rings follow. Zero is a valid state of all
// but `format`, `places` and `lines`.
struct session_head {
    static constexpr std::uint64_t k_format = 0x38656C6C7554; // "Tulle8"

    std::atomic<std::uint64_t> format{0}; // stored last
    std::uint32_t places = 0;
    std::uint32_t lines = 0;      // of each ring
    std::uint32_t processors = 0; // of all places together; 0: those that each finds
    // What the first place that joins runs (messenger/image.hpp)
    std::atomic<std::uint64_t> program{0};
    std::atomic<std::uint32_t> deaths{0};        // entries that have become dead
    std::atomic<std::uint64_t> segments_size{0}; // once a place has mapped them
    // The places go on when one of them dies, but for place 0.
    std::atomic<bool> survives_deaths{false};
    std::int32_t launcher = 0; // the process that starts the places
    // Places that there may be, once the first that joins has decided it; 0: those of the start.
    std::atomic<std::uint32_t> room{0};
    std::atomic<std::uint32_t> wanted{0}; // places that somebody has asked for
};

class session {
public:
    // The process that starts the places calls this. Not valid: errno says why; EINVAL: not from 1
    // to k_most_places.
    [[nodiscard]] static session create(rank places) noexcept;
    // A place calls this with what it has inherited. Not valid: the descriptors are closed, and
    // errno says why; EINVAL: it is something else, or of another version. Without `segments` there
    // is no global memory.
    [[nodiscard]] static session adopt(int descriptor, int segments = -1) noexcept;

    [[nodiscard]] bool is_valid() const noexcept { return m_memory.is_valid(); }
    [[nodiscard]] os::shared_memory const& memory() const noexcept { return m_memory; }
    [[nodiscard]] session_head& head() const noexcept {
        return *reinterpret_cast<session_head*>(m_memory.low());
    }
    // Those of the start, and those that may be started later.
    [[nodiscard]] rank places() const noexcept {
        // relaxed: decided before anything depends on it
        return std::max(head().places, head().room.load(std::memory_order_relaxed));
    }
    [[nodiscard]] rank places_at_start() const noexcept { return head().places; }
    [[nodiscard]] std::uint32_t lines() const noexcept { return head().lines; }
    [[nodiscard]] place_entry& entry(rank place) const noexcept;
    [[nodiscard]] shared_ring_control& control(rank from, rank to) const noexcept;
    [[nodiscard]] ring_line* ring(rank from, rank to) const noexcept;
    [[nodiscard]] std::byte* staging(rank place) const noexcept; // for its large payloads
    [[nodiscard]] std::size_t staging_bytes() const noexcept;
    // The memory from which others may take work of a place (transport::steal_area).
    [[nodiscard]] std::span<std::byte> steal_area(rank place) const noexcept;

    // Room for so many places, of which some are started when they are asked for. Each place calls
    // this with the same number, ahead of all but what the head tells. False: errno says why;
    // EINVAL: another place has another number.
    [[nodiscard]] bool make_room(rank most) noexcept;
    // Has places started, up to so many, by the process that has started the others. False: errno
    // says why.
    [[nodiscard]] bool ask_for_places(rank count) const noexcept;
    [[nodiscard]] rank wanted_places() const noexcept {
        // Pairs with ask_for_places.
        return std::max(head().places, head().wanted.load(std::memory_order_acquire));
    }

    // A file that all places map for global memory. It grows to `bytes`, the same for all, and a
    // page takes memory when it is touched. False: errno says why; EINVAL: it has another size
    // already.
    [[nodiscard]] bool grow_segments(std::size_t bytes) const noexcept;
    [[nodiscard]] int segments_descriptor() const noexcept { return m_segments.number(); }
    // Programs that this process becomes inherit the descriptors.
    [[nodiscard]] bool keep_for_programs() const noexcept;

    // The process that sees it end calls this before its number may be given to another one: marks
    // it, and wakes all others. Again: nothing.
    void declare_dead(rank dead, int wait_status) const noexcept;
    void wake_all() const noexcept;

private:
    os::shared_memory m_memory;
    os::shared_file m_segments;
};

} // namespace tulle::net
