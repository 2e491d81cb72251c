// SPDX-License-Identifier: Apache-2.0
// Where coherent memory lies, and how large its units are there: the same for all hosts.
#pragma once

#include "dsm/line_range.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <tulle/coherent_abi.h>
#include <tulle/detail/attributes.hpp>

namespace tulle::dsm {

using host_number = std::uint32_t;

inline constexpr host_number k_most_hosts = 254; // a home is a byte
inline constexpr std::uint64_t k_least_unit = TULLE_COHERENT_LINE;
inline constexpr std::uint64_t k_largest_unit = 4096;
// The powers of two between these, and both.
inline constexpr unsigned k_unit_sizes =
    static_cast<unsigned>(std::countr_zero(k_largest_unit / k_least_unit)) + 1;

struct geometry {
    std::uint64_t address;       // of the memory, at each host; a multiple of that of a chunk
    std::uint64_t bytes;         // whole chunks
    std::uint64_t lines_of_unit; // a power of two
    host_number hosts;
    // Of these, at the beginning, whole chunks: where the program lies. Hosts map what they hold of
    // that.
    std::uint64_t program_bytes = 0;
    // What comes behind the program is there once more for each size of units. So an allocation may
    // have any size, and lies in the section of that one. A power of two, no less than the
    // program; 0: all memory has units of the same size. The first section has that size, and the
    // others have the sizes in turn.
    std::uint64_t section_bytes = 0;

    [[nodiscard]] line_number first_line() const noexcept { return address / TULLE_COHERENT_LINE; }
    [[nodiscard]] std::uint64_t lines() const noexcept { return bytes / TULLE_COHERENT_LINE; }

    // Of what lies `offset` bytes behind the beginning of a section, that of units of so many bytes
    // or, where there is none, the first one.
    [[nodiscard]] std::uint64_t address_of(std::uint64_t offset,
                                           std::uint64_t unit_bytes) const noexcept {
        std::uint64_t const size =
            static_cast<std::uint64_t>(std::countr_zero(unit_bytes / k_least_unit));
        bool const is_first = unit_bytes == lines_of_unit * TULLE_COHERENT_LINE;
        std::uint64_t const section = is_first ? 0 : (size + 1) * section_bytes;
        return address + program_bytes + section + offset;
    }
    // The other way round.
    [[nodiscard]] std::uint64_t offset_of(std::uint64_t of_section) const noexcept {
        std::uint64_t const offset = of_section - address - program_bytes;
        return section_bytes == 0 ? offset : offset & (section_bytes - 1);
    }
};

// What is behind the program, with sections for all sizes of units.
[[nodiscard]] constexpr std::uint64_t bytes_of_sections(std::uint64_t section_bytes) noexcept {
    return (k_unit_sizes + 1) * section_bytes;
}

// The units of a line, found without a division; where they are as chosen, which a processor
// foresees, also without a load that others would wait for.
class unit_map {
public:
    explicit unit_map(geometry const& chosen) noexcept
        : m_first(chosen.first_line()), m_lines(chosen.lines_of_unit) {
        auto const as_chosen = static_cast<unsigned>(std::countr_zero(chosen.lines_of_unit));
        m_shift = as_chosen;
        m_parts.fill({0, as_chosen});
        if (chosen.section_bytes == 0) return;
        std::uint64_t const lines = chosen.section_bytes / TULLE_COHERENT_LINE;
        std::uint64_t const of_program = chosen.program_bytes / TULLE_COHERENT_LINE;
        m_section_shift = static_cast<unsigned>(std::countr_zero(lines));
        m_ahead = lines - of_program;
        m_as_chosen = of_program + lines;
        for (unsigned size = 0; size < k_unit_sizes; ++size)
            m_parts[k_others + size] = {of_program + (size + 1) * lines, size};
    }

    [[nodiscard]] line_range unit_of(line_number line) const noexcept {
        std::uint64_t const offset = line - m_first;
        if (TULLE_LIKELY(offset < m_as_chosen)) return {line & ~(m_lines - 1), m_lines};
        return other_unit_of(line, offset);
    }
    // Of the unit of a line: less than there are lines, and 1 more for the next unit of its size.
    [[nodiscard]] std::uint64_t number_of(line_number line) const noexcept {
        std::uint64_t const offset = line - m_first;
        if (TULLE_LIKELY(offset < m_as_chosen)) return offset >> m_shift;
        return other_number_of(offset);
    }

private:
    struct part {
        std::uint64_t first; // line
        unsigned unit_shift;
    };
    static constexpr std::size_t k_others = 2; // behind the program and the first section
    static constexpr std::size_t k_end = 1;    // the line behind the last one has a unit, too

    // Apart, so that the others stay short where they are compiled into what calls them.
    [[nodiscard]] TULLE_NOINLINE line_range other_unit_of(line_number line,
                                                          std::uint64_t offset) const noexcept {
        std::uint64_t const lines = std::uint64_t{1} << part_of(offset).unit_shift;
        return {line & ~(lines - 1), lines};
    }
    [[nodiscard]] TULLE_NOINLINE std::uint64_t
    other_number_of(std::uint64_t offset) const noexcept {
        part const& of = part_of(offset);
        return of.first + ((offset - of.first) >> of.unit_shift);
    }
    [[nodiscard]] part const& part_of(std::uint64_t offset) const noexcept {
        return m_parts[(offset + m_ahead) >> m_section_shift];
    }

    line_number m_first;
    std::uint64_t m_lines;                         // of a unit as chosen
    std::uint64_t m_as_chosen = ~std::uint64_t{0}; // so many lines, from the first one on
    unsigned m_shift;
    std::uint64_t m_ahead = 0;
    unsigned m_section_shift = 63; // all lines are of one part
    std::array<part, k_others + k_unit_sizes + k_end> m_parts{};
};

} // namespace tulle::dsm
