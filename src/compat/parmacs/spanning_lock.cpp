// SPDX-License-Identifier: Apache-2.0
#include "compat/parmacs/spanning_lock.hpp"

#include "compat/parmacs/lock_settings.hpp"
#include "compat/parmacs/machines.hpp"
#include "compat/parmacs/mirrors.hpp"

#include <tulle/c/place.h>

#include <cstdint>

namespace tulle::parmacs {

namespace {

using sync::left;
using sync::stay;
using home_part = sync::lock_home<os::machine, waiter>;

static_assert(sizeof(named<spanning_lock>) <= k_line);
static_assert(sizeof(machine_share) <= k_mirror_bytes);
static_assert(k_mirror_bytes % alignof(machine_share) == 0);

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

// The same place for all processes of this machine.
int machine_here() noexcept {
    static int const s_first = first_place_here();
    return s_first;
}

// An answer of the home to another machine as a number.
constexpr std::int64_t k_granted = 1;
constexpr std::int64_t k_stays = 2;
constexpr std::int64_t k_is_wanted = 4;

std::int64_t packed(bool is_granted, stay how, bool is_wanted) noexcept {
    return (is_granted ? k_granted : 0) + (how == stay::until_wanted ? k_stays : 0) +
           (is_wanted ? k_is_wanted : 0);
}

// Of another machine than the home's, while it waits. To the home it is the signal of a waiter.
struct far_entry {
    tulle_signal_t told = TULLE_SIGNAL_INIT(1);
    bool is_wanted = false; // when told
};

// The entry has the lock, and may be gone then.
void grant(void* object, waiter& next) noexcept {
    if (is_on_this_machine(next.place)) return tell(next);
    home_request granted = about(object, action::grant_lock);
    granted.amount = next.is_wanted.load() ? 1 : 0;
    granted.signal = reinterpret_cast<std::uintptr_t>(next.signal);
    tell_process(next.place, granted);
}

// The lock has left a machine. Nobody waits until the home knows: what the machine has stored is
// published already, and nobody gets the lock before the home does know.
// `home`: it, or another place of its machine.
void send_home(void* object, int home, left how) noexcept {
    if (home < 0) return release_at_home(object, how);
    home_request released = about(object, action::release_lock);
    released.amount = static_cast<std::int64_t>(how);
    tell_process(home, released);
}

// By a process of the home's machine, to which the lock comes then. What the asker's own machine
// had is on its way home already.
void recall(int from, int asker, void* object) noexcept {
    if (from < 0 || from == asker) return;
    home_request recalled = about(object, action::recall_lock);
    recalled.more = tulle_here();
    tell_process(from, recalled);
}

void take_near(void* object, machine_share& own, bool is_contended) noexcept {
    wait_entry entry;
    waiter& waits = entry.get();
    waits.machine = machine_here();
    auto const a = near(object).home.take(waits, is_contended, chosen_locks().threshold);
    if (!a.is_granted) {
        recall(a.recall_at, waits.machine, object);
        entry.wait();
    }
    own.arrive(a.how, !a.is_granted && waits.is_wanted.load());
}

bool take_far(void* object, int home, machine_share& own, bool is_contended) noexcept {
    far_entry entry;
    home_request wanted = about(object, action::take_lock);
    wanted.amount = is_contended ? 1 : 0;
    wanted.more = machine_here();
    wanted.signal = reinterpret_cast<std::uintptr_t>(&entry);
    std::int64_t const done = ask_home(home, wanted);
    if (done == k_no_object) return false;
    if ((done & k_granted) == 0) wait_on(entry.told);
    own.arrive((done & k_stays) != 0 ? stay::until_wanted : stay::once,
               entry.is_wanted || (done & k_is_wanted) != 0);
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
    if (goes_home(how)) send_home(object, home, how);
    return how != left::not_held;
}

std::int64_t take_for(waiter& entry, void* object) noexcept {
    spanning_lock& lock = near(object);
    int const asker = entry.machine;
    auto const a = lock.home.take(entry, entry.amount != 0, chosen_locks().threshold);
    if (a.is_granted) return packed(true, a.how, false);
    // From its own machine the home takes it at once, mostly.
    bool const is_here = a.recall_at == machine_here();
    left const how = is_here ? lock.share.recall() : left::stays;
    if (!is_here) recall(a.recall_at, asker, object);
    if (!goes_home(how)) return packed(false, a.how, false);
    waiter* const next = lock.home.release(how);
    if (next == &entry) return packed(true, a.how, entry.is_wanted.load());
    if (next != nullptr) grant(object, *next);
    return packed(false, a.how, false);
}

void release_at_home(void* object, left how) noexcept {
    if (waiter* const next = near(object).home.release(how)) grant(object, *next);
}

void recall_here(home_request const& wanted) noexcept {
    void* const object = object_in(wanted);
    machine_share* const share = find_share(object, far_home_of(object));
    if (share == nullptr) return;
    left const how = share->recall();
    if (goes_home(how)) send_home(object, static_cast<int>(wanted.more), how);
}

std::int64_t unlock_for_others(home_request const& wanted) noexcept {
    void* const object = object_in(wanted);
    machine_share* const share = find_share(object, far_home_of(object));
    return static_cast<std::int64_t>(share != nullptr ? share->unlock(chosen_locks().turns)
                                                      : left::not_held);
}

void take_grant(home_request const& granted) noexcept {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    auto& entry = *reinterpret_cast<far_entry*>(granted.signal);
    entry.is_wanted = granted.amount != 0;
    tulle_signal_notify(&entry.told);
}

} // namespace tulle::parmacs
