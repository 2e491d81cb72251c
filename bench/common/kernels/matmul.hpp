// SPDX-License-Identifier: Apache-2.0
//
// Cache-oblivious matrix multiply, C += A * B, row-major doubles: halve the longest of the three
// dimensions until a block fits a leaf. Halves of the rows or columns of C run side by side; halves
// of the inner dimension run one after the other.
// Source: Frigo et al., "Cache-Oblivious Algorithms", FOCS 1999, doi:10.1109/SFFCS.1999.814600.
// The policy is described in fib.hpp. Deviation: halves are rounded to multiples of eight, so that
// only the last block of a dimension needs the kernel's ragged edge.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstring>
#include <vector>

namespace kernels {

inline constexpr int k_matmul_leaf = 64;

// One product of blocks: c[rows x columns] += a[rows x inner] * b[inner x columns], all with the
// same row stride.
struct matmul_block {
    double const* a;
    double const* b;
    double* c;
    std::ptrdiff_t stride;
    int rows;
    int columns;
    int inner;
};

// Two doubles in a vector register, on every architecture that has such.
using double_pair [[gnu::vector_size(16)]] = double;

inline double_pair load_pair(double const* p) {
    double_pair v;
    std::memcpy(&v, p, sizeof v);
    return v;
}

inline void add_pair(double* p, double_pair v) {
    v += load_pair(p);
    std::memcpy(p, &v, sizeof v);
}

// 4 x 4 elements of C in registers over the whole inner dimension of the leaf.
inline void matmul_tile(double const* a, double const* b, double* c, std::ptrdiff_t stride,
                        int inner) {
    double_pair sum[4][2] = {};
    for (int k = 0; k < inner; ++k, b += stride) {
        double_pair const low = load_pair(b);
        double_pair const high = load_pair(b + 2);
        for (int i = 0; i < 4; ++i) {
            double const x = a[i * stride + k];
            sum[i][0] += x * low;
            sum[i][1] += x * high;
        }
    }
    for (int i = 0; i < 4; ++i) {
        add_pair(c + i * stride, sum[i][0]);
        add_pair(c + i * stride + 2, sum[i][1]);
    }
}

// What the tiles leave over: any rows and columns, in any order of sums.
inline void matmul_edge(matmul_block const& m, int row, int column) {
    for (int i = row; i < m.rows; ++i)
        for (int k = 0; k < m.inner; ++k)
            for (int j = column; j < m.columns; ++j)
                m.c[i * m.stride + j] += m.a[i * m.stride + k] * m.b[k * m.stride + j];
}

inline void matmul_leaf(matmul_block const& m) {
    int const rows = m.rows & ~3;
    int const columns = m.columns & ~3;
    for (int j = 0; j < columns; j += 4)
        for (int i = 0; i < rows; i += 4)
            matmul_tile(m.a + i * m.stride, m.b + j, m.c + i * m.stride + j, m.stride, m.inner);
    if (columns < m.columns) {
        matmul_block upper = m;
        upper.rows = rows;
        matmul_edge(upper, 0, columns);
    }
    if (rows < m.rows) matmul_edge(m, rows, 0);
}

inline int matmul_half(int n) { return (n / 2 + 7) & ~7; }

inline matmul_block matmul_rows(matmul_block m, int first, int count) {
    m.a += first * m.stride;
    m.c += first * m.stride;
    m.rows = count;
    return m;
}

inline matmul_block matmul_columns(matmul_block m, int first, int count) {
    m.b += first;
    m.c += first;
    m.columns = count;
    return m;
}

inline matmul_block matmul_inner(matmul_block m, int first, int count) {
    m.a += first;
    m.b += first * m.stride;
    m.inner = count;
    return m;
}

template <class ForkJoin> void matmul(matmul_block const& m, int leaf = k_matmul_leaf);

template <class ForkJoin> void matmul_both(matmul_block const& x, matmul_block const& y, int leaf) {
    ForkJoin::invoke([&x, leaf] { matmul<ForkJoin>(x, leaf); },
                     [&y, leaf] { matmul<ForkJoin>(y, leaf); });
}

// leaf >= 16: the longest side of a block that is not split further.
template <class ForkJoin> void matmul(matmul_block const& m, int leaf) {
    if (m.rows <= leaf && m.columns <= leaf && m.inner <= leaf) return matmul_leaf(m);
    if (m.rows >= m.columns && m.rows >= m.inner) {
        int const half = matmul_half(m.rows);
        matmul_both<ForkJoin>(matmul_rows(m, 0, half), matmul_rows(m, half, m.rows - half), leaf);
    } else if (m.columns >= m.inner) {
        int const half = matmul_half(m.columns);
        matmul_both<ForkJoin>(matmul_columns(m, 0, half), matmul_columns(m, half, m.columns - half),
                              leaf);
    } else {
        int const half = matmul_half(m.inner);
        matmul<ForkJoin>(matmul_inner(m, 0, half), leaf);
        matmul<ForkJoin>(matmul_inner(m, half, m.inner - half), leaf);
    }
}

// A square problem with inputs that are the same for every library, small integers over 16: exact
// in a double.
struct matmul_problem {
    int n;
    std::vector<double> a;
    std::vector<double> b;
    std::vector<double> c;

    explicit matmul_problem(int size) : n(size), a(count()), b(count()), c(count()) {
        for (std::size_t i = 0; i < count(); ++i) {
            a[i] = static_cast<double>((i * 7 + i / 13) % 31) / 16 - 1;
            b[i] = static_cast<double>((i * 5 + i / 11) % 29) / 16 - 1;
        }
    }

    [[nodiscard]] std::size_t count() const {
        return static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
    }
    [[nodiscard]] matmul_block whole() { return {a.data(), b.data(), c.data(), n, n, n, n}; }
    void clear() { c.assign(count(), 0.0); }
};

inline std::vector<double> matmul_times_vector(std::vector<double> const& m,
                                               std::vector<double> const& x) {
    std::vector<double> y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i)
        for (std::size_t j = 0; j < x.size(); ++j) y[i] += m[i * x.size() + j] * x[j];
    return y;
}

// Freivalds' check: C x == A (B x) for a vector x of varied small integers. All sums are exact
// while n <= 2^20.
inline bool matmul_check(matmul_problem const& p) {
    std::vector<double> x(static_cast<std::size_t>(p.n));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>((i * i + 3 * i) % 17) - 8;
    return matmul_times_vector(p.c, x) == matmul_times_vector(p.a, matmul_times_vector(p.b, x));
}

} // namespace kernels
