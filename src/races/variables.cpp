// SPDX-License-Identifier: Apache-2.0
#include "races/variables.hpp"

#include "base/symbol_name.hpp"
#include "os/text_file.hpp"

#include <cstring>
#include <vector>

#include <link.h>

namespace tulle::races {

namespace {

// Reads parts of a file that may have been cut off.
class elf_file {
public:
    explicit elf_file(std::string const& content) noexcept : m_content(content) {}

    template <class T> [[nodiscard]] std::optional<T> at(std::uint64_t offset) const noexcept {
        if (offset > m_content.size() || sizeof(T) > m_content.size() - offset) return {};
        T found;
        std::memcpy(&found, m_content.data() + offset, sizeof found);
        return found;
    }
    [[nodiscard]] std::vector<ElfW(Shdr)> sections() const {
        std::vector<ElfW(Shdr)> found;
        auto const header = at<ElfW(Ehdr)>(0);
        if (!header) return found;
        for (unsigned k = 0; k < header->e_shnum; ++k)
            if (auto const section = at<ElfW(Shdr)>(header->e_shoff + k * sizeof(ElfW(Shdr))))
                found.push_back(*section);
        return found;
    }
    [[nodiscard]] std::string name(std::uint64_t offset) const {
        return offset < m_content.size() ? std::string(m_content.c_str() + offset) : std::string();
    }

private:
    std::string const& m_content;
};

std::string plain(std::string const& name) {
    auto const in_source = base::name_in_source(name.c_str());
    return in_source == nullptr ? name : in_source.get();
}

std::optional<variable> find_in(elf_file const& file, ElfW(Shdr) const& symbols,
                                ElfW(Shdr) const& names, std::uint64_t address) {
    for (std::uint64_t k = 0; k + sizeof(ElfW(Sym)) <= symbols.sh_size; k += sizeof(ElfW(Sym))) {
        auto const symbol = file.at<ElfW(Sym)>(symbols.sh_offset + k);
        if (!symbol) return {};
        bool const is_there =
            (symbol->st_info & 0xFU) == STT_OBJECT && address - symbol->st_value < symbol->st_size;
        if (is_there)
            return variable{plain(file.name(names.sh_offset + symbol->st_name)), symbol->st_value,
                            symbol->st_size};
    }
    return {};
}

} // namespace

std::optional<variable> find_variable(std::uint64_t address) {
    static std::optional<std::string> const s_content = os::read_text("/proc/self/exe");
    if (!s_content) return {};
    elf_file const file(*s_content);
    auto const sections = file.sections();
    for (ElfW(Shdr) const& section : sections)
        if (section.sh_type == SHT_SYMTAB && section.sh_link < sections.size())
            if (auto found = find_in(file, section, sections[section.sh_link], address))
                return found;
    return {};
}

} // namespace tulle::races
