// SPDX-License-Identifier: Apache-2.0
#include "dsm/settings.hpp"

namespace tulle::dsm {

namespace {

settings s_chosen;

} // namespace

settings const& chosen_settings() noexcept { return s_chosen; }
void set_settings(settings const& chosen) noexcept { s_chosen = chosen; }

} // namespace tulle::dsm
