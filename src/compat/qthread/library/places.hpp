// SPDX-License-Identifier: Apache-2.0
// Which shepherds and workers are there, and which of them are enabled.
#pragma once

#include "compat/qthread/library/process_fork.hpp"

#include <qthread/qthread.h>

#include <cstddef>

namespace tulle::compat {

// Shepherds have numbers below this, whether they are enabled or not; 0: the library does not run.
[[nodiscard]] std::size_t count_shepherds() noexcept;
[[nodiscard]] std::size_t count_active_shepherds() noexcept;
[[nodiscard]] std::size_t count_active_workers() noexcept;

// For what is spread over the enabled shepherds.
class active_shepherds {
public:
    // The one with the k-th lowest number, counted round and round; 0 where the library does not
    // run. Those that are enabled or disabled meanwhile count as they are then, or were before.
    [[nodiscard]] qthread_shepherd_id_t operator[](std::size_t k) const noexcept {
        return m_are_all ? static_cast<qthread_shepherd_id_t>(k % m_all) : find(k);
    }

private:
    [[nodiscard]] static qthread_shepherd_id_t find(std::size_t k) noexcept;

    std::size_t m_all = count_shepherds();
    bool m_are_all = m_all != 0 && count_active_shepherds() == m_all;
};

// The worker that the caller runs on, from 0 to the number at the start - 1; -1: none. A worker
// that stands in for one that is blocked counts as that.
[[nodiscard]] int worker_number() noexcept;
// At the start of the library, for the workers of these numbers.
void disable_workers_from(std::size_t first);
// At the end of the library.
void forget_places() noexcept;
void places_at_fork(fork_phase phase) noexcept;

} // namespace tulle::compat
