// SPDX-License-Identifier: Apache-2.0
#include "uninstrumented.hpp"

#include "command.hpp"

#include "base/symbol_name.hpp"

#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>

#include <elf.h>

namespace tulle::tool {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view k_section = ".tulle.uninstrumented";

// A structure at an offset, if all of it is in the file.
template <typename Structure>
std::optional<Structure> at(std::string const& file, std::uint64_t offset) {
    Structure found;
    if (offset > file.size() || file.size() - offset < sizeof found) return std::nullopt;
    std::memcpy(&found, file.data() + offset, sizeof found);
    return found;
}

std::string_view name_at(std::string const& file, std::uint64_t offset) {
    if (offset >= file.size()) return "";
    return {file.data() + offset, strnlen(file.data() + offset, file.size() - offset)};
}

std::string part_of(std::string const& file, Elf64_Shdr const& section) {
    if (section.sh_offset > file.size() || section.sh_size > file.size() - section.sh_offset)
        return "";
    return file.substr(section.sh_offset, section.sh_size);
}

// The content of the section; empty: there is none.
std::string list_in(std::string const& file, fs::path const& path) {
    auto const header = at<Elf64_Ehdr>(file, 0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64)
        throw failure(k_exit_failed, "cc: " + path.string() + " is no ELF file of 64 bits");
    auto const section = [&](unsigned number) {
        return at<Elf64_Shdr>(file, header->e_shoff + std::uint64_t{number} * sizeof(Elf64_Shdr));
    };
    auto const names = section(header->e_shstrndx);
    for (unsigned number = 0; names && number < header->e_shnum; ++number)
        if (auto const found = section(number);
            found && name_at(file, names->sh_offset + found->sh_name) == k_section)
            return part_of(file, *found);
    return "";
}

using words = std::vector<std::string>;

std::set<words> lines_of(std::string const& list) {
    std::set<words> lines;
    std::istringstream in(list);
    for (std::string line; std::getline(in, line);) {
        words found;
        std::istringstream parts(line);
        for (std::string word; std::getline(parts, word, '\t');) found.push_back(word);
        lines.insert(found);
    }
    return lines;
}

std::string readable(std::string const& function) {
    auto const name = base::name_in_source(function.c_str());
    return name == nullptr ? function : name.get();
}

std::string sentence_of_spin(std::string const& kind) {
    return (kind == "volatile" ? "volatile variable, which orders no other access"
                               : "variable, whose change it may never see") +
           std::string("; make it atomic, or wait by a lock, an event or a barrier");
}

} // namespace

std::vector<std::string> uninstrumented_parts(fs::path const& program) {
    std::ifstream in(program, std::ios::binary);
    std::string const file{std::istreambuf_iterator<char>(in), {}};
    auto const lines = lines_of(list_in(file, program));
    std::vector<std::string> parts;
    for (words const& line : lines) {
        if (line.size() == 4 && line[0] == "call" && lines.count({"define", line[1]}) == 0)
            parts.push_back(line[3] + ": " + readable(line[2]) + " hands memory to " +
                            readable(line[1]) + ", which was compiled without checks");
        if (line.size() == 3 && line[0] == "assembly")
            parts.push_back(line[2] + ": " + readable(line[1]) +
                            " has inline assembly, which has no checks");
        if (line.size() == 4 && line[0] == "instruction")
            parts.push_back(line[3] + ": " + readable(line[2]) + " has the instruction " + line[1] +
                            ", which has no checks");
        if (line.size() == 3 && line[0] == "atomic")
            parts.push_back(line[2] + ": " + readable(line[1]) +
                            " has an atomic operation that happens on this host only");
        if (line.size() == 3 && line[0] == "wide")
            parts.push_back(
                line[2] + ": " + readable(line[1]) +
                " has an atomic operation of more than 8 bytes, which is not seen where "
                "races are looked for");
        if (line.size() == 4 && line[0] == "spin")
            parts.push_back(line[3] + ": " + readable(line[2]) + " waits in a loop for a " +
                            sentence_of_spin(line[1]));
    }
    return parts;
}

} // namespace tulle::tool
