// SPDX-License-Identifier: Apache-2.0
// What a worker does next. The order in which it searches is at the head of find_work.cpp.
#pragma once

#include <tulle/detail/record.hpp>

#include <cstdint>

namespace tulle::sched {

using record = detail::record;
struct runnable;
struct worker;

// A worker that always finds something in its own queues asks for timers and for the work of others
// once in so many decisions, so that nothing waits for ever behind a busy queue. Where each of
// these takes long, the watcher asks it to do so at its next decision (worker.hpp).
inline constexpr std::uint32_t k_decisions_per_probe = 61;

// One of: nothing, a ready thread, a stolen record, the order to stop.
class [[nodiscard]] work {
public:
    work() noexcept = default; // nothing
    [[nodiscard]] static work of_ready(runnable* r) noexcept {
        return {r, r != nullptr ? kind::ready : kind::nothing};
    }
    [[nodiscard]] static work of_stolen(record* slot) noexcept {
        return {slot, slot != nullptr ? kind::stolen : kind::nothing};
    }
    [[nodiscard]] static work to_stop() noexcept { return {nullptr, kind::stop}; }

    [[nodiscard]] explicit operator bool() const noexcept { return m_kind != kind::nothing; }
    [[nodiscard]] bool is_stop() const noexcept { return m_kind == kind::stop; }
    [[nodiscard]] runnable* ready() const noexcept {
        return m_kind == kind::ready ? static_cast<runnable*>(m_item) : nullptr;
    }
    [[nodiscard]] record* stolen() const noexcept {
        return m_kind == kind::stolen ? static_cast<record*>(m_item) : nullptr;
    }

private:
    enum class kind : std::uint8_t { nothing, ready, stolen, stop };
    work(void* item, kind k) noexcept : m_item(item), m_kind(k) {}

    void* m_item = nullptr;
    kind m_kind = kind::nothing;
};

// A loop calls this. It returns when there is something to do, which may take a sleep (idle.hpp).
[[nodiscard]] work find_work(worker& w) noexcept;

// One round of a search. A record is taken only when the worker could suspend it.
[[nodiscard]] work probe_once(worker& w) noexcept;

// The first of the threads that the worker's events have made ready (gathering, worker.hpp); others
// are told of the rest. The worker does not count as searching. Nothing: it cannot start it now.
[[nodiscard]] work start_gathered(worker& w) noexcept;
void tell_of_gathered(worker& w) noexcept;

} // namespace tulle::sched
