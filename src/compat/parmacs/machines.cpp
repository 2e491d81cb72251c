// SPDX-License-Identifier: Apache-2.0
#include "compat/parmacs/machines.hpp"

#include <tulle/c/place.h>
#include <tulle/detail/remote.hpp>

#include <cstdlib>
#include <cstring>

namespace tulle::parmacs {

bool is_on_this_machine(int place) noexcept { return detail::shares_memory_with(place); }

void look_at_machines() noexcept {
    for (int p = 0; p < tulle_place_count(); ++p)
        s_spans_machines = s_spans_machines || !is_on_this_machine(p);
}

bool has_private_copies() noexcept {
    char const* const chosen = std::getenv("TULLE_COHERENT"); // NOLINT(concurrency-mt-unsafe)
    return chosen != nullptr && std::strcmp(chosen, "private") == 0;
}

bool may_have_more_places() noexcept {
    char const* const group = std::getenv("TULLE_GLOBAL_GROUP"); // NOLINT(concurrency-mt-unsafe)
    bool const is_one_group = group == nullptr || std::strcmp(group, "all") == 0;
    return !spans_machines() && !has_private_copies() && is_one_group &&
           tulle_memory_place_count() == 0;
}

} // namespace tulle::parmacs
