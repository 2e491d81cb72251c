// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

extern "C" {
void tulle_copy_line(void* to, void const* from);
void tulle_fill_line(void* to, std::uint64_t word); // with 8 of these
}
