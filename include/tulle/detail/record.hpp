// SPDX-License-Identifier: Apache-2.0
// What a thread is until it runs: one cache line with the function and its captures. Forked threads
// have their record in a slot of their parent's deque; threads with a handle of their own have it
// in a pool.
// The record stands for the i-let of OctoPOS (function pointer and data) and the direct task of
// Wool and Lace (Faxen 2010, doi:10.1109/ICPP.2010.54; van Dijk and van de Pol 2014,
// doi:10.1007/978-3-319-14313-2_16).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>

namespace tulle::detail {

inline constexpr std::size_t k_record_size = 64;
inline constexpr std::size_t k_body_size = 40;

// `state` of a record that was stolen: its thief writes "done", its parent may leave its own
// address there to be woken.
// Zero at rest, so that the fast path never touches it.
inline constexpr std::uintptr_t k_running = 0;
inline constexpr std::uintptr_t k_done = 1;

struct alignas(k_record_size) record {
    void (*run)(record*) noexcept; // runs the body, leaves its result or exception here
    // k_running, k_done, or the thread that waits (sched/records/join_word.hpp)
    std::atomic<std::uintptr_t> state;
    std::exception_ptr
        exception; // set by the thread that runs it, taken by the parent after k_done
    alignas(8) std::byte body[k_body_size]; // captures, then the result
};
static_assert(sizeof(record) == k_record_size);

} // namespace tulle::detail
