// SPDX-License-Identifier: Apache-2.0
// noise: what the system takes from a program that computes. Each worker does n quanta of work,
// always the same, and takes the time of each; without noise all take the least time.
//   % of the time lost     to what is not the work
//   us, longest quantum
//   quanta, above F        how many take more than F times the least, a curve over F
// `tulle`: a worker on each of so many processors. `tulle_kept`: on one fewer, which is kept for
// everything else (TULLE_RESERVE_CPU=1).
// Source: the fixed work quantum; Ye and others, "TiNy Threads on BlueGene/P" (2009), section 1:
// one core of four is kept for the operating system.
#pragma once

#include "../common/cycles.hpp"
#include "../common/harness.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tulle::bench {

// The work: a chain of dependent steps, whose result is known.
inline std::uint64_t quantum_of_work(std::uint64_t x) {
    constexpr int k_steps = 1000;
    for (int k = 0; k < k_steps; ++k) {
        x = x * 6364136223846793005U + 1442695040888963407U;
        keep(x);
    }
    return x;
}

struct quanta {
    std::vector<std::uint64_t> cycles{};
    bool right = true; // the work has been done
};

template <class Work> quanta do_quanta(long n, Work work) {
    quanta done;
    done.cycles.resize(static_cast<std::size_t>(n));
    std::uint64_t const expected = quantum_of_work(1);
    std::uint64_t last = cycles();
    for (std::uint64_t& taken : done.cycles) {
        done.right &= work(1) == expected;
        std::uint64_t const now = cycles();
        taken = now - last;
        last = now;
    }
    return done;
}

// Factors of the least time; the last stands for all above.
inline constexpr std::array k_noise_factors{1.1, 1.25, 1.5, 2.0, 4.0, 16.0, 64.0, 256.0, 1024.0};

class noise_figures {
public:
    explicit noise_figures(double ns_per_cycle) : m_ns(ns_per_cycle) {
        for (double const factor : k_noise_factors)
            m_counts.push_back(
                figure{"quanta, above " + factor_text(factor), {"", "times the least", factor}});
    }

    void add(std::vector<quanta> const& of_workers) {
        std::vector<std::uint64_t> all;
        bool right = !of_workers.empty();
        for (quanta const& q : of_workers) {
            all.insert(all.end(), q.cycles.begin(), q.cycles.end());
            right = right && q.right;
        }
        auto const least = static_cast<double>(*std::min_element(all.begin(), all.end()));
        double sum = 0;
        for (std::uint64_t const c : all) sum += static_cast<double>(c);
        m_lost.add(100 * (1 - least * static_cast<double>(all.size()) / sum), right);
        m_longest.add(1e-3 * m_ns * static_cast<double>(*std::max_element(all.begin(), all.end())),
                      right);
        for (std::size_t k = 0; k < k_noise_factors.size(); ++k)
            m_counts[k].add(static_cast<double>(std::count_if(
                                all.begin(), all.end(),
                                [limit = least * k_noise_factors[k]](std::uint64_t c) {
                                    return static_cast<double>(c) > limit;
                                })),
                            right);
    }
    [[nodiscard]] std::vector<figure> all() const {
        std::vector<figure> figures{m_lost, m_longest};
        figures.insert(figures.end(), m_counts.begin(), m_counts.end());
        return figures;
    }

private:
    static std::string factor_text(double factor) {
        std::string text = std::to_string(factor);
        text.erase(text.find_last_not_of('0') + 1);
        return text.ends_with('.') ? text.substr(0, text.size() - 1) : text;
    }

    double m_ns;
    figure m_lost{"% of the time lost"};
    figure m_longest{"us, longest quantum"};
    std::vector<figure> m_counts{}; // of quanta that take longer
};

// work(n): what each of those that work has done.
template <class Work> int noise_main(settings const& s, char const* name, Work work) {
    noise_figures figures(nanoseconds_per_cycle());
    for (int run = 0; run < s.runs; ++run) figures.add(work(s.n));
    return print_all("noise", name, s, figures.all());
}

inline settings noise_settings(int argc, char** argv) {
    return parse(argc, argv, {200'000, 20'000});
}

} // namespace tulle::bench
