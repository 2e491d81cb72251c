// SPDX-License-Identifier: Apache-2.0
#include "compat/parmacs/race_order.hpp"

#include "compat/parmacs/failure.hpp"
#include "compat/parmacs/machines.hpp"
#include "compat/program/program_data.hpp"
#include "compat/program/shared_variables.hpp"

#include <tulle/place.hpp>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace tulle::parmacs {

namespace {

races::invitation s_invitation; // of this process, for those that it has started

int join_here(races::invitation const& from) {
    int const error = races::join(from);
    s_invitation = from;
    s_looks_for_races = error == 0;
    return error;
}

} // namespace

void let_look_for_races(int place, char const* macro) {
    if (!s_looks_for_races || place == tulle_here()) return;
    int const error = at(
        tulle::place(place), [](races::invitation const& from) { return join_here(from); },
        s_invitation);
    if (error != 0)
        fail("%s: place %d cannot look for races: %s", macro, place, std::strerror(-error));
}

void begin_looking_for_races(int places, char const* macro) {
    if (!races::is_asked_for()) return;
    char const* const compiled = "the program was compiled with --scheme=races";
    if (spans_machines() || has_private_copies())
        fail("%s: %s, by which races are found where processes share memory itself, and here %s: "
             "start it on one host, without TULLE_COHERENT=private",
             macro, compiled, spans_machines() ? "they are on several hosts" : "each has a copy");
    int const error = races::begin(s_invitation);
    if (error == -EADDRNOTAVAIL)
        fail("%s: %s, which looks for races in memory at the usual address only: leave out "
             "TULLE_GLOBAL_LOW",
             macro, compiled);
    if (error == -EUSERS)
        fail("%s: %s, which knows %u processes at most: set TULLE_PARMACS_PROCESSES to that or "
             "less",
             macro, compiled, races::k_most_processes);
    if (error != 0)
        fail("%s: %s, and there is no memory for that: %s", macro, compiled, std::strerror(-error));
    s_looks_for_races = true;
    for (int place = 1; place < places; ++place) let_look_for_races(place, macro);
}

void watch_variables() noexcept {
    if (!s_looks_for_races) return;
    program::ranges const pages = program::program_data::of_process().pages();
    if (!pages.empty())
        races::watch_variables(pages.front().begin, pages.back().end, program::are_shared());
}

} // namespace tulle::parmacs
