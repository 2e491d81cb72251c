// SPDX-License-Identifier: Apache-2.0
#include "line_matcher.hpp"

#include <cstring>
#include <stdexcept>
#include <utility>

#if defined(TULLE_HAVE_RE2)
#include <re2/re2.h>
#endif

namespace examples {

namespace {

// Position after the line that `position` is in.
std::size_t next_line(std::string_view lines, std::size_t position) {
    void const* const newline = std::memchr(lines.data() + position, '\n', lines.size() - position);
    if (newline == nullptr) return lines.size();
    return static_cast<std::size_t>(static_cast<char const*>(newline) - lines.data()) + 1;
}

class every_line final : public line_matcher {
public:
    [[nodiscard]] std::size_t count(std::string_view lines) const override {
        std::size_t n = 0;
        for (std::size_t at = 0; at < lines.size(); at = next_line(lines, at)) ++n;
        return n;
    }
};

// How common a byte is in text and source: the higher, the more often it would stop the search in
// vain.
int commonness(unsigned char byte) {
    static constexpr std::string_view k_frequent = "zqjxkvbywgpfmucdlhrsinoate ";
    auto const rank = k_frequent.find(static_cast<char>(byte));
    if (rank != std::string_view::npos) return 100 + static_cast<int>(rank);
    if (byte == '_' || byte == '-' || byte == '.' || byte == '/' || byte == '*' || byte == '<' ||
        byte == '>')
        return 110;
    if (byte >= '0' && byte <= '9') return 105;
    if (byte >= 'A' && byte <= 'Z') return 90;
    return byte == 0 ? 120 : 50;
}

// Looks for the rarest byte of the text with memchr, which uses what vector instructions there are,
// then at what surrounds it.
class fixed_string final : public line_matcher {
public:
    explicit fixed_string(std::string text) : m_text(std::move(text)) {
        for (std::size_t i = 1; i < m_text.size(); ++i)
            if (commonness(byte(i)) < commonness(byte(m_rarest))) m_rarest = i;
    }

    [[nodiscard]] std::size_t count(std::string_view lines) const override {
        std::size_t n = 0;
        for (std::size_t at = find(lines, 0); at != std::string_view::npos; ++n)
            at = find(lines, next_line(lines, at));
        return n;
    }

private:
    [[nodiscard]] unsigned char byte(std::size_t i) const {
        return static_cast<unsigned char>(m_text[i]);
    }

    [[nodiscard]] std::size_t find(std::string_view in, std::size_t from) const {
        std::size_t const behind = m_text.size() - m_rarest; // bytes from the rarest one to the end
        for (;;) {
            if (in.size() - from < m_text.size()) return std::string_view::npos;
            std::size_t const end = in.size() - behind + 1; // of where the rarest byte may be
            void const* const hit =
                std::memchr(in.data() + from + m_rarest, byte(m_rarest), end - from - m_rarest);
            if (hit == nullptr) return std::string_view::npos;
            from = static_cast<std::size_t>(static_cast<char const*>(hit) - in.data()) - m_rarest;
            if (std::memcmp(in.data() + from, m_text.data(), m_text.size()) == 0) return from;
            ++from;
        }
    }

    std::string m_text;
    std::size_t m_rarest = 0; // index of the byte that is looked for first
};

#if defined(TULLE_HAVE_RE2)
class expression final : public line_matcher {
public:
    explicit expression(std::string const& text) : m_compiled(text, options()) {
        if (!m_compiled.ok())
            throw std::runtime_error("bad expression '" + text + "': " + m_compiled.error());
    }

    [[nodiscard]] std::size_t count(std::string_view lines) const override {
        re2::StringPiece const all(lines.data(), lines.size());
        re2::StringPiece match;
        std::size_t n = 0;
        for (std::size_t at = 0; at < lines.size(); ++n) {
            if (!m_compiled.Match(all, at, all.size(), RE2::UNANCHORED, &match, 1)) break;
            auto const found = static_cast<std::size_t>(match.data() - lines.data());
            // The empty text behind the last line is no line.
            if (found == lines.size() && lines.back() == '\n') break;
            at = next_line(lines, found);
        }
        return n;
    }

private:
    static RE2::Options options() {
        RE2::Options options(RE2::Latin1);
        options.set_posix_syntax(true);
        options.set_perl_classes(true);
        options.set_word_boundary(true);
        options.set_never_nl(true); // a match stays within its line
        options.set_log_errors(false);
        return options;
    }

    RE2 m_compiled;
};
#endif

} // namespace

std::unique_ptr<line_matcher> match_fixed(std::string const& text) {
    if (text.find('\n') != std::string::npos)
        throw std::runtime_error("the pattern must not contain a newline");
    if (text.empty()) return std::make_unique<every_line>();
    return std::make_unique<fixed_string>(text);
}

std::unique_ptr<line_matcher> match_expression(std::string const& text) {
    if (text.find('\n') != std::string::npos)
        throw std::runtime_error("the pattern must not contain a newline");
#if defined(TULLE_HAVE_RE2)
    return std::make_unique<expression>(text);
#else
    throw std::runtime_error("-E is missing: this program was built without the library RE2");
#endif
}

} // namespace examples
