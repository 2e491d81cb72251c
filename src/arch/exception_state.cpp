// SPDX-License-Identifier: Apache-2.0
#include "arch/exception_state.hpp"

#include <cxxabi.h>

namespace tulle::arch {

[[gnu::noinline]] void* exception_globals() noexcept {
    void* const globals = abi::__cxa_get_globals();
    // Not const, not pure: the caller may have moved to another OS thread since.
    asm volatile("" ::: "memory");
    return globals;
}

} // namespace tulle::arch
