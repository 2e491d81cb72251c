// SPDX-License-Identifier: Apache-2.0
// What can be said of an object that a thread waits for. By reports, while the thread waits: the object exists then.
#pragma once

#include "wait/wait_kind.hpp"

#include <tulle/detail/thread_core.hpp>

#include <cstddef>
#include <cstdint>

namespace tulle::sync {

struct wait_facts {
    thread_id holder = 0;              // of a mutex, or the thread that is joined; 0: not known
    void const* stolen_word = nullptr; // the `state` of the forked thread that is joined
    char numbers[64] = "";             // "2 of 3 have arrived", "count 1", ...; empty: nothing to say
};

// "mutex", "barrier", ...
[[nodiscard]] char const* text(wait::wait_kind kind) noexcept;
[[nodiscard]] wait_facts inspect(wait::wait_reason reason) noexcept;
// For one who does not know whether the thread still waits: where the identity of the holder would be, in memory that may be gone. Null: it
// is not known, or not kept there.
[[nodiscard]] void const* place_of_holder(wait::wait_reason reason) noexcept;

} // namespace tulle::sync
