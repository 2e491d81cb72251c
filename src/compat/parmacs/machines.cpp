// SPDX-License-Identifier: Apache-2.0
#include "compat/parmacs/machines.hpp"

#include <tulle/c/place.h>
#include <tulle/detail/remote.hpp>

#include <cstdlib>
#include <cstring>

namespace tulle::parmacs {

bool is_on_this_machine(int place) noexcept { return detail::shares_memory_with(place); }

int first_place_here() noexcept {
    int place = 0;
    while (!is_on_this_machine(place)) ++place;
    return place;
}

void look_at_machines() noexcept {
    for (int p = 0; p < tulle_place_count(); ++p)
        s_spans_machines = s_spans_machines || !is_on_this_machine(p);
}

namespace {

// Also before the run time starts.
bool is_chosen(char const* option, char const* value, bool otherwise) noexcept {
    char const* const chosen = ::secure_getenv(option); // NOLINT(concurrency-mt-unsafe)
    return chosen != nullptr ? std::strcmp(chosen, value) == 0 : otherwise;
}

} // namespace

bool has_private_copies() noexcept {
    return is_chosen("TULLE_COHERENT", "private", false) || has_copies_by_pages();
}
bool has_copies_by_pages() noexcept { return is_chosen("TULLE_COHERENT", "pages", false); }

bool may_have_more_places() noexcept {
    bool const is_one_group = is_chosen("TULLE_GLOBAL_GROUP", "all", true);
    bool const all_run_threads = is_chosen("TULLE_MEMORY_PLACES", "0", true);
    return !spans_machines() && !has_private_copies() && is_one_group && all_run_threads;
}

} // namespace tulle::parmacs
