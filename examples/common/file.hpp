// SPDX-License-Identifier: Apache-2.0
//
// A file descriptor that closes itself; reads and writes that are whole or throw std::runtime_error
// with its name.
#pragma once

#include <cstddef>
#include <string>

namespace examples {

class file {
public:
    file() = default;
    file(std::string name, int flags); // open(2); throws
    file(std::string name, int descriptor, bool owned) noexcept;
    ~file();
    file(file&& other) noexcept;
    file& operator=(file&& other) noexcept;

    [[nodiscard]] int descriptor() const { return m_descriptor; }
    [[nodiscard]] std::string const& name() const { return m_name; }

    // Bytes read: less than length only at the end of the file.
    std::size_t read(char* data, std::size_t length);
    std::size_t read_at(char* data, std::size_t length, std::size_t offset) const;

    // What one read(2) gives; 0 at the end of the file.
    std::size_t read_some(char* data, std::size_t length) const;

    void write(char const* data, std::size_t length);
    void write_at(char const* data, std::size_t length, std::size_t offset) const;

    // Throws the error in errno, as "what 'name': reason".
    [[noreturn]] void fail(char const* what) const;

private:
    std::string m_name;
    int m_descriptor = -1;
    bool m_owned = false;
};

// True when both files have the same bytes; throws when one cannot be read.
[[nodiscard]] bool same_content(std::string const& a, std::string const& b);

// A directory for temporary files that goes away with all that is in it.
class temporary_directory {
public:
    temporary_directory();
    ~temporary_directory();
    temporary_directory(temporary_directory const&) = delete;
    temporary_directory& operator=(temporary_directory const&) = delete;

    [[nodiscard]] std::string path(std::string const& name) const { return m_path + "/" + name; }

private:
    std::string m_path;
};

} // namespace examples
