// SPDX-License-Identifier: Apache-2.0
// A rectangle in square blocks. Those on one diagonal need only values of the diagonal before: a
// loop over the blocks of each. Of a block only the values at its upper and right edge are kept.
#include "compat/qthread/library/arguments.hpp"

#include <qthread/wavefront.h>

#include <tulle/parallel_for.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

using tulle::compat::is_object;

namespace {

constexpr std::size_t k_most_in_block = 256; // rows, columns

using line_of_values = std::vector<std::byte>;

} // namespace

// Lines of values at the edges of blocks. Row line r lies above the blocks of row r - 1, line 0 is
// the lower edge; each has the value at the left edge, and one for each column. Column line c lies
// right of the blocks of column c - 1, line 0 is the left edge.
struct qt_wavefront_lattice_s {
    std::size_t unit;
    std::size_t rows, columns; // of computed values
    std::size_t block_rows, block_columns;
    std::vector<line_of_values> row_lines;
    std::vector<line_of_values> column_lines;

    qt_wavefront_lattice_s(qarray const& left, qarray const& below)
        : unit(left.unit_size),
          rows(left.count),
          columns(below.count - 1),
          block_rows(std::min(k_most_in_block, left.segment_size)),
          block_columns(std::min(k_most_in_block, below.segment_size)),
          row_lines((rows + block_rows - 1) / block_rows + 1, line_of_values((columns + 1) * unit)),
          column_lines((columns + block_columns - 1) / block_columns + 1,
                       line_of_values(rows * unit)) {
        for (std::size_t i = 0; i != rows; ++i)
            std::memcpy(side(0, i), qarray_elem_nomigrate(&left, i), unit);
        for (std::size_t i = 0; i != below.count; ++i)
            std::memcpy(row_lines[0].data() + i * unit, qarray_elem_nomigrate(&below, i), unit);
        for (std::size_t r = 1; r != row_lines.size(); ++r) // the values at the left edge
            std::memcpy(row_lines[r].data(), side(0, std::min(r * block_rows, rows) - 1), unit);
    }
    [[nodiscard]] std::size_t blocks_up() const noexcept { return row_lines.size() - 1; }
    [[nodiscard]] std::size_t blocks_across() const noexcept { return column_lines.size() - 1; }
    // Of column `column` on row line `line`; column 0 is the first that is computed.
    [[nodiscard]] std::byte* top(std::size_t line, std::size_t column) noexcept {
        return row_lines[line].data() + (column + 1) * unit;
    }
    [[nodiscard]] std::byte* side(std::size_t line, std::size_t row) noexcept {
        return column_lines[line].data() + row * unit;
    }
};

namespace {

using lattice = qt_wavefront_lattice_s;

// Computes block (r, c) column by column. The last column goes straight to the column line, the
// others to `columns`, in turn.
class block_run {
public:
    block_run(lattice& l, std::size_t r, std::size_t c)
        : m_lattice(l),
          m_line(r),
          m_side(c),
          m_first_row(r * l.block_rows),
          m_rows(std::min(l.block_rows, l.rows - m_first_row)),
          m_first_column(c * l.block_columns),
          m_columns(std::min(l.block_columns, l.columns - m_first_column)),
          m_scratch(2 * m_rows * l.unit) {}

    void run(wave_comp_f func) {
        std::byte const* left = m_lattice.side(m_side, m_first_row);
        for (std::size_t k = 0; k != m_columns; ++k) {
            std::byte* const out = k + 1 == m_columns ? m_lattice.side(m_side + 1, m_first_row)
                                                      : m_scratch.data() + k % 2 * m_rows * unit();
            run_column(func, left, m_first_column + k, out);
            std::memcpy(m_lattice.top(m_line + 1, m_first_column + k), out + (m_rows - 1) * unit(),
                        unit());
            left = out;
        }
    }

private:
    [[nodiscard]] std::size_t unit() const noexcept { return m_lattice.unit; }
    void run_column(wave_comp_f func, std::byte const* left, std::size_t column, std::byte* out) {
        std::byte const* const below = m_lattice.top(m_line, column);
        func(left, below - unit(), below, out);
        for (std::size_t i = 1; i != m_rows; ++i)
            func(left + i * unit(), left + (i - 1) * unit(), out + (i - 1) * unit(),
                 out + i * unit());
    }

    lattice& m_lattice;
    std::size_t m_line, m_side;
    std::size_t m_first_row, m_rows;
    std::size_t m_first_column, m_columns;
    line_of_values m_scratch;
};

void run_diagonal(lattice& l, std::size_t diagonal, wave_comp_f func) {
    std::size_t const first = diagonal < l.blocks_across() ? 0 : diagonal - l.blocks_across() + 1;
    std::size_t const end = std::min(diagonal + 1, l.blocks_up());
    tulle::parallel_for(
        first, end, [&](std::size_t r) { block_run(l, r, diagonal - r).run(func); },
        tulle::schedule::dynamic());
}

void print_line(line_of_values const& line, std::size_t count) {
    for (std::size_t i = 0; i != count; ++i) {
        double value = 0;
        std::memcpy(&value, line.data() + i * sizeof value, sizeof value);
        std::printf("%9.3f ", value);
    }
    std::printf("\n");
}

} // namespace

qt_wavefront_lattice* qt_wavefront(qarray* restrict const left, qarray* restrict const below,
                                   wave_comp_f func) try {
    if (!is_object(left) || !is_object(below) || func == nullptr) return nullptr;
    if (below->count < 2 || left->unit_size != below->unit_size) return nullptr;
    auto l = std::make_unique<lattice>(*left, *below);
    for (std::size_t d = 0; d != l->blocks_up() + l->blocks_across() - 1; ++d)
        run_diagonal(*l, d, func);
    return l.release();
} catch (std::bad_alloc const&) {
    return nullptr;
}

void qt_wavefront_print_lattice(qt_wavefront_lattice const* const L) {
    if (!is_object(L) || L->unit != sizeof(double)) return;
    for (std::size_t r = L->row_lines.size(); r-- != 0;) {
        std::printf("row line %zu: ", r);
        print_line(L->row_lines[r], L->columns + 1);
    }
    for (std::size_t c = 0; c != L->column_lines.size(); ++c) {
        std::printf("column line %zu: ", c);
        print_line(L->column_lines[c], L->rows);
    }
}

void qt_wavefront_destroy_lattice(qt_wavefront_lattice* const L) {
    if (is_object(L)) delete L;
}

void qt_basic_wavefront(int* restrict const* const R, size_t cols, size_t rows, wave_comp_f func) {
    if (!is_object(const_cast<int* const*>(R)) || func == nullptr) return;
    for (std::size_t c = 1; c < cols; ++c)
        for (std::size_t r = 1; r < rows; ++r)
            func(&R[c - 1][r], &R[c - 1][r - 1], &R[c][r - 1], &R[c][r]);
}
