// SPDX-License-Identifier: Apache-2.0
// What a worker does next. The order in which it looks for that is at the head of find_work.cpp.
#pragma once

#include <tulle/detail/record.hpp>

#include <cstdint>

namespace tulle::sched {

using record = detail::record;
struct runnable;
struct worker;

// A worker that always finds something in its own queues asks for timers and for the work of others
// once in so many decisions, so that nothing waits for ever behind a busy queue.
inline constexpr std::uint32_t k_decisions_per_look = 61;

struct work {
    runnable* ready = nullptr;
    record* stolen = nullptr;
    bool stop = false;
};

inline work as_work(runnable* r) noexcept { return {r, nullptr, false}; }
inline bool is_work(work const& w) noexcept { return w.ready != nullptr || w.stolen != nullptr || w.stop; }

// By a loop. Returns when there is something to do, which may take a sleep (idle.hpp).
[[nodiscard]] work find_work(worker& w) noexcept;

// One round of a search. A record is taken only when the worker could suspend it.
[[nodiscard]] work look_around(worker& w) noexcept;

} // namespace tulle::sched
