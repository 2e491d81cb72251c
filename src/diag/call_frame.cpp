// SPDX-License-Identifier: Apache-2.0
#include "diag/call_frame.hpp"

#include "base/sanitize.hpp"
#include "diag/dwarf_reader.hpp"

#include <array>

// What the C++ run time offers: finds the frame description of a function, without a lock where the
// C library can do that.
extern "C" {
struct dwarf_eh_bases {
    void* text;
    void* data;
    void* function;
};
void const* _Unwind_Find_FDE(void* pc, dwarf_eh_bases* bases); // NOLINT: the name is the ABI's
}

namespace tulle::diag {

namespace {

using arch::k_register_count;

enum class rule_kind : std::uint8_t {
    same,
    undefined,
    at_offset,
    value_offset,
    in_register,
    at_expression,
    value_expression
};

// How the caller's value of a register is found.
struct rule {
    rule_kind kind = rule_kind::same;
    std::int64_t number = 0; // offset from the frame address, or a register's slot
    dwarf_reader expression{};
};

struct row {
    std::array<rule, k_register_count> registers;
    // in_register: `number` is the register, `frame_offset` is added; or value_expression
    rule frame;
    std::int64_t frame_offset = 0;
};

struct description {
    std::uint64_t code_factor = 1;
    std::int64_t data_factor = 1;
    std::uint64_t return_register = 0;
    unsigned pointer_bytes = sizeof(void*);
    bool is_signal_frame = false;
    dwarf_reader initial, program;
    std::uintptr_t function = 0;
};

constexpr std::uint8_t k_format_mask = 0x0F;

unsigned bytes_of_encoding(std::uint8_t encoding) noexcept {
    switch (encoding & k_format_mask) {
        case 0x02:
        case 0x0A: return 2;
        case 0x03:
        case 0x0B: return 4;
        case 0x04:
        case 0x0C: return 8;
        default: return sizeof(void*);
    }
}

void read_augmentation(char const* letters, dwarf_reader data, description& d) noexcept {
    for (char const* letter = letters + 1; *letter != '\0'; ++letter) {
        if (*letter == 'R') d.pointer_bytes = bytes_of_encoding(data.byte());
        if (*letter == 'L') static_cast<void>(data.byte());
        if (*letter == 'P') data.skip(bytes_of_encoding(data.byte()));
        if (*letter == 'S') d.is_signal_frame = true;
    }
}

// False: a form that no compiler of today emits.
bool read_common(dwarf_reader common, description& d) noexcept {
    static_cast<void>(common.fixed<std::uint32_t>()); // identity
    std::uint8_t const version = common.byte();
    char const* const letters = common.text();
    if (letters[0] != 'z') return false;
    d.code_factor = common.unsigned_number();
    d.data_factor = common.signed_number();
    d.return_register = arch::slot_of(version == 1 ? common.byte() : common.unsigned_number());
    dwarf_reader const data = common.block();
    read_augmentation(letters, data, d);
    d.initial = common;
    return d.return_register < k_register_count;
}

// Length, distance to the common part, first pc and range, augmentation, program.
bool describe(void const* found, void const* function, description& d) noexcept {
    auto const* const begin = static_cast<unsigned char const*>(found);
    dwarf_reader entry = dwarf_reader::of_entry(begin);
    auto const* const at = entry.begin;
    auto const distance = entry.fixed<std::uint32_t>();
    if (!read_common(dwarf_reader::of_entry(at - distance), d)) return false;
    entry.skip(2 * d.pointer_bytes);
    static_cast<void>(entry.block());
    d.program = entry;
    d.function = reinterpret_cast<std::uintptr_t>(function);
    return true;
}

// --- from instructions to the row of one pc ------------------------------------------------------

class machine {
public:
    machine(description const& function, std::uintptr_t pc) noexcept
        : m_function(function), m_pc(pc), m_at(function.function) {}

    // False: something unknown.
    [[nodiscard]] bool run() noexcept {
        if (!run_all(m_function.initial)) return false;
        m_initial = m_row;
        return run_all(m_function.program);
    }
    [[nodiscard]] row const& result() const noexcept { return m_row; }

private:
    static constexpr std::size_t k_most_remembered = 4;

    bool run_all(dwarf_reader program) noexcept {
        while (!program.at_end() && m_at <= m_pc) {
            if (!run_one(program)) return false;
        }
        return true;
    }
    bool run_one(dwarf_reader& p) noexcept {
        std::uint8_t const code = p.byte();
        std::uint8_t const low = code & 0x3F;
        switch (code >> 6U) {
            case 1: return advance(low);
            case 2:
                return offset(low, static_cast<std::int64_t>(p.unsigned_number()) *
                                       m_function.data_factor);
            case 3: return restore(low);
            default: return low < 0x0C ? run_plain(low, p) : run_frame(low, p);
        }
    }
    bool run_plain(std::uint8_t code, dwarf_reader& p) noexcept {
        switch (code) {
            case 0x00: return true;                                             // nop
            case 0x01: return set_location(p);                                  // set_loc
            case 0x02: return advance(p.byte());                                // advance_loc1
            case 0x03: return advance(p.fixed<std::uint16_t>());                // advance_loc2
            case 0x04: return advance(p.fixed<std::uint32_t>());                // advance_loc4
            case 0x06: return restore(p.unsigned_number());                     // restore_extended
            case 0x07: return set(p.unsigned_number(), {rule_kind::undefined}); // undefined
            case 0x08: return set(p.unsigned_number(), {rule_kind::same});      // same_value
            case 0x0A: return remember();                                       // remember_state
            case 0x0B: return recall();                                         // restore_state
            default: break;
        }
        std::uint64_t const number = p.unsigned_number();
        auto const operand = static_cast<std::int64_t>(p.unsigned_number());
        if (code == 0x05)
            return offset(number, operand * m_function.data_factor);         // offset_extended
        return set(number, {rule_kind::in_register, slot_operand(operand)}); // register
    }
    bool run_frame(std::uint8_t code, dwarf_reader& p) noexcept {
        switch (code) {
            // def_cfa
            case 0x0C:
                return frame_register(p) &&
                       frame_offset(static_cast<std::int64_t>(p.unsigned_number()));
            // def_cfa_register
            case 0x0D: return frame_register(p);
            // def_cfa_offset
            case 0x0E: return frame_offset(static_cast<std::int64_t>(p.unsigned_number()));
            // def_cfa_expression
            case 0x0F: return frame_expression(p);
            // def_cfa_sf
            case 0x12:
                return frame_register(p) &&
                       frame_offset(p.signed_number() * m_function.data_factor);
            // def_cfa_offset_sf
            case 0x13: return frame_offset(p.signed_number() * m_function.data_factor);
            // GNU_args_size.
            case 0x2E: return static_cast<void>(p.unsigned_number()), true;
            case 0x2D: return true; // AARCH64_negate_ra_state: see code_address
            default: return run_register(code, p);
        }
    }
    bool run_register(std::uint8_t code, dwarf_reader& p) noexcept {
        std::uint64_t const number = p.unsigned_number();
        switch (code) {
            // expression
            case 0x10: return set(number, {rule_kind::at_expression, 0, p.block()});
            // offset_extended_sf
            case 0x11: return offset(number, p.signed_number() * m_function.data_factor);
            // val_offset
            case 0x14:
                return set(number, {rule_kind::value_offset, signed_of(p.unsigned_number())});
            // val_offset_sf
            case 0x15:
                return set(number,
                           {rule_kind::value_offset, p.signed_number() * m_function.data_factor});
            // val_expression
            case 0x16: return set(number, {rule_kind::value_expression, 0, p.block()});
            // negative_offset_extended
            case 0x2F: return offset(number, -signed_of(p.unsigned_number()));
            default: return false;
        }
    }

    [[nodiscard]] std::int64_t signed_of(std::uint64_t factored) const noexcept {
        return static_cast<std::int64_t>(factored) * m_function.data_factor;
    }
    [[nodiscard]] static std::int64_t slot_operand(std::int64_t number) noexcept {
        return static_cast<std::int64_t>(arch::slot_of(static_cast<std::uint64_t>(number)));
    }
    bool advance(std::uint64_t by) noexcept {
        m_at += by * m_function.code_factor;
        return true;
    }
    bool set_location(dwarf_reader& p) noexcept { return p.skip(m_function.pointer_bytes), false; }
    bool set(std::uint64_t number, rule const& chosen) noexcept {
        std::uint64_t const slot = arch::slot_of(number);
        // others, vector registers say, are not followed
        if (slot < k_register_count) m_row.registers[slot] = chosen;
        return true;
    }
    bool offset(std::uint64_t number, std::int64_t by) noexcept {
        return set(number, {rule_kind::at_offset, by});
    }
    bool restore(std::uint64_t number) noexcept {
        std::uint64_t const slot = arch::slot_of(number);
        return slot >= k_register_count || set(number, m_initial.registers[slot]);
    }
    bool remember() noexcept {
        if (m_depth == k_most_remembered) return false;
        m_remembered[m_depth++] = m_row;
        return true;
    }
    bool recall() noexcept {
        if (m_depth == 0) return false;
        m_row = m_remembered[--m_depth];
        return true;
    }
    bool frame_register(dwarf_reader& p) noexcept {
        m_row.frame = {rule_kind::in_register,
                       slot_operand(static_cast<std::int64_t>(p.unsigned_number()))};
        return true;
    }
    bool frame_offset(std::int64_t by) noexcept {
        m_row.frame_offset = by;
        return true;
    }
    bool frame_expression(dwarf_reader& p) noexcept {
        m_row.frame = {rule_kind::value_expression, 0, p.block()};
        return true;
    }

    description const& m_function;
    std::uintptr_t m_pc;
    std::uintptr_t m_at;
    row m_row, m_initial;
    std::array<row, k_most_remembered> m_remembered;
    std::size_t m_depth = 0;
};

// --- from the row to the caller's registers ------------------------------------------------------

// A location expression over the registers of this frame.
class expression {
public:
    expression(arch::registers const& r, stack_range const& stack) noexcept
        : m_registers(r), m_stack(stack) {}

    [[nodiscard]] bool evaluate(dwarf_reader code, std::uintptr_t& result) noexcept {
        while (!code.at_end()) {
            if (!run_one(code)) return false;
        }
        return pop(result);
    }
    [[nodiscard]] bool push(std::uintptr_t word) noexcept {
        if (m_depth == m_words.size()) return false;
        m_words[m_depth++] = word;
        return true;
    }

private:
    bool pop(std::uintptr_t& word) noexcept {
        if (m_depth == 0) return false;
        word = m_words[--m_depth];
        return true;
    }
    bool push_register(std::size_t number, std::int64_t offset) noexcept {
        return m_registers.has(number) &&
               push(m_registers.value[number] + static_cast<std::uintptr_t>(offset));
    }
    bool run_one(dwarf_reader& p) noexcept {
        std::uint8_t const code = p.byte();
        // lit0 to lit31
        if (code >= 0x30 && code < 0x50) return push(code - 0x30U);
        // breg0 to breg31
        if (code >= 0x70 && code < 0x90) return push_register(code - 0x70U, p.signed_number());
        switch (code) {
            case 0x06: return dereference();
            // const1u
            case 0x08: return push(p.byte());
            // const1s
            case 0x09:
                return push(
                    static_cast<std::uintptr_t>(std::intptr_t{static_cast<std::int8_t>(p.byte())}));
            // const2u
            case 0x0A: return push(p.fixed<std::uint16_t>());
            // plus_uconst
            case 0x23: return push(p.unsigned_number()) && binary(0x22);
            default: return binary(code);
        }
    }
    bool dereference() noexcept {
        std::uintptr_t address = 0, word = 0;
        return pop(address) && m_stack.read(address, word) && push(word);
    }
    bool binary(std::uint8_t code) noexcept {
        std::uintptr_t a = 0, b = 0;
        if (!pop(b) || !pop(a)) return false;
        switch (code) {
            case 0x1A: return push(a & b);
            case 0x1C: return push(a - b);
            case 0x21: return push(a | b);
            case 0x22: return push(a + b);
            case 0x24: return push(a << (b & 63U));
            case 0x25: return push(a >> (b & 63U));
            case 0x2A:
                return push(static_cast<std::intptr_t>(a) >= static_cast<std::intptr_t>(b) ? 1 : 0);
            default: return false;
        }
    }

    arch::registers const& m_registers;
    stack_range const& m_stack;
    std::array<std::uintptr_t, 16> m_words{};
    std::size_t m_depth = 0;
};

struct frame_view {
    arch::registers const& registers;
    stack_range const& stack;
    std::uintptr_t address = 0; // canonical frame address
};

bool find_frame_address(row const& here, frame_view& f) noexcept {
    if (here.frame.kind == rule_kind::value_expression)
        return expression(f.registers, f.stack).evaluate(here.frame.expression, f.address);
    auto const number = static_cast<std::size_t>(here.frame.number);
    if (here.frame.kind != rule_kind::in_register || !f.registers.has(number)) return false;
    f.address = f.registers.value[number] + static_cast<std::uintptr_t>(here.frame_offset);
    return true;
}

bool evaluate_from_frame(frame_view const& f, dwarf_reader code, std::uintptr_t& result) noexcept {
    expression e(f.registers, f.stack);
    return e.push(f.address) && e.evaluate(code, result);
}

// The caller's value of a register; false: not known.
bool apply(rule const& chosen, std::size_t number, frame_view const& f,
           std::uintptr_t& word) noexcept {
    std::uintptr_t const shifted = f.address + static_cast<std::uintptr_t>(chosen.number);
    switch (chosen.kind) {
        case rule_kind::undefined: return false;
        case rule_kind::same: word = f.registers.value[number]; return f.registers.has(number);
        case rule_kind::at_offset: return f.stack.read(shifted, word);
        case rule_kind::value_offset: word = shifted; return true;
        case rule_kind::in_register:
            if (!f.registers.has(static_cast<std::size_t>(chosen.number))) return false;
            word = f.registers.value[static_cast<std::size_t>(chosen.number)];
            return true;
        case rule_kind::at_expression:
            return evaluate_from_frame(f, chosen.expression, word) && f.stack.read(word, word);
        case rule_kind::value_expression: return evaluate_from_frame(f, chosen.expression, word);
    }
    return false;
}

} // namespace

TULLE_NO_SANITIZE bool stack_range::read(std::uintptr_t address,
                                         std::uintptr_t& word) const noexcept {
    if (address < low || address % alignof(std::uintptr_t) != 0 || high < sizeof word ||
        address > high - sizeof word)
        return false;
    word = *reinterpret_cast<std::uintptr_t const volatile*>(address);
    return true;
}

frame_step to_caller(arch::registers& r, stack_range const& stack, bool is_call) noexcept {
    if (!arch::k_can_unwind || r.pc == 0) return frame_step::end;
    std::uintptr_t const pc = is_call ? r.pc - 1 : r.pc;
    dwarf_eh_bases bases{};
    void const* const found = _Unwind_Find_FDE(reinterpret_cast<void*>(pc), &bases);
    description d;
    if (found == nullptr || !describe(found, bases.function, d)) return frame_step::end;
    machine program(d, pc);
    frame_view frame{r, stack};
    if (!program.run() || !find_frame_address(program.result(), frame)) return frame_step::end;
    arch::registers caller;
    for (std::size_t number = 0; number < k_register_count; ++number) {
        std::uintptr_t word = 0;
        if (apply(program.result().registers[number], number, frame, word))
            caller.set(number, word);
    }
    rule const& own = program.result().registers[arch::k_stack_pointer];
    // Unless said otherwise.
    if (own.kind == rule_kind::same) caller.set(arch::k_stack_pointer, frame.address);
    if (!caller.has(d.return_register)) return frame_step::end;
    caller.pc = arch::code_address(caller.value[d.return_register]);
    r = caller;
    return d.is_signal_frame ? frame_step::interrupted : frame_step::call;
}

bool is_in_function(std::uintptr_t pc, std::uintptr_t begin) noexcept {
    dwarf_eh_bases bases{};
    return arch::k_can_unwind && _Unwind_Find_FDE(reinterpret_cast<void*>(pc), &bases) != nullptr &&
           reinterpret_cast<std::uintptr_t>(bases.function) == begin;
}

} // namespace tulle::diag
