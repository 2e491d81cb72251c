// SPDX-License-Identifier: Apache-2.0
#include "races/report.hpp"

#include "diag/symbols.hpp"
#include "os/mapped_range.hpp"
#include "races/settings.hpp"
#include "races/variables.hpp"

#include <array>
#include <cinttypes>
#include <cstdio>
#include <memory_resource>
#include <new>
#include <optional>
#include <string>

#include <unistd.h>

namespace tulle::races {

namespace {

constexpr std::size_t k_longest = 400; // of a sentence around names

template <class... Values> std::string sentence(char const* format, Values... values) {
    std::array<char, k_longest> text{};
    std::snprintf(text.data(), text.size(), format, values...);
    return text.data();
}

class race_text {
public:
    race_text(finding const& found, notes& all)
        : m_found(found),
          m_all(all),
          m_block(all.blocks.find(address_of(found.own))),
          m_symbols(*std::pmr::new_delete_resource(), true) {
        for (site const s : {found.own.where(), found.other.where()})
            if (s != 0) m_symbols.want(m_all.sites.at(s));
        if (m_block) m_symbols.want(m_block->pc);
        m_symbols.resolve();
    }

    [[nodiscard]] std::string write() {
        std::string const accesses = line_of(m_found.own) + line_of(m_found.other) + object();
        if (m_found.what == mistake::race)
            return "tulle: data race: nothing orders these accesses of two processes:\n" + accesses;
        return "tulle: variable that is not shared: each process has its own, and these are of "
               "two:\n" +
               accesses +
               "  TULLE_SHARE_GLOBALS=on shares variables, or keep it in memory of G_MALLOC\n";
    }
    [[nodiscard]] std::string write_pointer(std::string const& target) {
        return "tulle: pointer into private memory, which means nothing to other processes:\n" +
               line_of(m_found.own) + object() + "  it leads to " + target + "\n";
    }

private:
    [[nodiscard]] std::uint64_t address_of(cell c) const noexcept {
        return m_found.word + c.first();
    }
    [[nodiscard]] std::string line_of(cell c) {
        unsigned const bytes = c.last() - c.first() + 1;
        std::string const line =
            sentence("  process %u %s%s %u byte%s at %#" PRIx64 ": ", c.process(),
                     c.is_atomic() ? "atomically " : "", c.stores() ? "stores" : "loads", bytes,
                     bytes == 1 ? "" : "s", address_of(c));
        return line +
               (c.where() != 0 ? place(m_all.sites.at(c.where())) : "somewhere in the program") +
               "\n";
    }
    // Code that was inlined lies in more than one function.
    [[nodiscard]] std::string place(std::uint64_t pc) {
        std::string text;
        for (diag::symbol const& s : m_symbols.at(pc)) {
            text += (text.empty() ? "" : ", called by ");
            text += s.function;
            if (!s.source_line.empty()) text += std::string(" (") + s.source_line.c_str() + ")";
        }
        return text;
    }
    [[nodiscard]] std::string object() {
        std::uint64_t const at = address_of(m_found.own);
        if (m_block)
            return sentence("  byte %" PRIu64 " of %" PRIu64 " that were allocated at ",
                            at - m_block->address, m_block->bytes) +
                   place(m_block->pc) + "\n";
        auto const known = find_variable(at);
        if (!known) return {};
        return sentence("  byte %" PRIu64 " of %" PRIu64 " of the variable ", at - known->address,
                        known->bytes) +
               known->name + "\n";
    }

    finding m_found;
    notes& m_all;
    std::optional<block> m_block;
    diag::symbol_table m_symbols;
};

// At once, so that it does not mix with what others say.
void print(std::string const& text) noexcept {
    static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size()));
}

} // namespace

void tell(finding const& found, notes& all) noexcept try {
    // relaxed: counters
    all.found.fetch_add(1, std::memory_order_relaxed);
    if (all.told.load(std::memory_order_relaxed) >= chosen_settings().reports) return;
    all.told.fetch_add(1, std::memory_order_relaxed);
    print(race_text(found, all).write());
} catch (std::bad_alloc const&) {
    print("tulle: data race: no memory to say where\n");
}

void tell_pointer(cell own, std::uint64_t word, std::uint64_t pointer, notes& all) noexcept try {
    if (all.pointers.fetch_add(1, std::memory_order_relaxed) >= chosen_settings().reports) return;
    std::string target = sentence("%#" PRIx64 ", ", pointer);
    auto const stack =
        os::mapping_around(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
    if (auto const known = find_variable(pointer))
        target += "the variable " + known->name + " of process ";
    else
        target += stack.contains(pointer) ? "the stack of process " : "the heap of process ";
    print(race_text({mistake::race, own, own, word}, all)
              .write_pointer(target + std::to_string(own.process())));
} catch (std::bad_alloc const&) {
    print("tulle: pointer into private memory: no memory to say where\n");
}

void tell_end(notes const& all) noexcept try {
    std::uint32_t const found = all.found.load(std::memory_order_relaxed);
    std::uint32_t const told = all.told.load(std::memory_order_relaxed);
    std::string text =
        sentence("tulle: races: %u pair%s of places in the program", found, found == 1 ? "" : "s");
    if (told < found) text += sentence("; the first %u were told (TULLE_RACE_REPORTS)", told);
    print(text + "\n");
} catch (std::bad_alloc const&) {
    print("tulle: races were found\n");
}

} // namespace tulle::races
