// SPDX-License-Identifier: Apache-2.0
// Finds in the headers of the loaded program where its variables are and what in them is the
// dynamic linker's.
#pragma once

#include "compat/program/program_data.hpp"

#include <cstddef>

#include <link.h>

namespace tulle::program {

class program_reader {
public:
    // std::bad_alloc.
    [[nodiscard]] static program_data read();

private:
    explicit program_reader(dl_phdr_info const& program) noexcept : m_info(program) {}
    void read_segments();
    void read_segment(ElfW(Phdr) const& header);
    void read_relocations();
    void read_table(std::uint64_t address, std::uint64_t bytes, std::size_t entry, bool has_slots);
    void note(ElfW(Rel) const& relocation);
    void keep(std::uint64_t address, std::uint64_t bytes) {
        m_found.m_kept.push_back({address, address + bytes});
    }
    void finish();
    // Of the dynamic section; 0: it has none.
    [[nodiscard]] std::uint64_t value(std::int64_t tag) const noexcept;
    [[nodiscard]] std::uint64_t address(std::int64_t tag) const noexcept; // likewise

    dl_phdr_info const& m_info;
    ElfW(Dyn) const* m_dynamic = nullptr;
    program_data m_found;
};

} // namespace tulle::program
