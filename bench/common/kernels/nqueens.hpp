// SPDX-License-Identifier: Apache-2.0
//
// N queens: counts the ways to place n queens on an n x n board so that none attacks another.
// One bit per column; the two diagonals are masks that shift by one from row to row.
// The policy is described in fib.hpp. Counts: OEIS A000170.
#pragma once

#include <cstdint>

namespace kernels {

struct nqueens_board {
    std::uint32_t all;     // one bit per column of the board
    std::uint32_t columns; // columns taken
    std::uint32_t left;    // squares of this row attacked along one diagonal
    std::uint32_t right;   // ... and along the other
    int rows;              // rows still empty

    [[nodiscard]] std::uint32_t free_squares() const { return all & ~(columns | left | right); }

    [[nodiscard]] nqueens_board place(std::uint32_t square) const {
        return {all, columns | square, (left | square) << 1U, (right | square) >> 1U, rows - 1};
    }
};

inline nqueens_board nqueens_empty(int n) {
    return {(1U << static_cast<unsigned>(n)) - 1U, 0, 0, 0, n};
}

inline std::uint64_t nqueens_serial(nqueens_board const& board) {
    if (board.rows == 0) return 1;
    std::uint64_t count = 0;
    for (std::uint32_t squares = board.free_squares(); squares != 0; squares &= squares - 1)
        count += nqueens_serial(board.place(squares & (0U - squares)));
    return count;
}

template <class ForkJoin> std::uint64_t nqueens(nqueens_board const& board, int serial_rows);

// Tries the given squares of the next row: the lowest one beside all the others.
template <class ForkJoin>
std::uint64_t nqueens_row(nqueens_board const& board, std::uint32_t squares, int serial_rows) {
    std::uint32_t const first = squares & (0U - squares);
    std::uint32_t const rest = squares ^ first;
    if (rest == 0) return nqueens<ForkJoin>(board.place(first), serial_rows);
    auto const [a, b] = ForkJoin::invoke(
        [&board, first, serial_rows] { return nqueens<ForkJoin>(board.place(first), serial_rows); },
        [&board, rest, serial_rows] { return nqueens_row<ForkJoin>(board, rest, serial_rows); });
    return a + b;
}

// Forks for each square, until serial_rows rows are left: those are counted without forking.
template <class ForkJoin> std::uint64_t nqueens(nqueens_board const& board, int serial_rows) {
    if (board.rows <= serial_rows) return nqueens_serial(board);
    std::uint32_t const squares = board.free_squares();
    return squares == 0 ? 0 : nqueens_row<ForkJoin>(board, squares, serial_rows);
}

inline constexpr int k_nqueens_max = 18;

// The published count, for the check. 1 <= n <= k_nqueens_max.
inline std::uint64_t nqueens_expected(int n) {
    constexpr std::uint64_t k_counts[k_nqueens_max + 1] = {
        1,   1,    0,     0,     2,      10,      4,        40,       92,       352,
        724, 2680, 14200, 73712, 365596, 2279184, 14772512, 95815104, 666090624};
    return k_counts[n];
}

} // namespace kernels
