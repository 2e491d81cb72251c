// SPDX-License-Identifier: Apache-2.0
#include "arch/line_blocks.hpp"

namespace {

unsigned char has_wide_lines() noexcept {
    __builtin_cpu_init(); // this may come ahead of the compiler's own call
    return __builtin_cpu_supports("avx512bw") ? 1 : 0;
}

} // namespace

unsigned char tulle_has_wide_lines = has_wide_lines();
