// SPDX-License-Identifier: Apache-2.0
// Looks for data races between processes of one machine that share memory by loads and stores, in a
// program that was compiled by `tulle cc --scheme=races`. Faces of other interfaces begin it and
// say who is ordered before whom; the program's own code tells of its accesses
// (tulle/coherent_abi.h). A process is a place, and has one thread that matters.
#pragma once

#include "races/cell.hpp"

#include <cstddef>
#include <cstdint>

#include <tulle/detail/visibility.h>

namespace tulle::races {

// Whether the program asks for it.
[[nodiscard]] TULLE_API bool is_asked_for() noexcept;

// How other places find what all share.
struct invitation {
    std::int32_t process;
    std::int32_t descriptor;
    std::uint64_t memory_bytes; // of global memory
    process_number processes;   // that there may be
};
// By main's process, once. 0, or a negative errno value: -EUSERS: more processes than cells can
// name; -EADDRNOTAVAIL: global memory lies elsewhere; others: no memory.
[[nodiscard]] TULLE_API int begin(invitation& made) noexcept;
[[nodiscard]] TULLE_API int join(invitation const& from) noexcept;

// Where the variables of the program lie, and whether all processes have them in common.
TULLE_API void watch_variables(std::uint64_t low, std::uint64_t high, bool are_shared) noexcept;

// Blocks of shared memory; `pc`: whoever asks returns there.
TULLE_API void allocated(void const* address, std::size_t bytes, void const* pc) noexcept;
// To free a block is to store to all of it. Null: nothing.
TULLE_API void freed(void const* address, void const* pc) noexcept;

// --- order (happens_before.hpp), after begin or join; an object is an address that all have ------
// This process runs from here on what another one has created, which has released `creation`.
TULLE_API void begin_process(void const* creation) noexcept;
TULLE_API void acquire(void const* object, int process) noexcept;
TULLE_API void release(void const* object, int process) noexcept;
TULLE_API void replace(void const* object, int process) noexcept;
TULLE_API void hand(int from, int to) noexcept;
TULLE_API void acquire_fence() noexcept; // of the caller
TULLE_API void release_fence() noexcept;

} // namespace tulle::races
