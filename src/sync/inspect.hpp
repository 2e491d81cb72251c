// SPDX-License-Identifier: Apache-2.0
// What can be said of an object that a thread waits for. Reports call these while the thread waits:
// the object exists then.
#pragma once

#include "wait/wait_kind.hpp"

#include <tulle/detail/thread_core.hpp>

#include <cstddef>
#include <cstdint>

namespace tulle::sync {

// The thread that holds a mutex, or that is joined.
struct holder {
    thread_id id = 0;            // 0: not known, or a forked thread that has none
    void const* stack = nullptr; // the fiber that it stands on; null: not known

    [[nodiscard]] bool is_known() const noexcept { return id != 0 || stack != nullptr; }
};

struct wait_facts {
    sync::holder holder;
    void const* stolen_word = nullptr; // the `state` of the forked thread that is joined
    char numbers[64] = ""; // "2 of 3 have arrived", "count 1", ...; empty: nothing to say
};

// "mutex", "barrier", ...
[[nodiscard]] char const* text(wait::wait_kind kind) noexcept;
[[nodiscard]] wait_facts inspect(wait::wait_reason reason) noexcept;
// For a caller that does not know whether the thread still waits: the object may be gone, which is
// found out with care.
[[nodiscard]] holder find_holder(wait::wait_reason reason) noexcept;
[[nodiscard]] bool may_have_holder(wait::wait_kind kind) noexcept;

} // namespace tulle::sync
