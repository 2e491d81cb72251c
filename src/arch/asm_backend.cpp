// SPDX-License-Identifier: Apache-2.0
// What the assembly backends of all architectures have in common.
#include "arch/context.hpp"

#if __has_include(TULLE_ARCH_FILE(asm_backend.hpp))

namespace tulle::arch {

[[gnu::noinline]] void asm_backend::switch_to_outlined(context& from, context const& to) noexcept {
    switch_to(from, to);
}

void asm_backend::set(context const& to) noexcept {
    context given_up;
    switch_to(given_up, to);
    __builtin_unreachable();
}

} // namespace tulle::arch

#endif
