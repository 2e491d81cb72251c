// SPDX-License-Identifier: Apache-2.0
#include "compat/program/program_reader.hpp"

#include "base/sanitize.hpp"
#include "os/relocation.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tulle::program {

namespace {

template <class T> T const* readable_at(std::uint64_t address) noexcept {
    return reinterpret_cast<T const*>(address); // NOLINT(performance-no-int-to-ptr)
}

std::uint64_t word_at(std::uint64_t address) noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, readable_at<std::byte>(address), sizeof word);
    return word;
}

// FNV-1a, 64 bits. Objects of libraries may have gaps behind them that a sanitizer guards.
TULLE_NO_SANITIZE std::uint64_t hash(std::byte const* bytes, std::size_t count) noexcept {
    std::uint64_t made = 0xCBF29CE484222325U;
    for (std::size_t k = 0; k < count; ++k)
        made = (made ^ static_cast<std::uint64_t>(bytes[k])) * 0x100000001B3U;
    return made;
}

} // namespace

program_data program_reader::read() {
    dl_phdr_info program{};
    dl_iterate_phdr(
        [](dl_phdr_info* first, std::size_t, void* found) {
            *static_cast<dl_phdr_info*>(found) = *first;
            return 1;
        },
        &program);
    program_reader own(program);
    own.read_segments();
    if (own.m_dynamic != nullptr) own.read_relocations();
    own.finish();
    return std::move(own.m_found);
}

void program_reader::read_segments() {
    m_found.m_base = m_info.dlpi_addr;
    for (int k = 0; k < m_info.dlpi_phnum; ++k) read_segment(m_info.dlpi_phdr[k]);
}

void program_reader::read_segment(ElfW(Phdr) const& header) {
    std::uint64_t const low = m_found.m_base + header.p_vaddr;
    switch (header.p_type) {
        case PT_LOAD:
            m_found.m_program.push_back({low, low + header.p_memsz});
            if ((header.p_flags & PF_W) != 0)
                m_found.m_writable.push_back({{low, low + header.p_memsz}, low + header.p_filesz});
            break;
        case PT_DYNAMIC:
            m_dynamic = readable_at<ElfW(Dyn)>(low);
            keep(low, header.p_memsz);
            break;
        // Written before main, and not writable since.
        case PT_GNU_RELRO:
            m_found.m_fixed.push_back({low, low + header.p_memsz});
            keep(low, header.p_memsz);
            break;
        default: break;
    }
}

std::uint64_t program_reader::value(std::int64_t tag) const noexcept {
    for (ElfW(Dyn) const* entry = m_dynamic; entry->d_tag != DT_NULL; ++entry)
        if (entry->d_tag == tag) return entry->d_un.d_val;
    return 0;
}

// The linker makes addresses of offsets where it may write to the section.
std::uint64_t program_reader::address(std::int64_t tag) const noexcept {
    std::uint64_t const found = value(tag);
    return found == 0 || found >= m_found.m_base ? found : m_found.m_base + found;
}

void program_reader::read_relocations() {
    read_table(address(DT_RELA), value(DT_RELASZ), sizeof(ElfW(Rela)), false);
    read_table(address(DT_REL), value(DT_RELSZ), sizeof(ElfW(Rel)), false);
    read_table(address(DT_JMPREL), value(DT_PLTRELSZ),
               value(DT_PLTREL) == DT_RELA ? sizeof(ElfW(Rela)) : sizeof(ElfW(Rel)), true);
    if (std::uint64_t const table = address(DT_PLTGOT)) keep(table, os::k_relocations.reserved);
}

void program_reader::read_table(std::uint64_t address, std::uint64_t bytes, std::size_t entry,
                                bool has_slots) {
    if (address == 0) return;
    for (std::uint64_t at = address; at + entry <= address + bytes; at += entry) {
        auto const& relocation =
            *readable_at<ElfW(Rel)>(at); // with an addend behind it, or without
        if (has_slots)
            keep(m_found.m_base + relocation.r_offset, os::k_relocations.slot);
        else
            note(relocation);
    }
}

void program_reader::note(ElfW(Rel) const& relocation) {
    std::uint64_t const at = m_found.m_base + relocation.r_offset;
    auto const type = static_cast<unsigned>(ELF64_R_TYPE(relocation.r_info));
    if (type == os::k_relocations.relative || type == 0) return;
    if (type != os::k_relocations.copy) return m_found.m_links.push_back(at);
    auto const& symbol = readable_at<ElfW(Sym)>(address(DT_SYMTAB))[ELF64_R_SYM(relocation.r_info)];
    keep(at, symbol.st_size);
    m_found.m_copies.push_back({readable_at<char>(address(DT_STRTAB)) + symbol.st_name,
                                hash(readable_at<std::byte>(at), symbol.st_size)});
}

void program_reader::finish() {
    m_found.m_kept = joined(std::move(m_found.m_kept));
    auto const is_kept = [this](std::uint64_t at) {
        auto const& kept = m_found.m_kept;
        return std::any_of(kept.begin(), kept.end(),
                           [at](range const& r) { return r.begin <= at && at < r.end; });
    };
    std::erase_if(m_found.m_links, is_kept);
    for (std::uint64_t const at : m_found.m_links) m_found.m_links_at_start.push_back(word_at(at));
}

} // namespace tulle::program
