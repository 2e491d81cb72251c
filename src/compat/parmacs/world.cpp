// SPDX-License-Identifier: Apache-2.0
#include "compat/parmacs/world.hpp"

#include <tulle_parmacs.h>

#include <mutex>
#include <utility>

namespace tulle::parmacs {

int world::take_place() noexcept {
    std::lock_guard const held(lock);
    int place = next_free();
    if (place < 0 && begun < places) place = begun++;
    if (place < 0) return -1;
    slots()[place].is_taken = true;
    return last_created = place;
}

int world::next_free() noexcept {
    int const others = begun - 1;
    int found = -1;
    for (int k = 0; k < others; ++k) {
        int const place = 1 + (last_created + k) % others;
        if (slots()[place].is_taken) continue;
        if (found < 0 || turns_until(place) < turns_until(found)) found = place;
    }
    return found;
}

int world::turns_until(int place) noexcept {
    return (slots()[place].machine - slots()[last_created].machine - 1 + places) % places;
}

void world::give_place(int place) noexcept {
    std::lock_guard const held(lock);
    slots()[place].is_taken = false;
}

void world::start_clock() noexcept { started_at = tulle_parmacs_clock(); }
void world::stop_clock() noexcept {
    if (started_at != 0) timed_us = tulle_parmacs_clock() - started_at;
}

children& own_children() noexcept {
    static children s_own;
    return s_own;
}

} // namespace tulle::parmacs
