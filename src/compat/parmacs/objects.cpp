// SPDX-License-Identifier: Apache-2.0
// Shared memory, locks, barriers, subscripts and events.
#include "compat/parmacs/anywhere.hpp"
#include "compat/parmacs/failure.hpp"
#include "compat/parmacs/meeting.hpp"
#include "compat/parmacs/race_order.hpp"
#include "compat/parmacs/spanning_lock.hpp"
#include "compat/parmacs/world.hpp"
#include "dsm/coherent_release.hpp"

#include <tulle.h>
#include <tulle/c/coherent_memory.h>
#include <tulle/coherent_abi.h>
#include <tulle_parmacs.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <new>
#include <vector>

namespace tulle::parmacs {

namespace {

void*& name(tulle_parmacs_cond_t& handle) noexcept { return handle; }
template <class Handle> void*& name(Handle& handle) noexcept { return handle.tulle_shared; }

template <class T, class Handle>
void make(Handle* first, int count, kind what, char const* macro) noexcept {
    static_cast<void>(world_or_begin(macro));
    if (first == nullptr || count < 1)
        fail("%s: of %d objects", macro, first == nullptr ? 0 : count);
    for (int k = 0; k < count; ++k) {
        auto* const made = new_shared<named<T>>();
        made->what = what;
        void* const shared = made;
        tulle_coherent_copy(&name(first[k]), &shared, sizeof shared);
    }
}

anywhere lock_of(tulle_parmacs_lock_t l, char const* macro) noexcept {
    return {l.tulle_shared, kind::lock, macro};
}
anywhere event_of(tulle_parmacs_event_t e, char const* macro) noexcept {
    return {e.tulle_shared, kind::event, macro};
}
anywhere condition_of(tulle_parmacs_cond_t c, char const* macro) noexcept {
    return {c, kind::condition, macro};
}

// The first time, and where processes are on several machines.
[[gnu::noinline]] void lock_unknown(tulle_parmacs_lock_t lock) noexcept {
    lock_of(lock, "LOCK").lock();
}
[[gnu::noinline]] bool unlock_unknown(tulle_parmacs_lock_t lock) noexcept {
    return lock_of(lock, "UNLOCK").unlock();
}

// Of all processes.
std::uint64_t allocated_bytes() {
    std::vector<tulle_global_allocation_t> all;
    long count = 0;
    while ((count = tulle_global_allocations(all.data(), all.size())) >
           static_cast<long>(all.size()))
        all.resize(static_cast<std::size_t>(count));
    std::uint64_t sum = 0;
    for (long k = 0; k < count; ++k) sum += all[static_cast<std::size_t>(k)].size;
    return sum;
}

// Many programs do not look at the result.
void say_no_memory(std::uint64_t size) try {
    constexpr std::uint64_t k_unit = std::uint64_t{1} << 30U;
    std::uint64_t const others = allocated_bytes();
    std::fflush(stdout);
    std::fprintf(stderr,
                 "tulle: parmacs: G_MALLOC: there is no shared memory for %" PRIu64
                 " bytes beside %" PRIu64 " that are in use: set TULLE_GLOBAL_MEMORY=%" PRIu64
                 "G or more\n",
                 size, others, size / k_unit + others / k_unit + 2);
} catch (std::bad_alloc const&) {
    std::fputs("tulle: parmacs: G_MALLOC: no memory\n", stderr);
}

} // namespace
} // namespace tulle::parmacs

using namespace tulle::parmacs;
namespace dsm = tulle::dsm;
namespace races = tulle::races;

void* tulle_parmacs_malloc(size_t size) {
    static_cast<void>(world_or_begin("G_MALLOC"));
    void* made = nullptr;
    int const error = tulle_coherent_malloc(&made, std::max<size_t>(size, 1));
    if (error == 0 && s_looks_for_races) races::allocated(made, size, __builtin_return_address(0));
    if (error == 0) return made;
    say_no_memory(size);
    errno = -error;
    return nullptr;
}

void tulle_parmacs_free(void* address) {
    static_cast<void>(world_or_begin("G_FREE"));
    if (s_looks_for_races) races::freed(address, __builtin_return_address(0));
    if (int const error = tulle_coherent_free(address)) fail("G_FREE: %s", std::strerror(-error));
}

void tulle_parmacs_lock_init(tulle_parmacs_lock_t* first, int count) {
    make<spanning_lock>(first, count, kind::lock, "LOCKINIT");
}
void tulle_parmacs_lock(tulle_parmacs_lock_t lock) {
    if (auto* const known = known_object<spanning_lock>(lock.tulle_shared, kind::lock))
        known->share.local().lock();
    else
        lock_unknown(lock);
    tulle_coherent_acquire();
}
void tulle_parmacs_unlock(tulle_parmacs_lock_t lock) {
    auto* const known = known_object<spanning_lock>(lock.tulle_shared, kind::lock);
    if (dsm::begin_release()) {
        if (known != nullptr && known->share.local().begin_leaving()) {
            dsm::release_behind_fence();
            return known->share.local().end_leaving();
        }
        tulle_coherent_release();
    }
    bool const was_held = known != nullptr ? known->share.local().unlock() : unlock_unknown(lock);
    if (!was_held) fail("UNLOCK: nobody holds it");
}

void tulle_parmacs_barrier_init(tulle_parmacs_barrier_t* first, int count) {
    make<shared_barrier>(first, count, kind::barrier, "BARINIT");
}
void tulle_parmacs_barrier(tulle_parmacs_barrier_t barrier, int processes) {
    if (processes < 1) fail("BARRIER: of %d processes", processes);
    meeting const with_others;
    anywhere(barrier.tulle_shared, kind::barrier, "BARRIER").wait_for_all(processes);
}

void tulle_parmacs_subscript_init(tulle_parmacs_subscript_t* first, int count) {
    make<shared_barrier>(first, count, kind::subscript, "GSINIT");
}
int tulle_parmacs_subscript(tulle_parmacs_subscript_t loop, int most, int processes) {
    if (processes < 1) fail("GETSUB: of %d processes", processes);
    meeting const with_others;
    return static_cast<int>(
        anywhere(loop.tulle_shared, kind::subscript, "GETSUB").next_subscript(most, processes));
}

void tulle_parmacs_event_init(tulle_parmacs_event_t* first, int count) {
    make<shared_value>(first, count, kind::event, "PAUSEINIT");
}
void tulle_parmacs_event_set(tulle_parmacs_event_t event) {
    meeting const with_others;
    event_of(event, "SETPAUSE").change(1);
}
void tulle_parmacs_event_clear(tulle_parmacs_event_t event) {
    meeting const with_others;
    event_of(event, "CLEARPAUSE").change(0);
}
void tulle_parmacs_event_wait(tulle_parmacs_event_t event) {
    meeting const with_others;
    event_of(event, "WAITPAUSE").wait_for(wish::set_already);
}
void tulle_parmacs_event_take(tulle_parmacs_event_t event) {
    meeting const with_others;
    event_of(event, "PAUSE").wait_for(wish::to_clear);
}
void tulle_parmacs_event_announce(tulle_parmacs_event_t event) {
    meeting const with_others;
    event_of(event, "EVENT").wait_for(wish::to_set);
}

void tulle_parmacs_cond_init(tulle_parmacs_cond_t* first, int count) {
    make<shared_condition>(first, count, kind::condition, "CONDVARINIT");
}
void tulle_parmacs_cond_wait(tulle_parmacs_cond_t condition, tulle_parmacs_lock_t lock) {
    anywhere const held = lock_of(lock, "CONDVARWAIT");
    meeting const with_others;
    if (!condition_of(condition, "CONDVARWAIT").wait(held))
        fail("CONDVARWAIT: nobody holds the lock");
}
void tulle_parmacs_cond_signal(tulle_parmacs_cond_t condition) {
    meeting const with_others;
    condition_of(condition, "CONDVARSIGNAL").wake_one();
}
void tulle_parmacs_cond_broadcast(tulle_parmacs_cond_t condition) {
    meeting const with_others;
    condition_of(condition, "CONDVARBCAST").wake_all();
}

void tulle_parmacs_acquire_fence(void) {
    std::atomic_thread_fence(std::memory_order_acquire);
    tulle_coherent_acquire();
    if (s_looks_for_races) races::acquire_fence();
}
void tulle_parmacs_release_fence(void) {
    tulle_coherent_release();
    if (s_looks_for_races) races::release_fence();
    std::atomic_thread_fence(std::memory_order_release);
}
void tulle_parmacs_full_fence(void) {
    meeting const with_others;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (!s_looks_for_races) return;
    races::acquire_fence();
    races::release_fence();
}
