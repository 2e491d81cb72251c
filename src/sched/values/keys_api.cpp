// SPDX-License-Identifier: Apache-2.0
// The library calls under <tulle/thread_specific.hpp>.
#include "base/error.hpp"
#include "sched/scheduler.hpp"
#include "sched/values/keys.hpp"

#include <tulle/thread_specific.hpp>

namespace tulle::detail {

std::uint64_t make_key(void (*destructor)(void*)) {
    sched::key made = 0;
    base::check_error(sched::create_key(made, destructor),
                      "tulle: there are too many thread-local keys");
    return made;
}

void drop_key(std::uint64_t key) noexcept { static_cast<void>(sched::delete_key(key)); }

void set_specific(std::uint64_t key, void* value) {
    sched::worker* const w = sched::this_worker();
    sched::fiber& f = w != nullptr ? *w->current : sched::this_fiber();
    base::check_error(sched::set_value(sched::identity_of(f), key, value),
                      "tulle: a thread-local value is not stored");
}

// Asks for no identity: a thread that has none has no values either.
void* get_specific(std::uint64_t key) noexcept {
    sched::worker* const w = sched::this_worker();
    if (w == nullptr) return nullptr;
    sched::fiber const& f = *w->current;
    return sched::value_of(f.frame != nullptr ? *f.frame : f.base, key);
}

} // namespace tulle::detail
