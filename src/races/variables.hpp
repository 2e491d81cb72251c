// SPDX-License-Identifier: Apache-2.0
// Names of variables of the program, as its symbols have them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tulle::races {

struct variable {
    std::string name;
    std::uint64_t address;
    std::uint64_t bytes;
};
// Of the running program, which lies where it was linked to. None: it has none there, or no
// symbols. std::bad_alloc.
[[nodiscard]] std::optional<variable> find_variable(std::uint64_t address);

} // namespace tulle::races
