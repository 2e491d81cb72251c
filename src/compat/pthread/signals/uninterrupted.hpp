// SPDX-License-Identifier: Apache-2.0
// What no handler may interrupt, as it would find a lock taken, or jump away. Not even one of a
// fault, which somebody may have sent, and which os::block_signals lets in, also where the caller
// is such a handler: so nothing within may fault.
#pragma once

#include <csignal>

namespace tulle::posix {

template <class F> auto uninterrupted(F act) noexcept {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    auto const result = act();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return result;
}

} // namespace tulle::posix
