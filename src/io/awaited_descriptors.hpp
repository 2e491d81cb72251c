// SPDX-License-Identifier: Apache-2.0
// The descriptors of a poll(2), one of which a thread waits for.
#pragma once

#include "io/descriptor.hpp"
#include "io/poll_wait.hpp"
#include "wait/limit_timer.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <span>

#include <poll.h>

namespace tulle::io {

struct awaited_descriptor : poll_branch<parking> {
    int number = -1;          // negative: none
    short asked = 0;          // as for poll(2)
    descriptor* at = nullptr; // where the branch is; null: nowhere
    event_count seen_in = k_never_looked, seen_out = k_never_looked;
};

class awaited_descriptors {
public:
    explicit awaited_descriptors(std::span<pollfd const> asked) noexcept;
    [[nodiscard]] bool is_valid() const noexcept { return m_has_memory; }
    // Before a try, whose failure may be followed by a wait.
    void look() noexcept;
    // Suspends the caller until one of them is ready for what was asked, or was since the look: 0.
    // Otherwise as reactor::wait.
    [[nodiscard]] int wait(wait::limit<parking> until) noexcept;

private:
    static constexpr std::size_t k_few = 8;

    std::array<awaited_descriptor, k_few> m_few;
    std::unique_ptr<awaited_descriptor[]> m_many;
    std::span<awaited_descriptor> m_all;
    bool m_has_memory = true;
};

} // namespace tulle::io
