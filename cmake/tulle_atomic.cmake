# SPDX-License-Identifier: Apache-2.0
#
# tulle_atomic: the library of atomic operations for which the processor has no single instruction, where gcc wants it: bytes on RISC-V,
# 64 bits on some processors of 32. Headers are inlined into the user's program, so that it links it, too. Else empty.
include(CheckCXXSourceCompiles)
set(tulle_atomic "")
check_cxx_source_compiles("
#include <atomic>
#include <cstdint>
std::atomic<std::uint8_t> a{0};
std::atomic<std::uint64_t> b{0};
int main() { return static_cast<int>(a.fetch_add(1) + a.exchange(2) + b.fetch_add(1)); }" tulle_has_atomics)
if(NOT tulle_has_atomics)
    set(tulle_atomic atomic)
endif()
