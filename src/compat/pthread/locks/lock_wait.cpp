// SPDX-License-Identifier: Apache-2.0
#include "compat/pthread/locks/lock_wait.hpp"

namespace tulle::posix {

namespace {

void run_handlers_of_waiter(thread& t) {
    static_cast<void>(run_handlers(t));
    if (ends_at_any_point(t) && t.is_to_end()) end_self(t, PTHREAD_CANCELED);
}

} // namespace

int wait_for_lock(futex_word& word, std::uint32_t expected, std::uint64_t deadline,
                  lock_turns* turns) {
    thread* const caller = self();
    int const how = futex_wait(word, expected, interruptible(caller, deadline), k_any_bits, turns);
    if (how != ECANCELED) return how;
    run_handlers_of_waiter(*caller);
    return 0;
}

void look_for_signals() {
    thread* const caller = self();
    if (caller != nullptr && caller->attention.is_requested()) run_handlers_of_waiter(*caller);
}

} // namespace tulle::posix
