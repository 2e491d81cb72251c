// SPDX-License-Identifier: Apache-2.0
//
// hpccg by several processes, each with a slab of the chimney. All call hpccg_by_parts at the same
// time; Others (hpccg.hpp) also has rank() and size().
#pragma once

#include "hpccg.hpp"

#include <algorithm>
#include <chrono>

namespace kernels {

// The planes of the chimney, dealt in the order of ranks; no slab is thicker than another by more
// than one. There are as many planes as ranks.
inline hpccg_slab hpccg_slab_of(hpccg_domain const& whole, int rank, int size) {
    auto const begin = [&](int r) { return whole.nz / size * r + std::min(r, whole.nz % size); };
    return {whole, begin(rank), begin(rank + 1)};
}

struct hpccg_outcome {
    std::vector<double> residuals{};
    std::vector<double> seconds{}; // of each solution
    std::vector<double> in_sums{}; // of these, waiting for sums of all
    double error = 0;              // of this slab
    bool right = true;             // of this slab

    template <class Archive> void serialize(Archive& archive) {
        archive(residuals, seconds, in_sums, error, right);
    }
};

// Adds up the time that is spent in sums, and in waiting for those that are under way.
template <class Others> class hpccg_timed_sums {
public:
    explicit hpccg_timed_sums(Others const& others) : m_others(others) {}

    void exchange(hpccg_faces const& faces) const { m_others.exchange(faces); }
    [[nodiscard]] double sum(double value) const {
        return timed([&] { return m_others.sum(value); });
    }
    [[nodiscard]] auto begin_sum(double value) const requires requires(Others const& o) {
        o.begin_sum(0.0).get();
    }
    { return timed_sum<decltype(m_others.begin_sum(value))>{m_others.begin_sum(value), this}; }
    [[nodiscard]] double seconds() const { return m_seconds; }

private:
    template <class Sum> struct timed_sum {
        Sum under_way;
        hpccg_timed_sums const* all;
        [[nodiscard]] double get() {
            return all->timed([this] { return under_way.get(); });
        }
    };
    template <class F> double timed(F f) const {
        using clock = std::chrono::steady_clock;
        clock::time_point const start = clock::now();
        double const result = f();
        m_seconds += std::chrono::duration<double>(clock::now() - start).count();
        return result;
    }

    Others const& m_others;
    mutable double m_seconds = 0;
};

template <class Loops, class Others>
hpccg_outcome hpccg_by_parts(hpccg_domain const& whole, int iterations, int solutions,
                             Others const& others) {
    using clock = std::chrono::steady_clock;
    hpccg_problem problem(hpccg_slab_of(whole, others.rank(), others.size()));
    problem.fill<Loops>();
    hpccg_outcome out;
    for (int k = 0; k < solutions; ++k) {
        static_cast<void>(others.sum(0)); // everybody is here
        clock::time_point const start = clock::now();
        hpccg_timed_sums const timed(others);
        out.residuals = problem.solve<Loops>(iterations, timed);
        out.seconds.push_back(std::chrono::duration<double>(clock::now() - start).count());
        out.in_sums.push_back(timed.seconds());
        out.right = problem.check(out.residuals, others) && out.right;
    }
    out.error = problem.error();
    return out;
}

} // namespace kernels
