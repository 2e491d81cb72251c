// SPDX-License-Identifier: Apache-2.0
// What can be said of an object that a thread waits for. Reports call these while the thread waits:
// the object exists then.
#pragma once

#include "wait/wait_kind.hpp"

#include <tulle/detail/thread_core.hpp>

#include <cstddef>
#include <cstdint>

namespace tulle::sync {

struct wait_facts {
    thread_id holder = 0;              // of a mutex, or the thread that is joined; 0: not known
    void const* stolen_word = nullptr; // the `state` of the forked thread that is joined
    char numbers[64] = ""; // "2 of 3 have arrived", "count 1", ...; empty: nothing to say
};

// "mutex", "barrier", ...
[[nodiscard]] char const* text(wait::wait_kind kind) noexcept;
[[nodiscard]] wait_facts inspect(wait::wait_reason reason) noexcept;
// For a caller that does not know whether the thread still waits: the object may be gone, which is
// found out with care. 0: not known.
[[nodiscard]] thread_id find_holder(wait::wait_reason reason) noexcept;
[[nodiscard]] bool may_have_holder(wait::wait_kind kind) noexcept;

} // namespace tulle::sync
