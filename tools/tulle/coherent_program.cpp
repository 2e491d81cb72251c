// SPDX-License-Identifier: Apache-2.0
#include "coherent_program.hpp"
#include "process.hpp"

#include <tulle/coherent_abi.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include <elf.h>

namespace tulle::tool {

namespace {

bool is_program_header_of_range(Elf64_Phdr const& header) noexcept {
    return header.p_type == PT_LOAD &&
           header.p_vaddr - TULLE_COHERENT_PROGRAM < TULLE_COHERENT_PROGRAM_BYTES;
}

template <class T> bool take(std::ifstream& from, T& to) {
    return static_cast<bool>(from.read(reinterpret_cast<char*>(&to), sizeof to));
}

} // namespace

bool is_coherent_program(std::string const& name) {
    std::optional<std::filesystem::path> const path =
        name.find('/') != std::string::npos ? name : find_program(name);
    if (!path) return false;
    std::ifstream file(*path, std::ios::binary);
    Elf64_Ehdr head{};
    if (!take(file, head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phentsize != sizeof(Elf64_Phdr))
        return false;
    file.seekg(static_cast<std::streamoff>(head.e_phoff));
    Elf64_Phdr each{};
    for (int k = 0; k != head.e_phnum && take(file, each); ++k)
        if (is_program_header_of_range(each)) return true;
    return false;
}

} // namespace tulle::tool
