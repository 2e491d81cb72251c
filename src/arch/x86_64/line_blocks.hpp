// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {
// Whether this processor, and the system, have registers of 64 bytes; 0 until the program begins.
[[gnu::visibility("hidden")]] extern unsigned char tulle_has_wide_lines;

void tulle_copy_lines(void* to, void const* from, std::size_t lines);
std::uint64_t tulle_copy_differing_lines(void* to, void const* from, void const* twin,
                                         std::size_t lines);
std::uint64_t tulle_copy_differing_lines_too(void* to, void const* from, void* twin,
                                             std::size_t lines);
void tulle_stream_lines(void* to, void const* from, std::size_t lines);
std::uint64_t tulle_stream_differing_lines(void* to, void const* from, void const* twin,
                                           std::size_t lines);
void tulle_fill_line(void* to, std::uint64_t word);
}

inline void tulle_end_streams() noexcept { asm volatile("sfence" ::: "memory"); }
