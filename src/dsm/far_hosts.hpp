// SPDX-License-Identifier: Apache-2.0
// How a host asks those that it shares no memory with. What is asked and answered are bytes here
// (far_request.hpp); who carries them is above.
#pragma once

#include "dsm/protocol.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tulle::dsm {

class far_hosts {
public:
    far_hosts() = default;
    far_hosts(far_hosts const&) = delete;
    far_hosts& operator=(far_hosts const&) = delete;
    virtual ~far_hosts() = default;

    // What a request or an answer may have; at least 128.
    [[nodiscard]] virtual std::size_t most_bytes() const noexcept = 0;
    // The request may be changed when this returns. The answer is written to `answer` until wait()
    // returns; it has no more than `room` bytes. Requests to one host may overtake each other.
    virtual void ask(host_number to, std::byte const* request, std::size_t bytes, std::byte* answer,
                     std::size_t room) noexcept = 0;
    // Until all that was asked is answered. What the others have done happens before the return.
    virtual void wait() noexcept = 0;

    // --- where several threads of this process ask
    // Calls f(others, argument), which asks `others` beside everybody else. They let other threads
    // of this process run while it waits, if the caller may be suspended. Each answer takes 1 from
    // `answers_to_come`: whoever finds 0 by an acquire may use what f has asked for so far.
    virtual void ask_beside(void (*f)(far_hosts& others, void* argument) noexcept, void* argument,
                            std::atomic<std::uint32_t>& answers_to_come) noexcept = 0;
    // The caller waits for another thread of this process: takes messages that have come.
    virtual void pause() noexcept = 0;
    // As pause(); other threads of this process run, if the caller may be suspended, or others of
    // the system.
    virtual void let_others_run() noexcept = 0;
    // The caller sleeps from now on, and others of this process take messages.
    virtual void leave_messages() noexcept = 0;
};

} // namespace tulle::dsm
