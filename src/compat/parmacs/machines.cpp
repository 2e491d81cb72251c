// SPDX-License-Identifier: Apache-2.0
#include "compat/parmacs/machines.hpp"

#include <tulle/c/place.h>
#include <tulle/detail/remote.hpp>

namespace tulle::parmacs {

bool is_on_this_machine(int place) noexcept { return detail::shares_memory_with(place); }

void look_at_machines() noexcept {
    for (int p = 0; p < tulle_place_count(); ++p)
        s_spans_machines = s_spans_machines || !is_on_this_machine(p);
}

} // namespace tulle::parmacs
