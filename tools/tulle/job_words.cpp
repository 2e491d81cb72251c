// SPDX-License-Identifier: Apache-2.0
#include "job_words.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace tulle::tool {

namespace {

constexpr std::string_view k_begin = "\x1etulle-"; // a record separator, so that no program prints it by chance
constexpr char k_end = '\n';                       // launchers hold back what is no line yet
constexpr std::array<std::string_view, 4> k_names{"started:", "joined:", "apart:", "exit:"};

// Of what stands between the beginning and the end.
std::optional<job_word> parse(std::string_view text) {
    for (std::size_t k = 0; k < k_names.size(); ++k) {
        if (text.substr(0, k_names[k].size()) != k_names[k]) continue;
        job_word word{static_cast<job_news>(k), 0};
        text.remove_prefix(k_names[k].size());
        auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), word.number);
        if (error == std::errc() && end != text.data()) return word;
    }
    return std::nullopt;
}

} // namespace

std::string text_of(job_word word) {
    return std::string(k_begin) + std::string(k_names[static_cast<std::size_t>(word.what)]) + std::to_string(word.number) + k_end;
}

std::string job_words_reader::take(std::string_view part) {
    std::string out;
    m_rest += part;
    for (;;) {
        std::size_t const begin = std::min(m_rest.find(k_begin.front()), m_rest.size());
        out.append(m_rest, 0, begin);
        m_rest.erase(0, begin);
        std::size_t const compared = std::min(m_rest.size(), k_begin.size());
        if (m_rest.compare(0, compared, k_begin, 0, compared) != 0) { // somebody else's character
            out += m_rest.front();
            m_rest.erase(0, 1);
            continue;
        }
        std::size_t const end = m_rest.find(k_end);
        if (end == std::string::npos) return out;
        if (auto const word = parse(std::string_view(m_rest).substr(k_begin.size(), end - k_begin.size()))) m_words.push_back(*word);
        m_rest.erase(0, end + 1);
    }
}

} // namespace tulle::tool
