// SPDX-License-Identifier: Apache-2.0
//
// Text files to be loaded into one stretch of memory, in pieces and in any order: each file at its
// own position, followed by one spare byte for the newline that its last line may lack. Pipes,
// terminals and "-" (the standard input) are read at once, since their length is not known before.
// read() may be called by many threads.
#pragma once

#include "file.hpp"
#include "huge_buffer.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace examples {

class text_input {
public:
    // Some bytes of one file, and where they belong in memory.
    struct piece {
        std::size_t source;
        std::size_t offset; // in the file
        std::size_t length;
        std::size_t position; // in memory
        bool first;           // of its file
        bool last;
    };

    explicit text_input(std::vector<std::string> const& names); // throws when a file cannot be read

    [[nodiscard]] std::size_t bytes() const { return m_bytes; } // of all files
    [[nodiscard]] std::size_t memory() const { return m_bytes + m_sources.size() + k_slack; }
    [[nodiscard]] std::vector<piece> pieces() const;

    // Loads a piece to its position; memory is the start of all.
    void read(piece const& p, char* memory) const;

    static constexpr std::size_t k_slack = 64; // zero bytes after the text that may be read

private:
    struct source {
        file from;
        huge_buffer content; // of a stream
        std::size_t size;
        bool is_stream;
    };

    static source open_source(std::string const& name);
    static void read_stream(source& s);

    std::vector<source> m_sources;
    std::size_t m_bytes = 0;
};

} // namespace examples
