// SPDX-License-Identifier: Apache-2.0
// Names of addresses: function, file and line by the program llvm-addr2line of LLVM, or addr2line
// of binutils, one run for each module; without them, or without debug information, the nearest
// exported function or the module and an offset. Uses no memory of the C library's heap but in that
// last case.
#pragma once

#include <array>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

struct dl_phdr_info; // <link.h>

namespace tulle::diag {

struct symbol {
    std::pmr::string function;
    std::pmr::string source_line; // "file:line"; empty: not known
};

class symbol_table {
public:
    // Without the heap of the C library names are not demangled where no program does it.
    symbol_table(std::pmr::memory_resource& memory, bool may_use_heap)
        : m_memory(memory),
          m_may_use_heap(may_use_heap),
          m_found(&memory),
          m_unknown{{"?", &memory}, std::pmr::string(&memory)} {}

    void want(std::uintptr_t pc) { m_found.try_emplace(pc); }
    // Finds the symbols of all addresses that are wanted. Throws std::bad_alloc, and then some are
    // not known.
    void resolve();
    // Innermost first, when functions were inlined there; at least one, which says "?" if nothing
    // is known.
    [[nodiscard]] std::span<symbol const> at(std::uintptr_t pc) const noexcept {
        auto const found = m_found.find(pc);
        if (found == m_found.end() || found->second.empty()) return {&m_unknown, 1};
        return found->second;
    }

private:
    struct module {
        explicit module(std::pmr::memory_resource* memory) : path(memory), pcs(memory) {}
        std::pmr::string path;
        std::uintptr_t bias = 0;
        std::pmr::vector<std::uintptr_t> pcs;
    };

    [[nodiscard]] std::pmr::vector<module> group_by_module();
    // If something of it is wanted.
    void add_module(dl_phdr_info const& info, std::pmr::vector<module>& modules) const;
    void ask(module const& asked, int most_seconds);
    [[nodiscard]] bool ask_program(char const* program, module const& asked, int most_seconds);
    [[nodiscard]] bool read_answer(module const& asked, int answer);
    void add_function(std::pmr::vector<symbol>& to, std::string_view name);
    void guess(std::uintptr_t pc, module const* nearest);

    std::pmr::memory_resource& m_memory;
    bool m_may_use_heap;
    std::array<bool, 2> m_are_slow{}; // programs, which are not asked again
    std::pmr::unordered_map<std::uintptr_t, std::pmr::vector<symbol>> m_found;
    symbol m_unknown;
};

} // namespace tulle::diag
