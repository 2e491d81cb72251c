// SPDX-License-Identifier: Apache-2.0
//
// How a context ends, and how an error is returned.
#include <cerrno>
#include <cstdlib>

#include "compat/ucontext/switch.hpp"

void tulle_ucontext_end(ucontext_t* link) noexcept {
    if (link == nullptr) std::exit(0); // NOLINT(concurrency-mt-unsafe): as the C library does
    setcontext(link);
    std::exit(-1); // NOLINT(concurrency-mt-unsafe): likewise
}

int tulle_ucontext_refused_mask(long result) noexcept {
    errno = static_cast<int>(-result);
    return -1;
}
