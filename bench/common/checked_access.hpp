// SPDX-License-Identifier: Apache-2.0
// Accesses to coherent memory as code has them that `tulle cc` has compiled.
#pragma once

#include <cstdint>

#include <tulle/coherent_abi.h>

namespace tulle::bench {

template <class T> T checked_load(T const* from) {
    auto const address = reinterpret_cast<std::uintptr_t>(from);
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    auto const state = *reinterpret_cast<unsigned char*>(TULLE_COHERENT_STATE_OF(address));
    if ((state & TULLE_COHERENT_NO_LOAD) != 0) tulle_coherent_load(address);
    return *const_cast<T const volatile*>(from);
}

template <class T> void checked_store(T* to, T value) {
    auto const address = reinterpret_cast<std::uintptr_t>(to);
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    auto const state = *reinterpret_cast<unsigned char*>(TULLE_COHERENT_STATE_OF(address));
    if ((state & (TULLE_COHERENT_NO_LOAD | TULLE_COHERENT_NO_STORE)) != 0)
        tulle_coherent_store(address);
    *const_cast<T volatile*>(to) = value;
}

} // namespace tulle::bench
