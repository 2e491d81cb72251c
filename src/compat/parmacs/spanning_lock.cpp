// SPDX-License-Identifier: Apache-2.0
#include "compat/parmacs/spanning_lock.hpp"

#include "compat/parmacs/lock_settings.hpp"
#include "compat/parmacs/machines.hpp"
#include "compat/parmacs/mirrors.hpp"

#include <cstdint>

namespace tulle::parmacs {

namespace {

using sync::left;
using sync::stay;
using home_part = sync::lock_home<os::machine, waiter>;

static_assert(sizeof(named<spanning_lock>) <= k_line);

spanning_lock& near(void* object) noexcept {
    return static_cast<named<spanning_lock>*>(object)->object;
}
// What this machine has of it. Null: nothing yet, and it makes nothing.
machine_share* find_share(void* object, int home) noexcept {
    if (home < 0) return &near(object).share;
    return static_cast<machine_share*>(find_mirror(object));
}
machine_share& share_of(void* object, int home) noexcept {
    if (home < 0) return near(object).share;
    return *static_cast<machine_share*>(mirror_of(object));
}

home_request about(void* object, action what) noexcept {
    return {what, kind::lock, reinterpret_cast<std::uintptr_t>(object)};
}

// An answer of the home as a number.
constexpr std::int64_t k_granted = 1;
constexpr std::int64_t k_stays = 2;
constexpr std::int64_t k_place = 4;

std::int64_t packed(home_part::answer const& a) noexcept {
    return (a.is_granted ? k_granted : 0) + (a.how == stay::until_wanted ? k_stays : 0) +
           (a.recall_at + 1) * k_place;
}
home_part::answer unpacked(std::int64_t a) noexcept {
    return {(a & k_granted) != 0, (a & k_stays) != 0 ? stay::until_wanted : stay::once,
            static_cast<int>(a / k_place) - 1};
}

// The lock has left a machine.
void tell_home(void* object, int home) noexcept {
    if (home < 0)
        release_at_home(near(object));
    else
        static_cast<void>(ask_home(home, about(object, action::release_lock)));
}

// A place of this machine: what it had is on its way home already.
void recall(int from, void* object, int home) noexcept {
    if (from < 0 || is_on_this_machine(from)) return;
    if (ask_home(from, about(object, action::recall_lock)) != 0) tell_home(object, home);
}

void take_near(void* object, machine_share& own, bool is_contended) noexcept {
    wait_entry entry;
    auto const a = near(object).home.take(entry.get(), is_contended, chosen_locks().threshold);
    if (!a.is_granted) {
        recall(a.recall_at, object, -1);
        entry.wait();
    }
    own.arrive(a.how, !a.is_granted);
}

bool take_far(void* object, int home, machine_share& own, bool is_contended) noexcept {
    tulle_signal_t told = TULLE_SIGNAL_INIT(1);
    home_request wanted = about(object, action::take_lock);
    wanted.amount = is_contended ? 1 : 0;
    wanted.signal = reinterpret_cast<std::uintptr_t>(&told);
    std::int64_t const done = ask_home(home, wanted);
    if (done == k_no_object) return false;
    auto const a = unpacked(done);
    if (!a.is_granted) {
        recall(a.recall_at, object, home);
        wait_on(told);
    }
    own.arrive(a.how, !a.is_granted);
    return true;
}

int keeper_of(void* object, int home) noexcept {
    if (home < 0) return near(object).home.keeper();
    std::int64_t const place = ask_home(home, about(object, action::find_keeper));
    return place != k_no_object ? static_cast<int>(place) : home_part::k_nowhere;
}

// A process of another machine has locked it.
left unlock_elsewhere(void* object, int home) noexcept {
    int const keeper = keeper_of(object, home);
    if (keeper < 0 || is_on_this_machine(keeper)) return left::not_held;
    return static_cast<left>(ask_home(keeper, about(object, action::unlock_here)));
}

} // namespace

bool take_spanning(void* object, int home) noexcept {
    machine_share& own = share_of(object, home);
    bool was_taken = false;
    if (own.enter(was_taken)) return true;
    if (home >= 0) return take_far(object, home, own, was_taken);
    take_near(object, own, was_taken);
    return true;
}

bool give_spanning(void* object, int home) noexcept {
    machine_share& own = share_of(object, home);
    left const how =
        own.is_held_here() ? own.unlock(chosen_locks().turns) : unlock_elsewhere(object, home);
    if (how == left::goes_home) tell_home(object, home);
    return how != left::not_held;
}

std::int64_t take_for(waiter& entry, spanning_lock& lock) noexcept {
    return packed(lock.home.take(entry, entry.amount != 0, chosen_locks().threshold));
}

void release_at_home(spanning_lock& lock) noexcept {
    if (waiter* const next = lock.home.release()) tell(*next);
}

std::int64_t serve_share(home_request const& wanted) noexcept {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    void* const object = reinterpret_cast<void*>(wanted.object);
    machine_share* const share = find_share(object, far_home_of(object));
    if (wanted.what == action::recall_lock) return share != nullptr && share->recall() ? 1 : 0;
    return static_cast<std::int64_t>(share != nullptr ? share->unlock(chosen_locks().turns)
                                                      : left::not_held);
}

} // namespace tulle::parmacs
