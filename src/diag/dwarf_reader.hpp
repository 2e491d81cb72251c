// SPDX-License-Identifier: Apache-2.0
// Reads the numbers of DWARF from a sequence of bytes. Past the end it reads zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tulle::diag {

struct dwarf_reader {
    unsigned char const* begin = nullptr;
    unsigned char const* end = nullptr;

    // The content of an entry of .eh_frame, behind its length.
    [[nodiscard]] static dwarf_reader of_entry(unsigned char const* entry) noexcept {
        std::uint32_t length = 0;
        std::memcpy(&length, entry, sizeof length);
        return {entry + sizeof length, entry + sizeof length + length};
    }

    [[nodiscard]] bool at_end() const noexcept { return begin >= end; }
    void skip(std::size_t count) noexcept { begin = count < left() ? begin + count : end; }
    std::uint8_t byte() noexcept { return at_end() ? std::uint8_t{0} : *begin++; }

    template <class T> T fixed() noexcept {
        T value{};
        if (left() >= sizeof value) std::memcpy(&value, begin, sizeof value);
        skip(sizeof value);
        return value;
    }
    // LEB128
    std::uint64_t unsigned_number() noexcept {
        unsigned shift = 0;
        return groups(shift);
    }
    std::int64_t signed_number() noexcept {
        unsigned shift = 0;
        std::uint64_t value = groups(shift);
        bool const negative = shift != 0 && shift < 64 && (value >> (shift - 1) & 1) != 0;
        if (negative) value |= ~std::uint64_t{0} << shift;
        return static_cast<std::int64_t>(value);
    }
    [[nodiscard]] char const* text() noexcept {
        auto const* const start = reinterpret_cast<char const*>(begin);
        while (byte() != 0) {}
        return start;
    }
    // A length and so many bytes.
    [[nodiscard]] dwarf_reader block() noexcept {
        std::uint64_t const length = unsigned_number();
        auto const* const start = begin;
        skip(length);
        return {start, begin};
    }

private:
    [[nodiscard]] std::size_t left() const noexcept {
        return at_end() ? 0 : static_cast<std::size_t>(end - begin);
    }
    std::uint64_t groups(unsigned& shift) noexcept {
        std::uint64_t value = 0;
        for (bool more = true; more && shift < 64; shift += 7) {
            std::uint8_t const group = byte();
            value |= std::uint64_t{group & 0x7FU} << shift;
            more = (group & 0x80U) != 0;
        }
        return value;
    }
};

} // namespace tulle::diag
