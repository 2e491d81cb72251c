// SPDX-License-Identifier: Apache-2.0
// Says on standard error which two accesses are a race: where in the program they are, and what
// lies there.
#pragma once

#include "races/cell.hpp"
#include "races/shared_notes.hpp"

#include <cstdint>

namespace tulle::races {

struct data_race {
    cell own;
    cell other;
    std::uint64_t word; // the address of the eight bytes
};

void tell(data_race const& found, notes& all) noexcept;
// How many there were, and what of them was told.
void tell_end(notes const& all) noexcept;

} // namespace tulle::races
