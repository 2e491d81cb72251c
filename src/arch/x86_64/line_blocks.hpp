// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {
void tulle_copy_lines(void* to, void const* from, std::size_t lines);
int tulle_copy_differing_lines(void* to, void const* from, void const* twin, std::size_t lines);
void tulle_fill_line(void* to, std::uint64_t word);
}
