// SPDX-License-Identifier: Apache-2.0
// The operations on full/empty words, as the library's functions take them.
#pragma once

#include <cstdint>

namespace tulle::detail {

// The first group waits until the word is full, the second until it is empty, the third for
// nothing.
enum class feb_operation : std::uint8_t {
    read_ff,
    read_fe,
    write_ff,
    write_ef,
    write_f,
    fill,
    empty,
    purge
};

} // namespace tulle::detail
