// SPDX-License-Identifier: Apache-2.0
#include "diag/symbols.hpp"

#include "base/symbol_name.hpp"
#include "os/child_program.hpp"
#include "os/clock.hpp"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>
#include <string_view>

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

namespace tulle::diag {

namespace {

// How long the symbols of one module may take; large programs have gigabytes of debug information.
constexpr int k_most_seconds = 30;
// And those of all of them; then the rest is guessed.
constexpr int k_most_seconds_of_all = 60;
constexpr std::uint64_t k_second = 1'000'000'000;

// The first one that is there and answers. That of binutils 2.40 does not find the functions that
// clang has inlined, where these are in several pieces (DW_AT_ranges of DWARF 5): it names the one
// around them with a line of the file that they are in.
constexpr std::array<char const*, 2> k_programs{"llvm-addr2line", "addr2line"};

bool contains(dl_phdr_info const& info, std::uintptr_t pc) noexcept {
    for (int k = 0; k < info.dlpi_phnum; ++k) {
        auto const& part = info.dlpi_phdr[k];
        if (part.p_type == PT_LOAD && pc - info.dlpi_addr - part.p_vaddr < part.p_memsz)
            return true;
    }
    return false;
}

void set_path(std::pmr::string& path, char const* given) {
    path = given;
    if (!path.empty()) return;
    char own[4096];
    // The program itself has no name here.
    ssize_t const length = ::readlink("/proc/self/exe", own, sizeof own);
    if (length > 0) path.assign(own, static_cast<std::size_t>(length));
}

// "??:0", "FILE:12 (discriminator 3)"
void set_source_line(std::pmr::string& source_line, std::string_view line) {
    if (line.starts_with("??") || line.ends_with(":?") || line.ends_with(":0")) return;
    source_line = line.substr(0, line.find(" (discriminator"));
}

std::string_view next_line(std::string_view& text) noexcept {
    std::size_t const end = std::min(text.find('\n'), text.size());
    std::string_view const line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return line;
}

} // namespace

std::pmr::vector<symbol_table::module> symbol_table::group_by_module() {
    struct search {
        symbol_table& self;
        std::pmr::vector<module> modules;
        bool is_short = false;
    } s{*this, std::pmr::vector<module>(&m_memory)};
    // No exception leaves it: the dynamic linker holds a lock.
    auto const visit = [](dl_phdr_info* info, std::size_t, void* argument) noexcept {
        auto& found = *static_cast<search*>(argument);
        try {
            found.self.add_module(*info, found.modules);
        } catch (std::bad_alloc const&) {
            found.is_short = true;
        }
        return found.is_short ? 1 : 0;
    };
    static_cast<void>(::dl_iterate_phdr(visit, &s));
    if (s.is_short) throw std::bad_alloc();
    return std::move(s.modules);
}

void symbol_table::add_module(dl_phdr_info const& info, std::pmr::vector<module>& modules) const {
    module m(&m_memory);
    m.bias = info.dlpi_addr;
    for (auto const& [pc, symbols] : m_found) {
        if (symbols.empty() && contains(info, pc)) m.pcs.push_back(pc);
    }
    if (m.pcs.empty()) return;
    set_path(m.path, info.dlpi_name);
    modules.push_back(std::move(m));
}

void symbol_table::resolve() {
    std::uint64_t const give_up = os::monotonic_ns() + k_most_seconds_of_all * k_second;
    for (module const& m : group_by_module()) {
        std::uint64_t const now = os::monotonic_ns();
        if (now < give_up)
            ask(m, std::min(static_cast<int>((give_up - now) / k_second) + 1, k_most_seconds));
        for (std::uintptr_t const pc : m.pcs) {
            if (m_found.at(pc).empty()) guess(pc, &m);
        }
    }
    for (auto& [pc, symbols] : m_found) {
        if (symbols.empty()) guess(pc, nullptr);
    }
}

// All but the last program have half of the time that is left.
void symbol_table::ask(module const& asked, int most_seconds) {
    static_assert(k_programs.size() == decltype(m_are_slow)().size());
    int left = most_seconds;
    for (std::size_t k = 0; k < k_programs.size(); ++k) {
        if (m_are_slow[k]) continue;
        int const seconds = k + 1 == k_programs.size() ? left : (left + 1) / 2;
        std::uint64_t const begin = os::monotonic_ns();
        if (ask_program(k_programs[k], asked, seconds)) return;
        int const taken = static_cast<int>((os::monotonic_ns() - begin) / k_second);
        m_are_slow[k] = taken >= seconds;
        left = std::max(left - taken, 1);
    }
}

// False: it is not there, does not answer, or knows nothing.
bool symbol_table::ask_program(char const* program, module const& asked, int most_seconds) {
    os::memory_file const question("tulle-addresses"), answer("tulle-symbols");
    if (!question.is_open() || !answer.is_open()) return false;
    for (std::uintptr_t const pc : asked.pcs) {
        char line[32];
        int const length = std::snprintf(line, sizeof line, "0x%" PRIxPTR "\n", pc - asked.bias);
        question.write(line, static_cast<std::size_t>(length));
    }
    question.rewind();
    char const* const arguments[] = {program, "-a", "-f", "-i", "-C", "-e", asked.path.c_str(),
                                     nullptr};
    if (!os::run_program(arguments, question.descriptor(), answer.descriptor(), most_seconds))
        return false;
    return read_answer(asked, answer.descriptor());
}

// The answer has for each address: itself, then function and source line, innermost first.
bool symbol_table::read_answer(module const& asked, int answer) {
    bool any = false;
    std::pmr::string content(&m_memory);
    char part[4096];
    ::lseek(answer, 0, SEEK_SET);
    for (ssize_t got = 0; (got = ::read(answer, part, sizeof part)) > 0;)
        content.append(part, static_cast<std::size_t>(got));
    std::pmr::vector<symbol>* current = nullptr;
    for (std::string_view text = content; !text.empty();) {
        std::string_view const line = next_line(text);
        if (line.starts_with("0x")) {
            auto const found = m_found.find(std::strtoull(line.data(), nullptr, 16) + asked.bias);
            current = found == m_found.end() ? nullptr : &found->second;
            continue;
        }
        std::string_view const source_line = next_line(text);
        if (current == nullptr || line == "??") continue;
        add_function(*current, line);
        set_source_line(current->back().source_line, source_line);
        any = true;
    }
    return any;
}

// LLVM 19 leaves names as they are that clang has made for lambdas with `auto`.
void symbol_table::add_function(std::pmr::vector<symbol>& to, std::string_view name) {
    symbol& s =
        to.emplace_back(symbol{std::pmr::string(name, &m_memory), std::pmr::string(&m_memory)});
    if (!m_may_use_heap || !name.starts_with("_Z")) return;
    auto const in_source = base::name_in_source(s.function.c_str());
    if (in_source != nullptr) s.function = in_source.get();
}

void symbol_table::guess(std::uintptr_t pc, module const* nearest) {
    Dl_info info{};
    char text[512];
    if (::dladdr(reinterpret_cast<void*>(pc), &info) != 0 && info.dli_sname != nullptr) {
        auto const in_source = base::name_in_source(m_may_use_heap ? info.dli_sname : "");
        std::snprintf(text, sizeof text, "%s+0x%" PRIxPTR,
                      in_source != nullptr ? in_source.get() : info.dli_sname,
                      pc - reinterpret_cast<std::uintptr_t>(info.dli_saddr));
    } else if (nearest != nullptr) {
        std::snprintf(text, sizeof text, "%s+0x%" PRIxPTR, nearest->path.c_str(),
                      pc - nearest->bias);
    } else {
        std::snprintf(text, sizeof text, "0x%" PRIxPTR, pc);
    }
    m_found.at(pc).emplace_back(
        symbol{std::pmr::string(text, &m_memory), std::pmr::string(&m_memory)});
}

} // namespace tulle::diag
