// SPDX-License-Identifier: Apache-2.0
// Between the loops' templates and the library (src/loop/loop.cpp): a body is two functions that
// run iterations 0 .. count - 1.
#pragma once

#include <tulle/detail/loop_range.hpp>
#include <tulle/loop_options.hpp>

#include <cstdint>
#include <memory>
#include <type_traits>

namespace tulle::detail {

// `begin` to `end` is the part for `run`. `drain` begins `chunk` iterations at a time, from `first`
// on, as long as take() grants them, and returns the first that it has not begun.
struct loop_body {
    void (*run)(void* context, std::uint64_t begin, std::uint64_t end);
    std::uint64_t (*drain)(void* context, loop_front& range, std::uint64_t first,
                           std::uint64_t chunk);
};

// Whether all iterations have run: not if the options ended it. Throws the first exception that an
// iteration threw, when all that had begun have ended; and std::length_error: more than 2^63
// iterations.
TULLE_API bool run_loop(loop_body const& body, void* context, std::uint64_t count,
                        loop_options const& options);
// For how many threads to provide: the workers. Starts the run time if need be.
[[nodiscard]] TULLE_API std::uint64_t loop_width();

template <class Chunk> struct loop_body_of {
    static void run(void* context, std::uint64_t begin, std::uint64_t end) {
        (*static_cast<Chunk*>(context))(begin, end);
    }
    static std::uint64_t drain(void* context, loop_front& range, std::uint64_t first,
                               std::uint64_t chunk) {
        Chunk& body = *static_cast<Chunk*>(context);
        for (; range.take(first, chunk); first += chunk) body(first, first + chunk);
        return first;
    }
    static constexpr loop_body k_functions{&run, &drain};
};

// Calls chunk(begin, end) for parts of 0 .. count - 1.
template <class Chunk>
bool run_chunks(std::uint64_t count, loop_options const& options, Chunk&& chunk) {
    using type = std::remove_reference_t<Chunk>;
    if (count == 0) return true;
    return run_loop(loop_body_of<type>::k_functions,
                    const_cast<void*>(static_cast<void const*>(std::addressof(chunk))), count,
                    options);
}

} // namespace tulle::detail
