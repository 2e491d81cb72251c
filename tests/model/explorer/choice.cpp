// SPDX-License-Identifier: Apache-2.0
#include "choice.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace tulle::model {

namespace {

constexpr std::string_view k_digits = "0123456789abcdefghijklmnopqrstuvwxyz";

void append_zeros(std::string& out, std::size_t count) {
    out += count > 3 ? "-" + std::to_string(count) + "-" : std::string(count, '0');
}

// Reads "-k-" from its first dash on; returns the position after it.
std::size_t decode_run(std::string_view token, std::size_t at, choices& out) {
    std::size_t const end = std::min(token.find('-', at + 1), token.size());
    std::size_t count = 0;
    std::from_chars(token.data() + at + 1, token.data() + end, count);
    out.insert(out.end(), count, 0);
    return end + 1;
}

} // namespace

std::string encode(choices const& taken) {
    std::string out;
    std::size_t zeros = 0;
    for (std::uint8_t const c : taken) {
        if (c == 0) {
            ++zeros;
            continue;
        }
        append_zeros(out, std::exchange(zeros, 0));
        out += k_digits[c];
    }
    return out.empty() ? "0" : out;
}

choices decode(std::string_view token) {
    choices out;
    for (std::size_t at = 0; at < token.size();) {
        if (token[at] == '-') {
            at = decode_run(token, at, out);
        } else {
            out.push_back(static_cast<std::uint8_t>(
                std::min(k_digits.find(token[at++]), k_digits.size() - 1)));
        }
    }
    return out;
}

std::size_t depth_first::decide(std::size_t alternatives) {
    if (m_depth == m_path.size()) m_path.push_back({0, static_cast<std::uint8_t>(alternatives)});
    if (m_path[m_depth].alternatives != alternatives) {
        std::fprintf(stderr,
                     "tulle model: choice %zu had %d alternatives and has %zu now; make the test "
                     "body deterministic\n",
                     m_depth, m_path[m_depth].alternatives, alternatives);
        std::abort();
    }
    return m_path[m_depth++].taken;
}

bool depth_first::advance() {
    m_depth = 0;
    while (!m_path.empty() && m_path.back().taken + 1 == m_path.back().alternatives)
        m_path.pop_back();
    if (m_path.empty()) return false;
    ++m_path.back().taken;
    return true;
}

std::uint64_t random_source::next() noexcept {
    m_state += 0x9e3779b97f4a7c15U;
    std::uint64_t z = m_state;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
}

by_chance::by_chance(std::uint64_t seed, std::size_t horizon)
    : m_random(seed),
      m_by_priority(m_random.below(2) == 0),
      m_switch_in(std::size_t{2} << m_random.below(4)),
      m_stale_of_4(m_random.below(4)) {
    for (std::size_t i = 0; i < k_max_threads; ++i) {
        m_priority[i] = static_cast<int>(i) + 1;
        std::swap(m_priority[i], m_priority[m_random.below(i + 1)]);
    }
    std::size_t const falls = m_random.below(4);
    for (std::size_t i = 0; i < falls; ++i) m_falls.push_back(m_random.below(horizon));
}

std::size_t by_chance::leader(std::span<thread_index const> candidates) const noexcept {
    auto const lower = [this](thread_index a, thread_index b) {
        return m_priority[a] < m_priority[b];
    };
    return static_cast<std::size_t>(std::max_element(candidates.begin(), candidates.end(), lower) -
                                    candidates.begin());
}

std::size_t by_chance::choose_thread(std::span<thread_index const> candidates, bool may_stay) {
    if (!m_by_priority)
        return may_stay && m_random.below(m_switch_in) != 0 ? 0 : m_random.below(candidates.size());
    bool const falls = std::find(m_falls.begin(), m_falls.end(), m_made++) != m_falls.end();
    if (falls) gave_way(candidates[leader(candidates)]);
    return leader(candidates);
}

std::size_t by_chance::choose_value(std::size_t alternatives) {
    if (m_random.below(4) >= m_stale_of_4) return 0;
    return 1 + m_random.below(alternatives - 1);
}

std::size_t replayed::next(std::size_t alternatives) {
    if (m_position == m_choices.size()) return 0;
    return std::min<std::size_t>(m_choices[m_position++], alternatives - 1);
}

} // namespace tulle::model
