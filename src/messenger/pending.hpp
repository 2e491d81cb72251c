// SPDX-License-Identifier: Apache-2.0
// What an endpoint waits for: answers to calls, and payloads that come in pieces.
#pragma once

#include "messenger/endpoint.hpp"

#include <tulle/signal.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tulle::messenger {

// It lies in the frame of the caller until the answer has come.
struct endpoint::pending_call : awaited {
    pending_call() noexcept
        : awaited([](awaited& self) noexcept {
              auto& call = static_cast<pending_call&>(self);
              call.has_died = true;
              call.answered.notify();
          }) {}

    packet head; // of the answer
    detail::remote_result payload;
    bool is_failure = false;
    bool has_died = false; // the place that was to answer
    signal answered{1};
};

// A payload that comes piece by piece, or as a stream: then what is missing is that it arrives, and
// that the sender is done with its bytes. In the frame of the thread that waits for it.
struct endpoint::transfer : awaited {
    transfer(std::byte* into, std::uint64_t bytes) noexcept
        : awaited([](awaited& self) noexcept {
              auto& whole = static_cast<transfer&>(self);
              whole.has_died = true;
              whole.complete.notify();
          }),
          to(into),
          missing(bytes) {}

    std::byte* to;
    std::atomic<std::uint64_t> missing;
    bool has_died = false; // the place that was to send it
    signal complete{1};
};

} // namespace tulle::messenger
