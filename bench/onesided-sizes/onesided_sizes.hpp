// SPDX-License-Identifier: Apache-2.0
// onesided-sizes: bytes copied from memory of a place, and to it, while that has nothing to do (an
// MPI looks for requests then). Figures: ns
//   read, write here, there: by their number; figure 3 of Ye and others, "TiNy Threads on
//   BlueGene/P" (2009) read, write all: 1 KiB of each of some places, by the number of these, the
//   caller's first; its figure 4
// n: how often the smallest.
#pragma once

#include "../common/harness.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tulle::bench {

inline constexpr std::array<std::size_t, 7> k_copied_sizes{8,     64,     512,    4096,
                                                           32768, 262144, 1048576};
inline constexpr std::size_t k_largest = k_copied_sizes.back(); // so much does each place have
inline constexpr std::size_t k_of_each = 1024;
inline constexpr sizes k_sizes_counts{200'000, 5'000, 10};

// Room for bytes whose offset in their page is not that of what is copied: some processors are slow
// at copying between equal ones.
class skewed_bytes {
public:
    skewed_bytes(std::size_t size, unsigned char value) : m_all(size + 2 * k_page, value) {}
    [[nodiscard]] unsigned char* data() {
        auto const offset = reinterpret_cast<std::uintptr_t>(m_all.data()) % k_page;
        return m_all.data() + (k_page - offset) + k_page / 4;
    }

private:
    static constexpr std::size_t k_page = 4096;
    std::vector<unsigned char> m_all;
};

// `Memory` has read(place, to, bytes) and write(place, from, bytes).
template <class Memory> class size_measurement {
public:
    size_measurement(Memory& memory, settings const& s) : m_memory(memory), m_settings(s) {}

    std::vector<figure> measure() {
        for (int const place : {0, 1})
            for (std::size_t const bytes : k_copied_sizes) measure_size(place, bytes);
        for (int places = 1; places <= m_settings.places; ++places) measure_all(places);
        return std::move(m_figures);
    }

private:
    void measure_size(int place, std::size_t bytes) {
        std::string const where = place == 0 ? "here" : "there";
        long const n = std::max(10L, m_settings.n / (1 + static_cast<long>(bytes / 512)));
        auto const at = static_cast<double>(bytes);
        add("write", where, {"write " + where, "bytes", at}, bytes_text(bytes), n,
            [&] { m_memory.write(place, m_ones.data(), bytes); });
        add("read", where, {"read " + where, "bytes", at}, bytes_text(bytes), n,
            [&] { m_memory.read(place, m_bytes.data(), bytes); });
        judge_last_two(has_ones(bytes));
    }

    void measure_all(int places) {
        auto const at = static_cast<double>(places);
        std::string const of = "of " + std::to_string(places);
        add("write", "all", {"write all", "places", at}, of, m_settings.n / 10, [&] {
            for (int p = 0; p < places; ++p) m_memory.write(p, m_ones.data(), k_of_each);
        });
        add("read", "all", {"read all", "places", at}, of, m_settings.n / 10, [&] {
            for (int p = 0; p < places; ++p)
                m_memory.read(p, m_bytes.data() + static_cast<std::size_t>(p) * k_of_each,
                              k_of_each);
        });
        judge_last_two(has_ones(static_cast<std::size_t>(places) * k_of_each));
    }

    // What was written is right if what was read after it is.
    void judge_last_two(bool right) {
        for (std::size_t k = m_figures.size() - 2; k < m_figures.size(); ++k)
            m_figures[k].ok = right;
    }

    // What was read, and clears it.
    bool has_ones(std::size_t bytes) {
        unsigned char* const begin = m_bytes.data();
        bool const right = std::count(begin, begin + bytes, 1) == static_cast<long>(bytes);
        std::fill(begin, begin + bytes, 0);
        return right;
    }

    template <class F>
    void add(std::string const& what, std::string const& where, curve_point point,
             std::string const& rest, long n, F once) {
        figure cost{"ns " + what + " " + where + " " + rest, std::move(point)};
        for (int run = 0; run < m_settings.runs; ++run) {
            double const time = time_of([&] {
                for (long k = 0; k < n; ++k) once();
            });
            cost.add(1e9 * time / static_cast<double>(n), false); // until judge_last_two
        }
        m_figures.push_back(std::move(cost));
    }

    Memory& m_memory;
    settings const& m_settings;
    skewed_bytes m_ones{k_largest, 1};
    skewed_bytes m_bytes{std::max(k_largest, 1024 * k_of_each), 0};
    std::vector<figure> m_figures{};
};

} // namespace tulle::bench
