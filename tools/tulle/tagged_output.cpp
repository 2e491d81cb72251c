// SPDX-License-Identifier: Apache-2.0
#include "tagged_output.hpp"

#include "watched_signals.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace tulle::tool {

namespace {

constexpr std::size_t k_most_at_once = PIPE_BUF; // a pipe with room takes it

bool is_read(int error) noexcept { return error != EPIPE && error != ECONNRESET; }

void say_lost(int to, int error) {
    static bool s_is_said = false;
    if (std::exchange(s_is_said, true)) return;
    std::fprintf(stderr, "tulle: run: cannot write to %s: %s\n",
                 to == STDERR_FILENO ? "standard error" : "standard output", std::strerror(error));
}

} // namespace

bool write_all(int to, std::string_view text, watched_signals* signals) {
    while (!text.empty()) {
        if (signals != nullptr && !signals->wait_for_room(to)) return true;
        std::size_t const size =
            signals != nullptr ? std::min(text.size(), k_most_at_once) : text.size();
        ssize_t const wrote = write(to, text.data(), size);
        if (wrote > 0) text.remove_prefix(static_cast<std::size_t>(wrote));
        if (wrote >= 0 || errno == EINTR) continue;
        if (errno != EAGAIN) {
            int const error = errno;
            if (is_read(error)) say_lost(to, error);
            return !is_read(error);
        }
        pollfd room{to, POLLOUT, 0};
        if (signals == nullptr) poll(&room, 1, -1);
    }
    return true;
}

tagging tagging_of(std::string_view word) noexcept {
    if (word == "all") return tagging::all;
    if (word == "lines") return tagging::lines;
    return word == "none" ? tagging::none : tagging::others;
}

char const* word_of(tagging whose) noexcept {
    if (whose == tagging::all) return "all";
    if (whose == tagging::lines) return "lines";
    return whose == tagging::none ? "none" : "others";
}

bool is_tagged(tagging whose, unsigned place) noexcept {
    return whose == tagging::all || (whose == tagging::others && place != 0);
}

bool has_whole_lines(tagging whose, unsigned place) noexcept {
    return is_tagged(whose, place) || (whose == tagging::lines && place != 0);
}

bool is_piped(tagging whose, unsigned place, int to) noexcept {
    return is_tagged(whose, place) || (whose != tagging::none && isatty(to) == 0);
}

std::string tag_of(unsigned place) { return "[" + std::to_string(place) + "] "; }

void descriptor::reset() noexcept {
    if (m_number >= 0) close(std::exchange(m_number, -1));
}

pipe_ends make_pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0)
        throw std::system_error(errno, std::generic_category(), "pipe");
    return {descriptor(ends[0]), descriptor(ends[1])};
}

void tagged_output::read_some() {
    std::array<char, 65536> buffer;
    ssize_t const got = read(m_from.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) return;
    if (got <= 0) return end();
    take({buffer.data(), static_cast<std::size_t>(got)});
}

void tagged_output::end() {
    if (!m_text.empty()) pass_on(m_tag + m_text + (m_is_whole ? "\n" : ""));
    m_text.clear();
    m_from.reset();
}

void tagged_output::pass_beginning() { pass_on(std::exchange(m_text, {})); }

// Who prints where nothing can be written is to hear of it.
void tagged_output::pass_on(std::string_view text) {
    if (m_is_lost || m_pass_on(text)) return;
    m_is_lost = true;
    m_from.reset();
}

void tagged_output::take(std::string_view got) {
    m_text.append(got);
    std::size_t const rest = got.size() - (got.rfind('\n') + 1); // npos + 1 is 0
    if (rest == got.size()) {
        if (m_text.size() > (m_is_whole ? k_most_of_whole_line : k_most_kept))
            pass_on(m_tag + std::exchange(m_text, {}) + (m_is_whole ? "\n" : ""));
        return;
    }
    std::size_t const lines = m_text.size() - rest;
    std::string out;
    for (std::size_t begin = 0, next = 0; begin < lines; begin = next) {
        next = m_text.find('\n', begin) + 1;
        out.append(m_tag).append(m_text, begin, next - begin);
    }
    m_text.erase(0, lines);
    pass_on(out);
}

} // namespace tulle::tool
