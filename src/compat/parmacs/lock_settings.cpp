// SPDX-License-Identifier: Apache-2.0
#include "compat/parmacs/lock_settings.hpp"

#include "compat/parmacs/failure.hpp"

#include <climits>

namespace tulle::parmacs {

namespace {

void refuse(char const* name, char const* text, int least) noexcept {
    fail("%s=%s: set it to a number from %d to %d", name, text, least, INT_MAX);
}

} // namespace

sync::lock_settings const& chosen_locks() noexcept {
    static sync::lock_settings const s_chosen = sync::lock_settings_of_environment(&refuse);
    return s_chosen;
}

} // namespace tulle::parmacs
