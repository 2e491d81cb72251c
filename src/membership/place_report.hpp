// SPDX-License-Identifier: Apache-2.0
// What a place tells `tulle run` that has started it for an MPI
// (tools/tulle/places/job_place.cpp): a byte for each piece of news, in a pipe that
// TULLE_REPORT=DESCRIPTOR/INODE names. Without `tulle run` nobody is told.
#pragma once

namespace tulle::membership {

enum class place_news : char {
    joined = 'j',       // others wait for this place from now on
    others_go_on = 'g', // without it, if it dies
    left = 'l',         // it ends as it should
    // Another host has not been heard, so this place ends, and what has started it may not notice.
    host_is_lost = 's'
};

// Any OS thread may call it.
void report(place_news news) noexcept;

} // namespace tulle::membership
