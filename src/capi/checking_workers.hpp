// SPDX-License-Identifier: Apache-2.0
// The workers of this place, as coherent memory knows them. The thread that a worker runs holds a
// check until it next calls what may synchronise, and what lets another thread run is such a call;
// so none is held where the worker has come back to the scheduler, nor where it has no work.
#pragma once

#include "dsm/checking_threads.hpp"
#include "os/membarrier.hpp"
#include "sched/scheduler.hpp"
#include "sched/switch.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tulle::capi {

class checking_workers final : public dsm::checking_threads {
public:
    explicit checking_workers(sched::scheduler const& of) noexcept : m_scheduler(of) {}

    // There is never more than one.
    [[nodiscard]] bool are_one() const noexcept { return most_workers() == 1; }
    // One more than workers: who calls that is none.
    [[nodiscard]] std::size_t most() const noexcept override { return most_workers() + 1; }
    [[nodiscard]] std::size_t count() const noexcept override {
        return m_scheduler.workers().size();
    }
    [[nodiscard]] std::size_t caller() const noexcept override {
        sched::worker const* const w = sched::this_worker();
        return w == nullptr || w->is_guest() ? most_workers() : static_cast<std::size_t>(w->index);
    }
    [[nodiscard]] bool is_only_one() const noexcept override { return are_one() && caller() == 0; }
    // Without membarrier a worker that runs has passed only when it calls itself, or rests.
    // relaxed, all: grace_periods has the fences, and a worker that ends its rest; an OS thread
    // that has no number yet has run nothing.
    [[nodiscard]] std::uint64_t point_of(std::size_t number) const noexcept override {
        sched::worker_remote const& w = *m_scheduler.workers()[number];
        bool const runs = w.tid.load(std::memory_order_relaxed) != 0 && !w.rest.is_set();
        if (!runs) return dsm::k_holds_no_check;
        return os::membarrier_available() ? w.decisions.value() : 0;
    }

private:
    [[nodiscard]] std::size_t most_workers() const noexcept {
        return static_cast<std::size_t>(m_scheduler.most_workers());
    }

    sched::scheduler const& m_scheduler;
};

} // namespace tulle::capi
