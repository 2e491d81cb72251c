// SPDX-License-Identifier: Apache-2.0
// What floating-point operations of the calling OS thread obey and note: rounding, traps, how
// denormals are treated, and flags. POSIX and C11 have a new thread begin with its creator's.
#pragma once

#include "arch/architecture.hpp"

#if __has_include(TULLE_ARCH_FILE(floating_state.hpp))
#include TULLE_ARCH_FILE(floating_state.hpp)
#else
#include <cfenv>

namespace tulle::arch {

class floating_state {
public:
    void save() noexcept { static_cast<void>(std::fegetenv(&m_all)); }
    void load() const noexcept { static_cast<void>(std::fesetenv(&m_all)); }

private:
    std::fenv_t m_all;
};

} // namespace tulle::arch
#endif
