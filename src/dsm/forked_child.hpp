// SPDX-License-Identifier: Apache-2.0
// The child of a fork has no part in coherent memory. It maps the copy of its parent, but has
// states, twins and marks of its own for it; what it did by them the parent would not know of, and
// both would take what the parent is sent.
#pragma once

#include "base/error.hpp"

#include <system_error>

#include <pthread.h>

#include <tulle/detail/attributes.hpp>

namespace tulle::dsm {

inline bool s_is_forked_child = false; // written by the child before it goes on

// Children from now on know that they are. Once; throws std::system_error.
inline void expect_forks() {
    int const error = pthread_atfork(nullptr, nullptr, [] { s_is_forked_child = true; });
    if (error != 0) throw std::system_error(error, std::generic_category(), "coherent memory");
}
[[noreturn]] TULLE_COLD inline void refuse_child() noexcept {
    base::fatal("coherent memory: used by the child of a fork, which takes no part in it: let its "
                "parent do it");
}
// Ends such a child. Where code is checked that may also mean other memory this is called for
// coherent memory only.
inline void expect_no_child() noexcept {
    if (TULLE_UNLIKELY(s_is_forked_child)) refuse_child();
}

} // namespace tulle::dsm
