// SPDX-License-Identifier: Apache-2.0
// tnt-fft: Fourier transforms by a thread for each worker, which share their phases by a barrier;
// figure 2 of Ye and others, "TiNy Threads on BlueGene/P" (2009). Figures: us of a transform, by
// the number of samples. n: the largest one. Numbers of the result are compared with the sum that
// defines them.
#pragma once

#include "../common/harness.hpp"
#include "../common/kernels/fft.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace tulle::bench {

// What is shared by the threads of a transform: 0 .. threads - 1, a power of two of them, call
// transform_class; then, for each level in turn, after all have done the level before, join.
class fft_plan {
public:
    fft_plan(std::size_t n, std::size_t threads)
        : m_threads(threads), m_samples(n), m_result(n), m_roots(n / 2) {
        fft_make_roots(m_roots.data(), n, -1);
        std::uint64_t state = n;
        for (fft_number& x : m_samples) x = {next_random(state), next_random(state)};
    }

    [[nodiscard]] std::size_t threads() const { return m_threads; }
    [[nodiscard]] std::size_t levels() const {
        return static_cast<std::size_t>(std::countr_zero(m_threads));
    }
    [[nodiscard]] std::vector<fft_number>& samples() { return m_samples; }
    [[nodiscard]] std::vector<fft_number>& result() { return m_result; }

    void transform_class(std::size_t thread) {
        std::size_t const count = m_samples.size() / m_threads;
        fft_transform(m_result.data() + thread * count,
                      m_samples.data() + fft_reversed(thread, m_threads), count, m_threads,
                      m_roots.data(), m_threads);
    }
    // Each join of the level is shared by as many threads as it joins classes.
    void join(std::size_t level, std::size_t thread) {
        std::size_t const sharers = std::size_t{2} << level;
        std::size_t const count = m_samples.size() / m_threads * sharers;
        std::size_t const own = count / 2 / sharers;
        std::size_t const low = thread % sharers * own;
        fft_join(m_result.data() + thread / sharers * count, count, m_roots.data(),
                 m_samples.size() / count, low, low + own);
    }

    // Eight of the numbers, as each takes a sum over all samples.
    [[nodiscard]] bool is_right() const {
        std::size_t const n = m_samples.size();
        for (std::size_t k = 3 % n; k < n; k += n / 8 + 1)
            if (!(fft_distance(m_result[k], fft_by_definition(m_samples.data(), n, k)) <
                  1e-12 * static_cast<double>(n)))
                return false;
        return true;
    }

private:
    static double next_random(std::uint64_t& state) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        return static_cast<double>(state >> 11U) / 9007199254740992.0 - 0.5;
    }

    std::size_t m_threads;
    std::vector<fft_number> m_samples;
    std::vector<fft_number> m_result;
    std::vector<fft_number> m_roots;
};

constexpr sizes k_fft_sizes{1 << 20, 1 << 14, 1 << 10};

// transform(plan) fills the plan's result by as many threads as it says.
template <class Transform>
int fft_main(settings const& s, char const* library, Transform transform) {
    std::vector<figure> figures;
    for (long n = 1 << 10; n <= s.n; n *= 4) {
        figure cost{"us, " + std::to_string(n) + " samples",
                    {"", "samples", static_cast<double>(n)}};
        fft_plan plan(static_cast<std::size_t>(n),
                      std::bit_floor(static_cast<std::size_t>(s.workers)));
        long const times = std::max(1L, s.n / n);
        transform(plan);
        bool const right = plan.is_right();
        for (int run = 0; run < s.runs; ++run) {
            double const time = time_of([&] {
                for (long k = 0; k < times; ++k) transform(plan);
            });
            cost.add(1e6 * time / static_cast<double>(times), right && plan.is_right());
        }
        figures.push_back(cost);
    }
    return print_all("tnt-fft", library, s, figures);
}

} // namespace tulle::bench
