// SPDX-License-Identifier: Apache-2.0
#include "dsm/coherent_host.hpp"

namespace tulle::dsm {

namespace {

coherent_host* s_own = nullptr;

} // namespace

// Before the place's thread uses the memory, by that thread.
coherent_host* own_host() noexcept { return s_own; }
void set_own_host(coherent_host* own) noexcept { s_own = own; }

} // namespace tulle::dsm
