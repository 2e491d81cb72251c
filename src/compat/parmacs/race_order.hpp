// SPDX-License-Identifier: Apache-2.0
// Tells the search for data races who is ordered before whom, where the program was compiled for
// it; otherwise each of these is a branch that is never taken. What lets a process go on tells it
// while that one still sleeps, or under the lock of the object.
#pragma once

#include "races/detector.hpp"

#include <tulle/c/place.h>

namespace tulle::parmacs {

inline bool s_looks_for_races = false; // written once, by MAIN_INITENV or when the place joins

inline void acquire_from(void const* object, int process) noexcept {
    if (s_looks_for_races) [[unlikely]]
        races::acquire(object, process);
}
inline void acquire_from(void const* object) noexcept {
    if (s_looks_for_races) [[unlikely]]
        races::acquire(object, tulle_here());
}
inline void release_to(void const* object) noexcept {
    if (s_looks_for_races) [[unlikely]]
        races::release(object, tulle_here());
}
// What others have released before does not count any more.
inline void replace_in(void const* object, int process) noexcept {
    if (s_looks_for_races) [[unlikely]]
        races::replace(object, process);
}
inline void hand_to(int process) noexcept {
    if (s_looks_for_races) [[unlikely]]
        races::hand(tulle_here(), process);
}

// This process begins what another one has created, which has released that object.
inline void begin_process(void const* creation) noexcept {
    if (s_looks_for_races) [[unlikely]]
        races::begin_process(creation);
}

// By main's process, once it has taken in the places that there are. Does nothing for a program
// that was not compiled for it.
void begin_looking_for_races(int places, char const* macro);
// Of a place that has been taken in later, if races are looked for.
void let_look_for_races(int place, char const* macro);
// Of this process: its variables lie there from now on, and are shared or not.
void watch_variables() noexcept;

} // namespace tulle::parmacs
