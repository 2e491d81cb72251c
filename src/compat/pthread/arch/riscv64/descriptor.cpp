// SPDX-License-Identifier: Apache-2.0
#include "compat/pthread/descriptor.hpp"

#include <cstring>

namespace tulle::posix {

// It begins with whether there are several threads. The guards are the same for all of them, and
// not in it.
void fill_in_head(std::byte* descriptor, std::byte const* /*of_maker*/) noexcept {
    int const several = 1;
    std::memcpy(descriptor, &several, sizeof several);
}

} // namespace tulle::posix
