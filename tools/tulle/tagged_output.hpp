// SPDX-License-Identifier: Apache-2.0
// What a place prints, passed on line by line, behind the tag of the place if it has one. Otherwise
// the beginning of a line is passed on, too, when no more comes for a while.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace tulle::tool {

// Whose lines begin with "[place] "; others: all but those of place 0; lines: nobody's, but those
// of all but place 0 are only passed on as a whole.
enum class tagging { others, all, none, lines };

// Whatever is none of these: others.
[[nodiscard]] tagging tagging_of(std::string_view word) noexcept;
[[nodiscard]] char const* word_of(tagging whose) noexcept;
[[nodiscard]] bool is_tagged(tagging whose, unsigned place) noexcept;
// Also without a tag.
[[nodiscard]] bool has_whole_lines(tagging whose, unsigned place) noexcept;
[[nodiscard]] std::string tag_of(unsigned place);
// Whether what a place prints into `to` goes through a pipe: with a tag, or beside lines of others
// that must not get into its own. A terminal gets lines.
[[nodiscard]] bool is_piped(tagging whose, unsigned place, int to) noexcept;

// Closed when it ends.
class descriptor {
public:
    descriptor() noexcept = default;
    explicit descriptor(int number) noexcept : m_number(number) {}
    descriptor(descriptor&& other) noexcept : m_number(std::exchange(other.m_number, -1)) {}
    descriptor& operator=(descriptor&& other) noexcept {
        std::swap(m_number, other.m_number);
        return *this;
    }
    ~descriptor() { reset(); }
    void reset() noexcept;
    [[nodiscard]] int get() const noexcept { return m_number; }
    [[nodiscard]] bool is_open() const noexcept { return m_number >= 0; }

private:
    int m_number = -1;
};

struct pipe_ends {
    descriptor read{};
    descriptor write{};
};

// Programs do not inherit it. Throws std::system_error.
pipe_ends make_pipe();

class watched_signals;

// Waits where it must; gives up when nobody reads any more, or before a signal of these comes that
// ends this process. False: the text is lost for another reason, which has been said.
bool write_all(int to, std::string_view text, watched_signals* signals = nullptr);

class tagged_output {
public:
    using writer = std::function<bool(std::string_view)>; // false: the text is lost

    tagged_output(tagging whose, unsigned place, descriptor from, writer pass_on)
        : m_tag(is_tagged(whose, place) ? tag_of(place) : std::string()),
          m_is_whole(has_whole_lines(whose, place)),
          m_from(std::move(from)),
          m_pass_on(std::move(pass_on)) {}
    tagged_output(tagging whose, unsigned place, descriptor from, int to, watched_signals& signals)
        : tagged_output(whose, place, std::move(from), [to, &signals](std::string_view text) {
              return write_all(to, text, &signals);
          }) {}

    [[nodiscard]] int from() const noexcept { return m_from.get(); }
    [[nodiscard]] bool is_open() const noexcept { return m_from.is_open(); }
    // Some of it was lost, so the place cannot print any more.
    [[nodiscard]] bool is_lost() const noexcept { return m_is_lost; }
    void read_some(); // when there is something
    void end();       // a last line without an end gets one, if lines are whole
    // The beginning of a line that has no end yet, such as a question to the user, where lines need
    // not be whole.
    [[nodiscard]] bool has_beginning() const noexcept { return !m_is_whole && !m_text.empty(); }
    void pass_beginning();
    static constexpr int k_patience_with_lines_ms = 50; // then beginnings are passed on

private:
    // Of what is no line yet. Where lines are whole it becomes one.
    static constexpr std::size_t k_most_kept = std::size_t{1} << 20U;
    static constexpr std::size_t k_most_of_whole_line = std::size_t{64} << 20U;

    void take(std::string_view got);
    void pass_on(std::string_view text);

    std::string m_tag;
    bool m_is_whole;
    descriptor m_from;
    writer m_pass_on;
    std::string m_text; // of a line that is not complete
    bool m_is_lost = false;
};

} // namespace tulle::tool
