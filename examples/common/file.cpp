// SPDX-License-Identifier: Apache-2.0
#include "file.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace examples {

namespace {

// Calls transfer(done) until length bytes are done or it returns 0.
template <class Transfer> std::size_t transfer_all(std::size_t length, Transfer const& transfer) {
    std::size_t done = 0;
    while (done < length) {
        ssize_t const n = transfer(done);
        if (n == 0) break;
        if (n > 0) done += static_cast<std::size_t>(n);
    }
    return done;
}

// A failed call that is to be tried again counts as nothing done; any other is thrown.
ssize_t or_throw(ssize_t n, file const& f, char const* what) {
    if (n < 0 && errno != EINTR) f.fail(what);
    return n;
}

} // namespace

file::file(std::string name, int flags)
    : m_name(std::move(name)),
      m_descriptor(open(m_name.c_str(), flags | O_CLOEXEC, 0666)),
      m_owned(true) {
    if (m_descriptor < 0) fail("cannot open");
}

file::file(std::string name, int descriptor, bool owned) noexcept
    : m_name(std::move(name)), m_descriptor(descriptor), m_owned(owned) {}

file::~file() {
    if (m_owned && m_descriptor >= 0) close(m_descriptor);
}

file::file(file&& other) noexcept
    : m_name(std::move(other.m_name)),
      m_descriptor(std::exchange(other.m_descriptor, -1)),
      m_owned(other.m_owned) {}

file& file::operator=(file&& other) noexcept {
    std::swap(m_name, other.m_name);
    std::swap(m_descriptor, other.m_descriptor);
    std::swap(m_owned, other.m_owned);
    return *this;
}

std::size_t file::read(char* data, std::size_t length) {
    return transfer_all(length, [&](std::size_t done) {
        return or_throw(::read(m_descriptor, data + done, length - done), *this, "cannot read");
    });
}

std::size_t file::read_at(char* data, std::size_t length, std::size_t offset) const {
    return transfer_all(length, [&](std::size_t done) {
        auto const position = static_cast<off_t>(offset + done);
        return or_throw(pread(m_descriptor, data + done, length - done, position), *this,
                        "cannot read");
    });
}

std::size_t file::read_some(char* data, std::size_t length) const {
    ssize_t n = -1;
    while (n < 0) n = or_throw(::read(m_descriptor, data, length), *this, "cannot read");
    return static_cast<std::size_t>(n);
}

void file::write(char const* data, std::size_t length) {
    transfer_all(length, [&](std::size_t done) {
        return or_throw(::write(m_descriptor, data + done, length - done), *this, "cannot write");
    });
}

void file::write_at(char const* data, std::size_t length, std::size_t offset) const {
    transfer_all(length, [&](std::size_t done) {
        auto const position = static_cast<off_t>(offset + done);
        return or_throw(pwrite(m_descriptor, data + done, length - done, position), *this,
                        "cannot write");
    });
}

void file::fail(char const* what) const {
    throw std::runtime_error(std::string(what) + " '" + m_name +
                             "': " + std::generic_category().message(errno));
}

bool same_content(std::string const& a, std::string const& b) {
    constexpr std::size_t k_piece = std::size_t{1} << 20U;
    file x(a, O_RDONLY);
    file y(b, O_RDONLY);
    std::vector<char> left(k_piece);
    std::vector<char> right(k_piece);
    for (;;) {
        std::size_t const n = x.read(left.data(), k_piece);
        if (y.read(right.data(), k_piece) != n || std::memcmp(left.data(), right.data(), n) != 0)
            return false;
        if (n < k_piece) return true;
    }
}

temporary_directory::temporary_directory() {
    m_path = (std::filesystem::temp_directory_path() / "tulle-XXXXXX").string();
    if (mkdtemp(m_path.data()) == nullptr)
        throw std::system_error(errno, std::generic_category(), m_path);
}

temporary_directory::~temporary_directory() {
    std::error_code ignored; // nothing to be done about it in a destructor
    std::filesystem::remove_all(m_path, ignored);
}

} // namespace examples
