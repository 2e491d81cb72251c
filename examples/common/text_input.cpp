// SPDX-License-Identifier: Apache-2.0
#include "text_input.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>

namespace examples {

namespace {

constexpr std::size_t k_piece = std::size_t{1} << 20U;

} // namespace

text_input::text_input(std::vector<std::string> const& names) {
    for (std::string const& name : names) {
        m_sources.push_back(open_source(name));
        m_bytes += m_sources.back().size;
    }
}

text_input::source text_input::open_source(std::string const& name) {
    source s{name == "-" ? file("standard input", STDIN_FILENO, false) : file(name, O_RDONLY),
             {},
             0,
             false};
    struct stat status {};
    if (fstat(s.from.descriptor(), &status) != 0) s.from.fail("cannot read");
    if (S_ISDIR(status.st_mode)) {
        errno = EISDIR;
        s.from.fail("cannot read");
    }
    s.is_stream = name == "-" || !S_ISREG(status.st_mode);
    s.size = static_cast<std::size_t>(status.st_size);
    if (s.is_stream) read_stream(s);
    return s;
}

void text_input::read_stream(source& s) {
    s.content = huge_buffer(64 * k_piece);
    s.size = 0;
    for (;;) {
        std::size_t const room = s.content.size() - s.size;
        std::size_t const n = s.from.read(s.content.data() + s.size, room);
        s.size += n;
        if (n < room) return;
        s.content.grow(2 * s.content.size());
    }
}

std::vector<text_input::piece> text_input::pieces() const {
    std::vector<piece> all;
    std::size_t position = 0;
    for (std::size_t i = 0; i < m_sources.size(); ++i) {
        std::size_t const size = m_sources[i].size;
        for (std::size_t offset = 0; offset < size; offset += k_piece) {
            std::size_t const length = std::min(k_piece, size - offset);
            all.push_back(
                {i, offset, length, position + offset, offset == 0, offset + length == size});
        }
        position += size + 1;
    }
    return all;
}

void text_input::read(piece const& p, char* memory) const {
    source const& s = m_sources[p.source];
    if (s.is_stream)
        std::memcpy(memory + p.position, s.content.data() + p.offset, p.length);
    else if (s.from.read_at(memory + p.position, p.length, p.offset) != p.length)
        throw std::runtime_error("'" + s.from.name() + "' became shorter while it was read");
}

} // namespace examples
