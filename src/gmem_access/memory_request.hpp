// SPDX-License-Identifier: Apache-2.0
// What places ask each other for about global memory.
//   memory         handler: operation, width of the word, bytes; a: address, or where to allocate;
//                  b: the asked; c: local address of a get or put, operand, or bytes to allocate;
//                  payload: bytes of a put, or what is expected
//   memory_answer  handler: errno value; a: value; b: the asked; c: local address; payload: bytes
//                  of a get
#pragma once

#include "gmem_access/memory.hpp"
#include "messenger/awaited.hpp"

#include <tulle/signal.hpp>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace tulle::gmem_access {

using messenger::awaited;

// The most bytes that one message asks to be filled, as it holds up those that follow.
inline constexpr std::uint64_t k_most_filled = std::uint64_t{1} << 20U;

struct global_memory::request {
    memory_operation what;
    unsigned width;         // of a word
    std::uint64_t address;  // or where to allocate
    std::uint32_t bytes;    // of a piece
    std::uint64_t operand;  // or the local address of a piece, or bytes to allocate
    std::uint64_t expected; // of a compare_exchange
};

// What a thread waits for: so many answers. It lies in the frame of that thread until they have
// come.
struct global_memory::waiting {
    explicit waiting(std::size_t answers) : answered(static_cast<std::uint32_t>(answers)) {}

    signal answered;
    std::uint64_t value = 0; // is written by the polling thread
    // Of any answer that has one; written by the polling thread, and by the thread that asks, which
    // may find a place dead. relaxed, all: the signal publishes it.
    std::atomic<int> error{0};
};

// One of the answers that a global_memory::waiting waits for.
struct global_memory::asked : awaited {
    asked() noexcept
        : awaited([](awaited& self) noexcept {
              waiting& all = *static_cast<asked&>(self).waiter;
              all.error.store(EHOSTDOWN, std::memory_order_relaxed);
              all.answered.notify();
          }) {}

    waiting* waiter = nullptr;
};

struct global_memory::piece {
    rank place = 0;
    std::uint64_t address = 0;
    std::byte* local = nullptr;
    std::uint32_t bytes = 0;
    asked answer;
};

[[nodiscard]] inline int errno_of(gmem::memory_status s) noexcept {
    switch (s) {
        case gmem::memory_status::done: return 0;
        case gmem::memory_status::unknown: return EINVAL;
        default: return ENOMEM;
    }
}

// The handler word.
struct memory_word {
    memory_operation what;
    unsigned width;
    std::uint32_t bytes;

    [[nodiscard]] std::uint64_t encode() const noexcept {
        return static_cast<std::uint64_t>(what) | std::uint64_t{width} << 8U |
               std::uint64_t{bytes} << 32U;
    }
    [[nodiscard]] static memory_word decode(std::uint64_t word) noexcept {
        return {static_cast<memory_operation>(word & 0xffU),
                static_cast<unsigned>(word >> 8U & 0xffU), static_cast<std::uint32_t>(word >> 32U)};
    }
};

} // namespace tulle::gmem_access
