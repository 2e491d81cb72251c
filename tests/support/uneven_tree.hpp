// SPDX-License-Identifier: Apache-2.0
//
// A tree whose depth and breadth only its own numbers tell: a node is a number, from which those of
// its children follow.
#pragma once

#include <cstdint>

inline std::uint64_t next_of(std::uint64_t node, unsigned k) {
    return (node ^ (k * 0x9E3779B97F4A7C15U)) * 0xD1342543DE82EF95U + 1;
}

inline unsigned children_of(std::uint64_t node, int depth) {
    // The stack of a thread is small, above all with AddressSanitizer.
    constexpr int k_deepest = 40;
    if (depth < 3) return 4;
    return depth < k_deepest ? static_cast<unsigned>((node >> 60U) % 3) : 0;
}

inline long count_serially(std::uint64_t node, int depth) {
    long nodes = 1;
    for (unsigned k = 0; k < children_of(node, depth); ++k)
        nodes += count_serially(next_of(node, k), depth + 1);
    return nodes;
}
