// SPDX-License-Identifier: Apache-2.0
#include "compat/pthread/descriptor.hpp"

#include <cstring>

namespace tulle::posix {

namespace {

// The compiler's and the linker's ABI fixes this: its own address twice, whether there are several
// threads, and the two guards.
constexpr std::size_t k_tcb = 0, k_self = 16, k_several = 24, k_guards = 40, k_guard_bytes = 16;

} // namespace

void fill_in_head(std::byte* descriptor, std::byte const* of_maker) noexcept {
    int const several = 1;
    std::memcpy(descriptor + k_tcb, &descriptor, sizeof descriptor);
    std::memcpy(descriptor + k_self, &descriptor, sizeof descriptor);
    std::memcpy(descriptor + k_several, &several, sizeof several);
    std::memcpy(descriptor + k_guards, of_maker + k_guards, k_guard_bytes);
}

} // namespace tulle::posix
