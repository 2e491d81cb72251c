// SPDX-License-Identifier: Apache-2.0
#include "places/job_words.hpp"

#include "tagged_output.hpp"
#include "watched_signals.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <optional>

#include <fcntl.h>
#include <sys/stat.h>

namespace tulle::tool {

namespace {

// A record separator, so that no program prints it by chance.
constexpr std::string_view k_begin = "\x1etulle-";
constexpr char k_end = '\n'; // launchers hold back what is no line yet
constexpr std::string_view k_part =
    // Of what a place has printed, its number and bytes, which follow; the last part of a text, of
    // the same size:
    "part:";
constexpr std::string_view k_last_part = "last:";
// So that a part is a packet of a pipe, and launchers read it at once.
constexpr std::size_t k_most_printed = 2000;
constexpr std::array<std::string_view, 4> k_names{"started:", "joined:", "apart:", "exit:"};

// Of what stands between the beginning and the end.
std::optional<job_word> parse(std::string_view text) {
    for (std::size_t k = 0; k < k_names.size(); ++k) {
        if (text.substr(0, k_names[k].size()) != k_names[k]) continue;
        job_word word{static_cast<job_news>(k), 0};
        text.remove_prefix(k_names[k].size());
        auto const [end, error] =
            std::from_chars(text.data(), text.data() + text.size(), word.number);
        if (error == std::errc() && end != text.data()) return word;
    }
    return std::nullopt;
}

} // namespace

std::string text_of(job_word word) {
    return std::string(k_begin) + std::string(k_names[static_cast<std::size_t>(word.what)]) +
           std::to_string(word.number) + k_end;
}

bool keep_writes_apart(int pipe) {
    int const flags = fcntl(pipe, F_GETFL);
    struct stat found {};
    return flags >= 0 && fstat(pipe, &found) == 0 && S_ISFIFO(found.st_mode) &&
           fcntl(pipe, F_SETFL, flags | O_DIRECT) == 0;
}

bool write_printed(int pipe, unsigned place, std::string_view text, watched_signals& signals) {
    while (!text.empty()) {
        std::size_t const size = std::min(text.size(), k_most_printed);
        bool const is_last = size == text.size();
        std::string part(k_begin);
        part.append(is_last ? k_last_part : k_part)
            .append(std::to_string(place))
            .append(":")
            .append(std::to_string(size));
        part.append(1, k_end).append(text.substr(0, size)).append(1, k_end);
        if (!write_all(pipe, part, &signals)) return false;
        text.remove_prefix(size);
    }
    return true;
}

// What m_rest begins with, up to the end of a line. True: it is complete, and taken.
bool job_words_reader::take_word() {
    std::size_t const end = m_rest.find(k_end);
    if (end == std::string::npos) return false;
    if (auto const word =
            parse(std::string_view(m_rest).substr(k_begin.size(), end - k_begin.size())))
        m_words.push_back(*word);
    m_rest.erase(0, end + 1);
    return true;
}

bool job_words_reader::take_printed() {
    std::size_t const begin = m_rest.find(k_end) + 1; // of the text; npos + 1 is 0
    if (begin == 0) return false;
    bool const is_last = m_rest.compare(k_begin.size(), k_last_part.size(), k_last_part) == 0;
    unsigned place = 0;
    std::size_t size = 0;
    if (std::sscanf(m_rest.c_str() + k_begin.size() + k_part.size(), "%u:%zu", &place, &size) != 2)
        return take_word(); // NOLINT(cert-err34-c)
    if (m_rest.size() < begin + size + 1) return false;
    std::string& whole = m_parts[place];
    whole.append(m_rest, begin, size);
    m_rest.erase(0, begin + size + 1);
    if (is_last) m_printed += std::exchange(whole, {});
    return true;
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
        bool const is_printed = m_rest.compare(compared, k_part.size(), k_part) == 0 ||
                                m_rest.compare(compared, k_last_part.size(), k_last_part) == 0;
        if (is_printed ? !take_printed() : !take_word()) return out;
    }
}

} // namespace tulle::tool
