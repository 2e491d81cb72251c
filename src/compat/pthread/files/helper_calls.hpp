// SPDX-License-Identifier: Apache-2.0
// Calls that a helper OS thread makes for a thread of pthread_create, which waits meanwhile.
#pragma once

#include "compat/pthread/threads/thread.hpp"
#include "io/reactor.hpp"

#include <netdb.h>

namespace tulle::posix {

// What `call` returns, and errno as it leaves it, from a helper OS thread.
template <class Call> auto on_helper(Call call) noexcept {
    struct request {
        Call& call;
        decltype(call()) result{};
        int error = 0;
        int host_error = 0;
        bool is_made = false;
    } asked{call};
    auto const make = [](void* it) noexcept {
        auto& r = *static_cast<request*>(it);
        errno = 0;
        r.result = r.call();
        r.error = errno;
        r.host_error = h_errno;
        r.is_made = true;
    };
    {
        kept_errno const kept;
        static_cast<void>(tulle::io::reactor::instance().run_on_helper(
            make, &asked, limit(tulle::wait::k_never)));
    }
    if (!asked.is_made) return call();
    if (asked.error != 0) errno = asked.error;
    h_errno = asked.host_error;
    return asked.result;
}

// The same for a call that waits for the disk, and is mostly soon done: by the caller itself where
// that keeps nothing from running. A helper costs two wakes.
template <class Call> auto on_disk(Call call) noexcept {
    return tulle::io::reactor::instance().may_block() ? call() : on_helper(call);
}

// A cancellation point.
template <class Call> auto blocking_call(Call call) {
    thread* const t = self();
    if (t == nullptr) return call();
    test_cancel(t);
    return on_helper(call);
}

// No cancellation point.
template <class Call> auto uncancelled_call(Call call) noexcept {
    return self() == nullptr ? call() : on_helper(call);
}

} // namespace tulle::posix
