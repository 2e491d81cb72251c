// SPDX-License-Identifier: Apache-2.0
// What of the floating-point environment (C11, 7.6) threads begin with: the direction in which
// operations of the calling OS thread round, as FE_TONEAREST and the like, and a flag.
#pragma once

#include <tulle/detail/attributes.hpp>

#include <cfenv>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace tulle::arch {

#if defined(__SSE2__)
// fesetround() sets the register of SSE and that of the x87; the former is read in a tenth of the
// time.
[[nodiscard]] inline int rounding() noexcept {
    return static_cast<int>(_MM_GET_ROUNDING_MODE() >> 3U);
}
static_assert(_MM_ROUND_UP >> 3U == FE_UPWARD && _MM_ROUND_DOWN >> 3U == FE_DOWNWARD &&
              _MM_ROUND_TOWARD_ZERO >> 3U == FE_TOWARDZERO);
#else
[[nodiscard]] inline int rounding() noexcept { return std::fegetround(); }
#endif

inline void set_rounding(int mode) noexcept { static_cast<void>(std::fesetround(mode)); }

// A thread begins: it rounds to nearest, whatever one before it has left behind.
inline void begin_rounding() noexcept {
    if (TULLE_UNLIKELY(rounding() != FE_TONEAREST)) set_rounding(FE_TONEAREST);
}

// All threads begin with the flag of inexact results, as nearly any computation sets it. A switch
// stores MXCSR, which takes processors of Intel 30 ns where the switch before has changed it, as
// those do between threads that have computed and others that have not.
inline void begin_inexact() noexcept {
#if defined(__SSE2__)
    _mm_setcsr(_mm_getcsr() | _MM_EXCEPT_INEXACT);
#endif
}

} // namespace tulle::arch
