// SPDX-License-Identifier: Apache-2.0
#include "uninstrumented.hpp"

#include "command.hpp"

#include "base/symbol_name.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <tuple>

#include <elf.h>
#include <fnmatch.h>

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

class sections {
public:
    // Of `path`. Throws a failure: it is no ELF file of 64 bits.
    sections(std::string const& file, fs::path const& path) : m_file(file) {
        auto const header = at<Elf64_Ehdr>(file, 0);
        if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
            header->e_ident[EI_CLASS] != ELFCLASS64)
            throw failure(k_exit_failed, "cc: " + path.string() + " is no ELF file of 64 bits");
        m_header = *header;
    }
    [[nodiscard]] std::optional<Elf64_Shdr> section(std::uint64_t number) const {
        if (number >= m_header.e_shnum) return std::nullopt;
        return at<Elf64_Shdr>(m_file, m_header.e_shoff + number * sizeof(Elf64_Shdr));
    }
    // Of which `wanted(section, name)` is true; none: there is no such one.
    template <class Wanted> [[nodiscard]] std::optional<Elf64_Shdr> find(Wanted wanted) const {
        auto const names = section(m_header.e_shstrndx);
        for (unsigned number = 0; names && number < m_header.e_shnum; ++number)
            if (auto const found = section(number);
                found && wanted(*found, name_at(m_file, names->sh_offset + found->sh_name)))
                return found;
        return std::nullopt;
    }

private:
    std::string const& m_file;
    Elf64_Ehdr m_header{};
};

// The content of the section; empty: there is none.
std::string list_in(std::string const& file, sections const& all) {
    auto const found = all.find(
        [](Elf64_Shdr const& /*unused*/, std::string_view name) { return name == k_section; });
    return found ? part_of(file, *found) : "";
}

struct function_name {
    std::string text;
    bool is_local; // other files may have a function of that name, too

    bool operator<(function_name const& other) const {
        return std::tie(text, is_local) < std::tie(other.text, other.is_local);
    }
};

// Functions that are in the file, as far as their names were not taken away, but for those of which
// another file may have the code that is used.
std::set<function_name> functions_in(std::string const& file, sections const& all) {
    auto const table = all.find([](Elf64_Shdr const& found, std::string_view /*unused*/) {
        return found.sh_type == SHT_SYMTAB;
    });
    auto const names = table ? all.section(table->sh_link) : std::nullopt;
    std::set<function_name> functions;
    for (std::uint64_t k = 0; names && k < table->sh_size; k += sizeof(Elf64_Sym)) {
        auto const symbol = at<Elf64_Sym>(file, table->sh_offset + k);
        if (!symbol) break;
        if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_size != 0 &&
            symbol->st_shndx != SHN_UNDEF && ELF64_ST_BIND(symbol->st_info) != STB_WEAK)
            functions.insert({std::string(name_at(file, names->sh_offset + symbol->st_name)),
                              ELF64_ST_BIND(symbol->st_info) == STB_LOCAL});
    }
    return functions;
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

// What begins every program, what the libraries of the compiler and of C have for each program, and
// what the plug-in has made.
constexpr std::array k_of_every_program{"_start",         "__clang_call_terminate",
                                        "__libc_csu_*",   "_dl_relocate_static_pie*",
                                        "atexit",         "at_quick_exit",
                                        "pthread_atfork", "__pthread_atfork",
                                        "__mul?c3",       "__div?c3",
                                        "__*ti3",         "__*ti4",
                                        "__powi?f2",      "__float*ti?f",
                                        "__fix*ti",       "__popcount?i2",
                                        "__cpu_ind*",     "__extend?f?f2",
                                        "__trunc?f?f2"};
// Tulle, if it is linked statically, with the templates and the constructors of its variables.
constexpr std::array k_of_tulle{"tulle_*",
                                "_ZN5tulle*",
                                "_ZNK5tulle*",
                                "_ZZN5tulle*",
                                "_ZZNK5tulle*",
                                "_ZSt*5tulle*",
                                "_ZNSt*5tulle*",
                                "_ZNKSt*5tulle*",
                                "_GLOBAL__*5tulle*",
                                "_ZThn*_N5tulle*",
                                "_ZN12_GLOBAL__N_1*N5tulle6detail*"};

bool is_of_run_time(std::string const& name) {
    auto const fits = [&name](char const* pattern) {
        return fnmatch(pattern, name.c_str(), 0) == 0;
    };
    return std::any_of(k_of_every_program.begin(), k_of_every_program.end(), fits) ||
           std::any_of(k_of_tulle.begin(), k_of_tulle.end(), fits);
}

// Without what compilers add to the names of parts of functions.
std::string without_suffix(std::string const& name) { return name.substr(0, name.find('.', 1)); }

// A linker may have made a function local that was not, and a compiler made a part of one global.
bool has_checks(function_name const& function, std::set<words> const& lines) {
    std::string const name = without_suffix(function.text);
    bool const may_be_local = function.is_local || name != function.text;
    return lines.count({"define", function.text}) != 0 || lines.count({"define", name}) != 0 ||
           (may_be_local &&
            (lines.count({"local", function.text}) != 0 || lines.count({"local", name}) != 0));
}

// A sentence about functions of the program that were compiled by something else, if there are any;
// they may reach such memory without being given it.
std::vector<std::string> sentence_of_others(std::set<function_name> const& functions,
                                            std::set<words> const& lines) {
    constexpr std::size_t k_named = 8;
    std::vector<std::string> others;
    for (function_name const& function : functions)
        if (!is_of_run_time(function.text) && !has_checks(function, lines))
            others.push_back(readable(function.text));
    if (others.empty()) return {};
    std::string text = "compiled without checks: ";
    for (std::size_t k = 0; k < others.size() && k < k_named; ++k)
        text += (k == 0 ? "" : ", ") + others[k];
    if (others.size() > k_named)
        text += " and " + std::to_string(others.size() - k_named) + " more functions";
    return {text};
}

std::string sentence_of_spin(std::string const& kind) {
    return (kind == "volatile" ? "volatile variable, which orders no other access"
                               : "variable, whose change it may never see") +
           std::string("; make it atomic, or wait by a lock, an event or a barrier");
}

std::string content_of(fs::path const& program) {
    std::error_code none;
    std::uintmax_t const bytes = fs::file_size(program, none);
    if (none) return "";
    std::string content(bytes, '\0');
    std::ifstream in(program, std::ios::binary);
    in.read(content.data(), static_cast<std::streamsize>(bytes));
    content.resize(static_cast<std::size_t>(in.gcount()));
    return content;
}

} // namespace

std::vector<std::string> functions_without_checks(fs::path const& program) {
    std::string const file = content_of(program);
    sections const all(file, program);
    return sentence_of_others(functions_in(file, all), lines_of(list_in(file, all)));
}

std::vector<std::string> uninstrumented_parts(fs::path const& program) {
    std::string const file = content_of(program);
    sections const all(file, program);
    auto const lines = lines_of(list_in(file, all));
    std::vector<std::string> parts = sentence_of_others(functions_in(file, all), lines);
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
