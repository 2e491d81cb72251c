// SPDX-License-Identifier: Apache-2.0
// What all processes of the program share from MAIN_INITENV on, in global memory. A place is one
// process at a time, since each process has variables of its own; place 0 is main's.
#pragma once

#include "base/spin_lock.hpp"
#include "compat/parmacs/waiting.hpp"

#include <cstdint>

namespace tulle::parmacs {

struct process_slot {
    bool is_taken = false; // under the world's lock
    bool is_there = false; // its place has been started; whoever has taken it changes that
    int machine = 0;       // its first place
    shared_value ended;    // of those that its process has created
};

// At place 0. Processes of other machines have that place do what they want (home_calls.hpp).
struct world {
    base::spin_lock lock;
    int places = 0;       // that there may be
    int begun = 0;        // those below are there, or on their way; under the lock
    int last_created = 0; // its place; under the lock
    shared_barrier start; // of the timed section
    std::uint64_t started_at = 0;
    std::uint64_t timed_us = 0;

    // One for each place. They follow, so that their addresses are known also where they are not
    // mapped.
    [[nodiscard]] process_slot* slots() noexcept {
        return reinterpret_cast<process_slot*>(this + 1);
    }
    // For a process: the machines take turns, from the one after the last on, and so do the places
    // of each; if all are taken, one that is not there yet. -1: there are no more.
    [[nodiscard]] int take_place() noexcept;
    void give_place(int place) noexcept; // another one may begin there
    // The timed section.
    void start_clock() noexcept;
    void stop_clock() noexcept;

private:
    [[nodiscard]] int next_free() noexcept;            // -1: there is none
    [[nodiscard]] int turns_until(int place) noexcept; // of its machine
};

// Of this process.
struct children {
    std::int64_t created = 0; // and not waited for
    bool takes_part = false;  // it has run what it created others for
};
[[nodiscard]] children& own_children() noexcept;

// Null: before MAIN_INITENV, or after MAIN_END.
inline world* s_world = nullptr; // set_world
[[nodiscard]] inline world* find_world() noexcept { return s_world; }
// The same for a macro, which ends the program with a message then.
[[nodiscard]] world& world_for(char const* macro) noexcept;
// The same for a macro that programs use before MAIN_INITENV: then it begins here.
[[nodiscard]] world& world_or_begin(char const* macro) noexcept;
void set_world(world* shared) noexcept;
// By the child of a fork.
void leave_world() noexcept;

// Has the place of a slot started that is not there yet, which then takes part.
void begin_place(int place, world& shared, char const* macro); // std::bad_alloc, remote_error

// From now on, unless they do already. Ends the program if they cannot.
void share_variables(char const* macro); // std::bad_alloc, remote_error

} // namespace tulle::parmacs
