// SPDX-License-Identifier: Apache-2.0
// The floating-point environment of the caller (C11, 7.6): how operations round, which exceptions
// trap, and the flags of those that have come. A context keeps the first two and, on most
// architectures, the flags (context.hpp); `float_flags` are what it leaves to the OS thread.
#pragma once

#include "arch/architecture.hpp"

#if __has_include(TULLE_ARCH_FILE(float_environment.hpp))
#include TULLE_ARCH_FILE(float_environment.hpp)
#else
#include <cfenv>

namespace tulle::arch {

class float_environment {
public:
    // That of the caller.
    float_environment() noexcept { static_cast<void>(std::fegetenv(&m_all)); }
    void give_to_caller() const noexcept { static_cast<void>(std::fesetenv(&m_all)); }

private:
    std::fenv_t m_all;
};

class float_flags {
public:
    // Those of the caller.
    float_flags() noexcept {} // NOLINT(modernize-use-equals-default): for variables that have a use
    void give_to_caller() const noexcept {}
};

} // namespace tulle::arch
#endif
