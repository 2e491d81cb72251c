// SPDX-License-Identifier: Apache-2.0
// The library calls under <tulle/team.hpp>, <tulle/place_local.hpp> and <tulle/atomic_block.hpp>.
#pragma once

#include <tulle/condition_variable.hpp>
#include <tulle/detail/remote.hpp>
#include <tulle/mutex.hpp>

#include <compare>
#include <cstdint>
#include <memory>

namespace tulle::detail {

// One message of a collective operation: the team, the number of its operation, and the step of
// that.
struct collective_message {
    std::uint64_t team = 0;
    std::uint64_t number = 0;
    std::uint64_t step = 0;
    friend auto operator<=>(collective_message const&, collective_message const&) = default;
};

// Sends a message to another place. Throws std::bad_alloc.
TULLE_API void post_collective(int to, collective_message const& message, wire_writer& bytes);
// Waits for a message. Throws std::bad_alloc; dead_place.
TULLE_API remote_result take_collective(int from, collective_message const& message);

// One round of a barrier of all places: each meets those at multiples of a distance. Places that
// share memory read there how far the others have come; the rest is told by messages. In sets of
// places, bit k is the one at k+1 times the distance.
struct barrier_round {
    static constexpr std::uint64_t k_most_rounds = 8;
    static constexpr unsigned k_most_others = 3;

    std::uint64_t number = 0; // of the operation
    unsigned round = 0;
    int distance = 1;
    std::uint32_t others = 0;
};

// The calling thread's place has come to the round, or has failed before. Returns the places after
// it that are to be sent a message, before anything is waited for.
[[nodiscard]] TULLE_API std::uint32_t come_to(barrier_round const& round, bool has_failed);
// Returns when those before it have come, but for those from which a message is to be taken.
[[nodiscard]] TULLE_API std::uint32_t wait_at(barrier_round const& round);

// A number that no other place gives out. Not 0.
[[nodiscard]] TULLE_API std::uint64_t new_name();
// How many operations of that team the calling thread's place has begun before this one.
[[nodiscard]] TULLE_API std::uint64_t begin_collective(std::uint64_t team);

// The calling thread's place has at most one object of a name.
// Null: none any more. Throws std::bad_alloc.
TULLE_API void set_local_object(std::uint64_t name, std::shared_ptr<void> object);
// Null: there is none.
[[nodiscard]] TULLE_API std::shared_ptr<void> local_object(std::uint64_t name);

// Throws dead_place for that place, which has died.
[[noreturn]] TULLE_API void throw_dead_place(int index);

// The lock and the condition of the calling thread's place.
TULLE_API mutex& lock_of_atomic_blocks();
TULLE_API condition_variable& end_of_atomic_block();

} // namespace tulle::detail
