// SPDX-License-Identifier: Apache-2.0
// Calls of functions that use vector registers, by code that was compiled to use none since its
// callers hold values in them (dsm/coherent_host.hpp).
#pragma once

#include "arch/architecture.hpp"

#if __has_include(TULLE_ARCH_FILE(vector_registers.hpp))
#include TULLE_ARCH_FILE(vector_registers.hpp)
#else // nothing of the kind is compiled
inline void tulle_keep_vectors(void (*call)(void*), void* argument) { call(argument); }
#endif

namespace tulle::arch {

template <class F> void keeping_vectors(F f) noexcept {
    tulle_keep_vectors([](void* at) { (*static_cast<F*>(at))(); }, &f);
}

} // namespace tulle::arch
