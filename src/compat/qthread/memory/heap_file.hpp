// SPDX-License-Identifier: Apache-2.0
// A file of a heap that is mapped into memory: its first page says what it is and where it was
// mapped. All addresses in it are numbers of bytes from its beginning, 0 for none; only the
// program's own data may hold addresses, so a file that is loaded must be mapped where it was.
// Locks are not in the file.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace tulle::compat {

enum class heap_kind : std::uint64_t { fixed = 1, dynamic = 2 };

struct heap_header {
    std::array<char, 8> magic;
    std::uint64_t base; // where it is mapped
    std::uint64_t size;
    heap_kind kind;
    std::uint64_t item; // bytes; 0 for a dynamic heap
    std::uint64_t streams;
    std::uint64_t begin; // of the pieces
    // static: what begins here has never been given out; dynamic: where the last run of pages was
    // found
    std::uint64_t fresh;
};

// The mapping. Errors of open(): null, and errno.
class heap_file {
public:
    [[nodiscard]] static bool read_header(char const* name, heap_header& found);
    // A new or empty file is made as `wanted` says; its base is where it shall be mapped, 0:
    // anywhere. One that is there must have the same layout.
    [[nodiscard]] bool open(char const* name, heap_header wanted);
    void close() noexcept;
    void write_back() const noexcept;

    [[nodiscard]] bool is_new() const noexcept { return m_is_new; }
    [[nodiscard]] heap_header& header() const noexcept {
        return *reinterpret_cast<heap_header*>(m_base);
    }
    [[nodiscard]] std::byte* at(std::uint64_t offset) const noexcept { return m_base + offset; }
    [[nodiscard]] std::uint64_t offset(void const* p) const noexcept {
        return static_cast<std::uint64_t>(static_cast<std::byte const*>(p) - m_base);
    }
    [[nodiscard]] std::uint64_t& word(std::uint64_t offset) const noexcept {
        return *reinterpret_cast<std::uint64_t*>(m_base + offset);
    }

private:
    [[nodiscard]] bool map(int file, heap_header const& wanted);

    std::byte* m_base = nullptr;
    std::uint64_t m_size = 0;
    bool m_is_new = false;
};

} // namespace tulle::compat
