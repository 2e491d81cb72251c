// SPDX-License-Identifier: Apache-2.0
//
// Conjugate gradients on a chimney of nx x ny x nz points, as the HPCCG miniapp of the Mantevo
// project defines the problem: each point is coupled to its 26 neighbours, 27 on the diagonal of
// the matrix and -1 beside it; right-hand side such that the solution is 1 everywhere;
// start at 0; no preconditioner; up to 149 iterations. https://github.com/Mantevo/HPCCG
// Loops is a policy: each(count, body) calls body(0) .. body(count - 1), possibly in parallel, and
// returns when all have returned.
// Deviations: a dot product is summed block by block, and then over the blocks in their order, so
// that every policy gives the same bits on any number of workers; the last digits differ from one
// long sum. And it stops when the residual is 0, where the miniapp divides by it.
// Several processes may have a slab of the chimney each: then Others has what they need of each
// other, exchange(faces) and sum(value).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace kernels {

inline constexpr int k_hpccg_iterations = 149;
inline constexpr std::size_t k_hpccg_block = 4096; // rows

struct hpccg_domain {
    int nx;
    int ny;
    int nz;

    [[nodiscard]] double rows() const { return double{1} * nx * ny * nz; }
    // A point has three neighbours along a side, itself included, or two at an end; the only one of
    // a side of 1 has one.
    [[nodiscard]] double entries() const {
        return (3.0 * nx - 2) * (3.0 * ny - 2) * (3.0 * nz - 2);
    }
    // Of memory: an entry is a double and a column of 32 bits; a row has its start and an element
    // of each of five vectors.
    [[nodiscard]] double bytes() const { return 12 * entries() + (8 + 5 * 8) * rows(); }
    [[nodiscard]] bool columns_fit() const {
        return rows() <= std::numeric_limits<std::int32_t>::max();
    }
};

// Any fork-join policy (fib.hpp) as loops: halves the range until one block is left.
template <class ForkJoin> struct fork_join_loops {
    template <class Body> static void each(std::size_t count, Body const& body) {
        if (count != 0) halve(0, count, body);
    }

private:
    template <class Body> static void halve(std::size_t low, std::size_t high, Body const& body) {
        if (high - low == 1) return body(low);
        std::size_t const middle = low + (high - low) / 2;
        ForkJoin::invoke([&body, middle, high] { halve(middle, high, body); },
                         [&body, low, middle] { halve(low, middle, body); });
    }
};

// --- one block of rows; not inlined, so that all policies run the same instructions --------------

struct hpccg_range {
    std::size_t low;
    std::size_t high;
};

struct hpccg_matrix {
    std::unique_ptr<double[]> values;
    std::unique_ptr<std::int32_t[]> columns;
    std::unique_ptr<std::size_t[]> starts; // of the entries of each row, and the end of the last
};

// Position of a point along one side of n: how many points around it there are, and how many there
// are around all before it.
struct hpccg_place {
    int low;
    int high;
    std::size_t before;

    hpccg_place(int i, int n)
        : low(i == 0 ? 0 : -1),
          high(i == n - 1 ? 0 : 1),
          before(i == 0 ? 0 : 3 * static_cast<std::size_t>(i) - 1) {}
    [[nodiscard]] std::size_t width() const { return static_cast<std::size_t>(high - low + 1); }
};

// The rows of the matrix, and of b = A 1.
[[gnu::noinline]] inline void hpccg_fill(hpccg_domain const& d, hpccg_matrix& m, double* b,
                                         hpccg_range rows) {
    auto const all_of = [](int n) { return 3 * static_cast<std::size_t>(n) - 2; };
    for (std::size_t row = rows.low; row < rows.high; ++row) {
        auto const line = static_cast<std::int32_t>(row / static_cast<std::size_t>(d.nx));
        hpccg_place const x(static_cast<int>(row % static_cast<std::size_t>(d.nx)), d.nx);
        hpccg_place const y(line % d.ny, d.ny);
        hpccg_place const z(line / d.ny, d.nz);
        std::size_t at = (z.before * all_of(d.ny) + z.width() * y.before) * all_of(d.nx) +
                         z.width() * y.width() * x.before;
        m.starts[row] = at;
        for (int dz = z.low; dz <= z.high; ++dz)
            for (int dy = y.low; dy <= y.high; ++dy)
                for (int dx = x.low; dx <= x.high; ++dx, ++at) {
                    m.values[at] = dx == 0 && dy == 0 && dz == 0 ? 27.0 : -1.0;
                    m.columns[at] = static_cast<std::int32_t>(row) + (dz * d.ny + dy) * d.nx + dx;
                }
        b[row] = 27.0 - static_cast<double>(at - m.starts[row] - 1);
    }
}

// y = A x
[[gnu::noinline]] inline void hpccg_multiply(hpccg_matrix const& m, double const* x, double* y,
                                             hpccg_range rows) {
    for (std::size_t row = rows.low; row < rows.high; ++row) {
        double sum = 0;
        for (std::size_t k = m.starts[row]; k < m.starts[row + 1]; ++k)
            sum += m.values[k] * x[m.columns[k]];
        y[row] = sum;
    }
}

[[nodiscard, gnu::noinline]] inline double hpccg_dot(double const* x, double const* y,
                                                     hpccg_range rows) {
    double sum = 0;
    for (std::size_t row = rows.low; row < rows.high; ++row) sum += x[row] * y[row];
    return sum;
}

// w = x + b y
[[gnu::noinline]] inline void hpccg_add(double const* x, double b, double const* y, double* w,
                                        hpccg_range rows) {
    for (std::size_t row = rows.low; row < rows.high; ++row) w[row] = x[row] + b * y[row];
}

// --- who has what --------------------------------------------------------------------------------

// Planes low .. high - 1 of the chimney. Its vectors have room for the planes beside these, too, if
// there are any: copies of the neighbours' own.
struct hpccg_slab {
    hpccg_domain whole;
    int low;
    int high;

    [[nodiscard]] std::size_t plane() const {
        return static_cast<std::size_t>(whole.nx) * static_cast<std::size_t>(whole.ny);
    }
    [[nodiscard]] bool has_below() const { return low > 0; }
    [[nodiscard]] bool has_above() const { return high < whole.nz; }
    // The rows of its own planes are those of this domain, whatever lies farther away.
    [[nodiscard]] hpccg_domain domain() const {
        return {whole.nx, whole.ny,
                high - low + static_cast<int>(has_below()) + static_cast<int>(has_above())};
    }
    [[nodiscard]] hpccg_range rows() const {
        std::size_t const first = has_below() ? plane() : 0;
        return {first, first + static_cast<std::size_t>(high - low) * plane()};
    }
};

// Planes of a vector: the outer one of one's own, and the room for the neighbour's. Size 0: nobody
// is there.
struct hpccg_face {
    double const* own;
    double* theirs;
    std::size_t size;
};
struct hpccg_faces {
    hpccg_face below;
    hpccg_face above;
};

// Who has everything.
struct hpccg_alone {
    static void exchange(hpccg_faces const& /*none*/) {}
    [[nodiscard]] static double sum(double value) { return value; }
};

// The sum of what all have; `work` goes on meanwhile where others.begin_sum(value) gives something
// to wait for: get().
template <class Others, class Work>
double hpccg_sum_while(Others const& others, double value, Work const& work) {
    if constexpr (requires { others.begin_sum(value).get(); }) {
        auto under_way = others.begin_sum(value);
        work();
        return under_way.get();
    } else {
        double const sum = others.sum(value);
        work();
        return sum;
    }
}

// --- the problem ---------------------------------------------------------------------------------

// The matrix is made once, for any number of solutions. Throws std::bad_alloc. The functions are
// called by all who have a slab, in the same order.
class hpccg_problem {
public:
    // columns_fit() must hold.
    explicit hpccg_problem(hpccg_domain const& d) : hpccg_problem(hpccg_slab{d, 0, d.nz}) {}
    explicit hpccg_problem(hpccg_slab const& slab)
        : m_slab(slab),
          m_domain(slab.domain()),
          m_rows(slab.rows()),
          m_partial((m_rows.high - m_rows.low + k_hpccg_block - 1) / k_hpccg_block) {
        auto const entries = static_cast<std::size_t>(m_domain.entries());
        auto const rows = static_cast<std::size_t>(m_domain.rows());
        m_matrix.values = std::make_unique_for_overwrite<double[]>(entries);
        m_matrix.columns = std::make_unique_for_overwrite<std::int32_t[]>(entries);
        m_matrix.starts = std::make_unique_for_overwrite<std::size_t[]>(rows + 1);
        m_matrix.starts[rows] = entries;
        for (auto* const v : {&m_x, &m_b, &m_r, &m_p, &m_q})
            *v = std::make_unique_for_overwrite<double[]>(rows);
    }

    template <class Loops> void fill() {
        each_block<Loops>([this](std::size_t, hpccg_range rows) {
            hpccg_fill(m_domain, m_matrix, m_b.get(), rows);
        });
        // The end of the last own row is the start of one that others have.
        if (m_slab.has_above())
            hpccg_fill(m_domain, m_matrix, m_b.get(), {m_rows.high, m_rows.high + 1});
    }

    // The residuals: at the start, and then at each iteration before its step, so that the first
    // two are the same.
    template <class Loops, class Others = hpccg_alone>
    std::vector<double> solve(int iterations = k_hpccg_iterations, Others const& others = {}) {
        each_block<Loops>([this](std::size_t, hpccg_range rows) {
            for (std::size_t row = rows.low; row < rows.high; ++row) m_x[row] = m_p[row] = 0;
        });
        multiply<Loops>(m_p, m_q, others);
        add<Loops>(m_b, -1, m_q, m_r);
        double rr = dot<Loops>(m_r, m_r, others);
        std::vector<double> residuals{std::sqrt(rr)};
        double beta = 0;
        for (int k = 1; k <= iterations && residuals.back() > 0; ++k) {
            residuals.push_back(std::sqrt(rr));
            double const before = rr;
            if (rr > 0) rr = step<Loops>(rr, beta, others);
            beta = rr / before;
        }
        return residuals;
    }

    // Of a solution, from what is known without it. The eigenvalues of the matrix lie between 27 -
    // 26 and 27 + 26 (Gershgorin), so that iteration k has a residual of at most 2 sqrt(53)
    // ((sqrt(53) - 1) / (sqrt(53) + 1))^(k - 1) times the first one, and no error is greater than
    // the residual b - A x; which is also kept up to date step by step, and must be the same but
    // for rounding.
    template <class Others = hpccg_alone>
    [[nodiscard]] bool check(std::vector<double> const& residuals, Others const& others = {}) {
        double const root = std::sqrt(53.0);
        double const rounding = 1e-12 * residuals.front();
        for (std::size_t k = 1; k < residuals.size(); ++k) {
            double const bound = 2 * root *
                                 std::pow((root - 1) / (root + 1), static_cast<double>(k - 1)) *
                                 residuals.front();
            if (!(residuals[k] <= bound + rounding)) return false;
        }
        double const kept = std::sqrt(others.sum(hpccg_dot(m_r.get(), m_r.get(), m_rows)));
        others.exchange(faces_of(m_x));
        hpccg_multiply(m_matrix, m_x.get(), m_q.get(), m_rows);
        hpccg_add(m_b.get(), -1, m_q.get(), m_q.get(), m_rows);
        double const real = std::sqrt(others.sum(hpccg_dot(m_q.get(), m_q.get(), m_rows)));
        return std::abs(real - kept) <= rounding && error() <= real + 1e-13;
    }

    // The greatest difference from the solution.
    [[nodiscard]] double error() const {
        double greatest = 0;
        for (std::size_t row = m_rows.low; row < m_rows.high; ++row)
            greatest = std::max(greatest, std::abs(m_x[row] - 1));
        return greatest;
    }

private:
    using vector = std::unique_ptr<double[]>;

    template <class Loops, class Body> void each_block(Body const& body) {
        Loops::each(m_partial.size(), [this, &body](std::size_t block) {
            std::size_t const low = m_rows.low + block * k_hpccg_block;
            body(block, hpccg_range{low, std::min(low + k_hpccg_block, m_rows.high)});
        });
    }
    [[nodiscard]] hpccg_faces faces_of(vector const& x) const {
        std::size_t const size = m_slab.plane();
        double* const low = x.get() + m_rows.low;
        double* const high = x.get() + m_rows.high;
        return {m_slab.has_below() ? hpccg_face{low, low - size, size} : hpccg_face{},
                m_slab.has_above() ? hpccg_face{high - size, high, size} : hpccg_face{}};
    }
    template <class Loops, class Others>
    void multiply(vector const& x, vector& y, Others const& others) {
        others.exchange(faces_of(x));
        each_block<Loops>([&](std::size_t, hpccg_range rows) {
            hpccg_multiply(m_matrix, x.get(), y.get(), rows);
        });
    }
    template <class Loops> void add(vector const& x, double b, vector const& y, vector& w) {
        each_block<Loops>(
            [&](std::size_t, hpccg_range rows) { hpccg_add(x.get(), b, y.get(), w.get(), rows); });
    }
    template <class Loops> double own_dot(vector const& x, vector const& y) {
        each_block<Loops>([&](std::size_t block, hpccg_range rows) {
            m_partial[block] = hpccg_dot(x.get(), y.get(), rows);
        });
        double sum = 0;
        for (double const part : m_partial) sum += part;
        return sum;
    }
    template <class Loops, class Others>
    double dot(vector const& x, vector const& y, Others const& others) {
        return others.sum(own_dot<Loops>(x, y));
    }
    // A new direction p = r + beta p, and a step along it. Returns the new r r, which nothing of
    // the solution x needs.
    template <class Loops, class Others> double step(double rr, double beta, Others const& others) {
        add<Loops>(m_r, beta, m_p, m_p);
        multiply<Loops>(m_p, m_q, others);
        double const alpha = rr / dot<Loops>(m_p, m_q, others);
        add<Loops>(m_r, -alpha, m_q, m_r);
        return hpccg_sum_while(others, own_dot<Loops>(m_r, m_r),
                               [&] { add<Loops>(m_x, alpha, m_p, m_x); });
    }

    hpccg_slab m_slab;
    hpccg_domain m_domain; // of the slab and its neighbours' planes
    hpccg_range m_rows;    // its own
    hpccg_matrix m_matrix;
    // solution, right-hand side, residual, direction, A times direction
    vector m_x, m_b, m_r, m_p, m_q;
    std::vector<double> m_partial; // a sum for each block
};

} // namespace kernels
