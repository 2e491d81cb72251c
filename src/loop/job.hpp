// SPDX-License-Identifier: Apache-2.0
// A loop while it runs. Each thread that takes part has a range of iterations in its frame; all
// ranges are on the job's list, where a participant that has none left steals from the others.
// Others come in by a record that each participant keeps forked (the invitation): to the scheduler
// a loop is nothing but a few forked threads. The loop has ended when the caller has joined its
// invitations: a participant that came in by one has ended, and joined its own. src/loop/README.md
#pragma once

#include "base/spin_lock.hpp"
#include "loop/invitation.hpp"
#include "loop/loop_range.hpp"
#include "loop/participants.hpp"
#include "os/machine.hpp"

#include <tulle/detail/loop_engine.hpp>
#include <tulle/detail/record.hpp>

#include <array>
#include <cstdint>
#include <exception>
#include <optional>

namespace tulle::loop {

class job;

// A thread that runs iterations of a job. It lies in the thread's frame.
struct participant {
    participant(bool asymmetric, std::uint64_t first_chunk) noexcept
        : range(asymmetric), chunk(first_chunk) {}

    loop_range<os::machine> range;
    // Its invitations: others come in as a binary tree.
    std::array<std::optional<invitation>, 2> out;
    // The number of iterations to begin at a time, or to make its own, as the clock decides.
    std::uint64_t chunk;
    std::uint64_t number = 0;    // in the order in which they came
    participant* next = nullptr; // in the list (participants.hpp), like `prev`
    participant* prev = nullptr;
};

class job {
public:
    job(detail::loop_body const& body, void* context, std::uint64_t count,
        loop_options const& options, bool asymmetric, std::uint64_t width) noexcept;
    job(job const&) = delete;
    job& operator=(job const&) = delete;

    [[nodiscard]] std::uint64_t width() const noexcept { return m_width; }
    void help() noexcept;                          // by a thread that has come in by an invitation
    void fail(std::exception_ptr thrown) noexcept; // ends it early

    // The caller of the loop runs all iterations, with the help of others. Returns whether none was
    // left out; throws what an iteration threw.
    bool run();

private:
    void take_part(iterations first) noexcept;
    [[nodiscard]] std::uint64_t invitations_of(participant const& self) const noexcept;

    [[nodiscard]] iterations steal() noexcept; // of another participant, or none: all have begun

    void run_range(participant& self);
    void run_by_clock(participant& self);
    void run_batches(participant& self);
    [[nodiscard]] bool run_next(participant& self, std::uint64_t count);
    void run_chunk(std::uint64_t begin, std::uint64_t end);
    [[nodiscard]] std::uint64_t chunk_of(participant const& self) const noexcept;
    [[nodiscard]] std::uint64_t adapt(std::uint64_t count, std::uint64_t elapsed_ns) const noexcept;
    [[nodiscard]] std::uint64_t part_begin(std::uint64_t part) const noexcept;

    detail::loop_body m_body;
    void* m_context;
    std::uint64_t m_count; // iterations; of an even schedule: parts
    std::uint64_t m_iterations;
    detail::schedule_kind m_kind;
    std::uint64_t m_chunk;
    loop_stop m_until;
    bool m_asymmetric;
    std::uint64_t m_width;

    participants<os::machine, participant> m_participants;
    base::spin_lock m_exception_lock;
    std::exception_ptr m_exception; // the first; read by the caller when all others are gone
};

} // namespace tulle::loop
