// SPDX-License-Identifier: Apache-2.0
// Lines of 64 bytes, at multiples of it, by the widest loads and stores that all processors of an
// architecture have; what they are loaded from or compared with lies at any multiple of 8. Others
// may write bytes of them meanwhile. Callers may hold values in vector registers, which are kept.
//
//   tulle_copy_lines(to, from, lines)
//   tulle_copy_differing_lines(to, from, twin, lines)   the bytes of `from` that the twin does not
//                                                       have, of 64 lines at most; returns a bit
//                                                       for each line that has any, bit 0 for the
//                                                       first one
//   tulle_copy_differing_lines_too(to, from, twin, lines)   the same, to the twin as well; each
//                                                       byte that goes to one goes to the other
//   tulle_stream_lines, tulle_stream_differing_lines    as those that copy, for much that nobody
//                                                       uses soon: whole lines are stored without
//                                                       being fetched into a cache first. `to` lies
//                                                       at a multiple of 64
//   tulle_end_streams()                                 what was streamed comes before what is
//                                                       stored behind this
//   tulle_fill_line(to, word)                           one line, with 8 of these
#pragma once

#include "arch/architecture.hpp"

#if __has_include(TULLE_ARCH_FILE(line_blocks.hpp))
#include TULLE_ARCH_FILE(line_blocks.hpp)
#else
#include "arch/line_words.hpp"

inline void tulle_copy_lines(void* to, void const* from, std::size_t lines) noexcept {
    tulle::arch::words::copy_lines(to, from, lines);
}
inline std::uint64_t tulle_copy_differing_lines(void* to, void const* from, void const* twin,
                                                std::size_t lines) noexcept {
    return tulle::arch::words::copy_differing_lines(to, from, twin, lines);
}
inline std::uint64_t tulle_copy_differing_lines_too(void* to, void const* from, void* twin,
                                                    std::size_t lines) noexcept {
    return tulle::arch::words::copy_differing_lines_too(to, from, twin, lines);
}
inline void tulle_stream_lines(void* to, void const* from, std::size_t lines) noexcept {
    tulle::arch::words::copy_lines(to, from, lines);
}
inline std::uint64_t tulle_stream_differing_lines(void* to, void const* from, void const* twin,
                                                  std::size_t lines) noexcept {
    return tulle::arch::words::copy_differing_lines(to, from, twin, lines);
}
inline void tulle_end_streams() noexcept {}
inline void tulle_fill_line(void* to, std::uint64_t word) noexcept {
    tulle::arch::words::fill_line(to, word);
}
#endif
