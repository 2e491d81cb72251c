// SPDX-License-Identifier: Apache-2.0
#include "explore.hpp"

#include "command.hpp"

#include <cstdio>
#include <cstdlib>

#include <unistd.h>

namespace tulle::tool {

namespace {

// One line that is written over on a terminal; elsewhere a line for each tenth.
class exploration_progress {
public:
    explicit exploration_progress(exploration const& e) : m_first(e.first_seed), m_count(e.count) {}

    void show(std::uint64_t done) const {
        if (m_terminal)
            std::fprintf(stderr, "\rtulle: seed %llu, %llu of %llu passed ", number(m_first + done),
                         number(done), number(m_count));
        else if (done != 0 && m_count >= 10 && done % (m_count / 10) == 0)
            std::fprintf(stderr, "tulle: %llu of %llu seeds passed\n", number(done),
                         number(m_count));
    }
    void end() const {
        if (m_terminal) std::fputs("\r\033[K", stderr);
    }

private:
    static unsigned long long number(std::uint64_t n) { return n; }

    std::uint64_t m_first;
    std::uint64_t m_count;
    bool m_terminal = isatty(STDERR_FILENO) != 0;
};

std::string as_command(arguments const& words) {
    std::string line;
    for (std::string const& word : words) line += (line.empty() ? "" : " ") + quoted(word);
    return line;
}

void report(exploration const& e, std::uint64_t seed, outcome const& failed) {
    std::string const text = std::to_string(seed);
    std::fprintf(stderr, "tulle: seed %s failed: %s\n", text.c_str(), failed.reason().c_str());
    std::fprintf(stderr, "--- its output%s\n", failed.output.empty() ? ": none" : "");
    static_cast<void>(std::fwrite(failed.output.data(), 1, failed.output.size(), stderr));
    bool const ends_line = failed.output.empty() || failed.output.back() == '\n';
    std::fprintf(stderr, "%s--- to repeat it:\ntulle run --seed %s %s-- %s\n",
                 ends_line ? "" : "\n", text.c_str(), e.options.c_str(),
                 as_command(e.words).c_str());
}

} // namespace

std::string quoted(std::string const& word) {
    constexpr char const* k_plain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%^";
    if (!word.empty() && word.find_first_not_of(k_plain) == std::string::npos) return word;
    std::string result = "'";
    for (char const letter : word)
        result += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
    return result + "'";
}

int explore(exploration const& e) {
    limits limit{e.limit};
    limit.merge = true;
    exploration_progress const shown(e);
    for (std::uint64_t done = 0; done < e.count; ++done) {
        shown.show(done);
        std::uint64_t const seed = e.first_seed + done;
        setenv("TULLE_SEED", std::to_string(seed).c_str(), 1);
        outcome const result = capture(e.words, limit);
        if (result.ok()) continue;
        shown.end();
        report(e, seed, result);
        return k_exit_failed;
    }
    shown.end();
    std::fprintf(stderr, "tulle: seeds %llu to %llu passed\n",
                 static_cast<unsigned long long>(e.first_seed),
                 static_cast<unsigned long long>(e.first_seed + e.count - 1));
    return 0;
}

} // namespace tulle::tool
