// SPDX-License-Identifier: Apache-2.0
// Shared memory, locks, barriers, subscripts and events. A lock is a value that is 1 while it is
// held.
#include "compat/parmacs/failure.hpp"
#include "compat/parmacs/world.hpp"

#include <tulle.h>
#include <tulle_parmacs.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

namespace tulle::parmacs {

namespace {

// Distinct, and nothing that other memory is likely to begin with.
enum class kind : std::uint64_t { lock = 0x504C6F636BULL, barrier, subscript, event };

template <class T> struct named {
    kind what;
    T object;
};

template <class T, class Handle>
void make(Handle* first, int count, kind what, char const* macro) noexcept {
    static_cast<void>(world_for(macro));
    if (first == nullptr || count < 1)
        fail("%s: of %d objects", macro, first == nullptr ? 0 : count);
    for (int k = 0; k < count; ++k) {
        auto* const made = new_shared<named<T>>();
        made->what = what;
        first[k].tulle_shared = made;
    }
}

template <class T> T& object(void* shared, kind what, char const* macro) noexcept {
    static_cast<void>(world_for(macro));
    auto* const found = static_cast<named<T>*>(shared);
    bool const is_shared =
        reinterpret_cast<std::uintptr_t>(found) % k_line == 0 && tulle_global_place_of(found) >= 0;
    if (!is_shared || found->what != what)
        fail("%s: of something that has not been initialised", macro);
    return found->object;
}

shared_value& lock_of(tulle_parmacs_lock_t l, char const* macro) noexcept {
    return object<shared_value>(l.tulle_shared, kind::lock, macro);
}
shared_value& event_of(tulle_parmacs_event_t e, char const* macro) noexcept {
    return object<shared_value>(e.tulle_shared, kind::event, macro);
}

} // namespace
} // namespace tulle::parmacs

using namespace tulle::parmacs;

void* tulle_parmacs_malloc(size_t size) {
    static_cast<void>(world_for("G_MALLOC"));
    void* made = nullptr;
    int const error = tulle_global_malloc(&made, std::max<size_t>(size, 1));
    if (error != 0) errno = -error;
    return error == 0 ? made : nullptr;
}

void tulle_parmacs_free(void* address) {
    static_cast<void>(world_for("G_FREE"));
    if (int const error = tulle_global_free(address)) fail("G_FREE: %s", std::strerror(-error));
}

void tulle_parmacs_lock_init(tulle_parmacs_lock_t* first, int count) {
    make<shared_value>(first, count, kind::lock, "LOCKINIT");
}
void tulle_parmacs_lock(tulle_parmacs_lock_t lock) { lock_of(lock, "LOCK").wait(wish::to_set); }
void tulle_parmacs_unlock(tulle_parmacs_lock_t lock) {
    if (!lock_of(lock, "UNLOCK").change(0)) fail("UNLOCK: nobody holds it");
}

void tulle_parmacs_barrier_init(tulle_parmacs_barrier_t* first, int count) {
    make<shared_barrier>(first, count, kind::barrier, "BARINIT");
}
void tulle_parmacs_barrier(tulle_parmacs_barrier_t barrier, int processes) {
    if (processes < 1) fail("BARRIER: of %d processes", processes);
    object<shared_barrier>(barrier.tulle_shared, kind::barrier, "BARRIER").wait(processes);
}

void tulle_parmacs_subscript_init(tulle_parmacs_subscript_t* first, int count) {
    make<shared_barrier>(first, count, kind::subscript, "GSINIT");
}
int tulle_parmacs_subscript(tulle_parmacs_subscript_t loop, int most, int processes) {
    if (processes < 1) fail("GETSUB: of %d processes", processes);
    return static_cast<int>(object<shared_barrier>(loop.tulle_shared, kind::subscript, "GETSUB")
                                .next_subscript(most, processes));
}

void tulle_parmacs_event_init(tulle_parmacs_event_t* first, int count) {
    make<shared_value>(first, count, kind::event, "PAUSEINIT");
}
void tulle_parmacs_event_set(tulle_parmacs_event_t event) { event_of(event, "SETPAUSE").change(1); }
void tulle_parmacs_event_clear(tulle_parmacs_event_t event) {
    event_of(event, "CLEARPAUSE").change(0);
}
void tulle_parmacs_event_wait(tulle_parmacs_event_t event) {
    event_of(event, "WAITPAUSE").wait(wish::set_already);
}
void tulle_parmacs_event_take(tulle_parmacs_event_t event) {
    event_of(event, "PAUSE").wait(wish::to_clear);
}
void tulle_parmacs_event_announce(tulle_parmacs_event_t event) {
    event_of(event, "EVENT").wait(wish::to_set);
}
