// SPDX-License-Identifier: Apache-2.0
// What all processes of the program share from MAIN_INITENV on, in global memory. A place is one
// process at a time, since each process has variables of its own; place 0 is main's.
#pragma once

#include "base/spin_lock.hpp"
#include "compat/parmacs/waiting.hpp"

#include <cstdint>

namespace tulle::parmacs {

struct process_slot {
    bool is_taken = false;    // under the world's lock
    std::int64_t created = 0; // by its process, and not waited for; its own
    bool takes_part = false;  // its process has run what it created others for; its own
    shared_value ended;       // of these
};

struct world {
    base::spin_lock lock;
    int last_created = 0; // its place; under the lock
    shared_barrier start; // of the timed section
    std::uint64_t started_at = 0;
    std::uint64_t timed_us = 0;
    process_slot* slots = nullptr; // one for each place
};

// Null: before MAIN_INITENV, or after MAIN_END.
[[nodiscard]] world* find_world() noexcept;
// The same for a macro, which ends the program with a message then.
[[nodiscard]] world& world_for(char const* macro) noexcept;
// The same for a macro that programs use before MAIN_INITENV: then it begins here.
[[nodiscard]] world& world_or_begin(char const* macro) noexcept;
void set_world(world* shared) noexcept;

// From now on, unless they do already. Ends the program if they cannot.
void share_variables(char const* macro); // std::bad_alloc, remote_error

[[nodiscard]] process_slot& own_slot(world& all) noexcept;

} // namespace tulle::parmacs
