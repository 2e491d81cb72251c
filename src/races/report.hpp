// SPDX-License-Identifier: Apache-2.0
// Says on standard error which two accesses are a race: where in the program they are, and what
// lies there.
#pragma once

#include "races/cell.hpp"
#include "races/shared_notes.hpp"

#include <cstdint>

namespace tulle::races {

enum class mistake : std::uint8_t {
    race,         // nothing orders the two
    own_variable, // one stores, and the other loads a variable of its own
};
struct finding {
    mistake what;
    cell own;
    cell other;
    std::uint64_t word; // the address of the eight bytes
};

void tell(finding const& found, notes& all) noexcept;
// Private memory to which a pointer leads that is stored there. It is no mistake if no other
// process follows it, and does not count.
void tell_pointer(cell own, std::uint64_t word, std::uint64_t pointer, notes& all) noexcept;
// How many there were, and what of them was told.
void tell_end(notes const& all) noexcept;

} // namespace tulle::races
