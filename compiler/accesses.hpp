// SPDX-License-Identifier: Apache-2.0
// Which instructions may touch coherent memory, where, and how.
#pragma once

#include <cstdint>
#include <vector>

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

namespace tulle::compiler {

enum class mode { load, store, atomic };

struct access {
    llvm::Instruction* at;
    unsigned operand; // which one of it says where
    std::uint64_t bytes;
    std::uint64_t alignment;
    mode how;
    int lane = -1;
    bool is_masked = false; // it may touch nothing, and its pointer be no address of a process

    // As it is now: the check of another access may have put something else in its place. Of a
    // gather or scatter it is a vector, of which `lane` is meant.
    [[nodiscard]] llvm::Value* pointer() const { return at->getOperand(operand); }
    [[nodiscard]] bool may_straddle_lines() const { return alignment < bytes; }
};

// What is loaded. Whatever is no floating-point number, such as a block of bytes, is an integer.
enum class value_kind { integer, floating_point };

// Which kinds are checked at all, as the environment variable TULLE_COHERENT_CHECKS says: all,
// loads, int-loads, fp-loads, stores or none; no loads where copies are refreshed.
struct chosen_checks {
    bool int_loads = true;
    bool fp_loads = true;
    bool stores = true;

    [[nodiscard]] bool covers(mode how, value_kind kind = value_kind::integer) const {
        bool const loads = kind == value_kind::integer ? int_loads : fp_loads;
        if (how == mode::atomic) return loads || stores;
        return how == mode::load ? loads : stores;
    }
    [[nodiscard]] bool are_none() const { return !int_loads && !fp_loads && !stores; }
    static chosen_checks read();
};

// `tulle cc --share-globals`: variables of the program are coherent memory.
bool are_globals_shared();

// How accesses are checked, as TULLE_COHERENT_SCHEME says: states, directory, races or refresh.
enum class scheme { states, directory, races, refresh };
scheme chosen_scheme();
// Whether a check is good until the thread synchronises, or for its access only.
inline bool checks_hold_on() {
    return chosen_scheme() == scheme::states || chosen_scheme() == scheme::refresh;
}

// Whether a pointer can only lead to memory that is no coherent one: the stack, variables of the
// program, blocks of malloc, other address spaces.
bool is_private(llvm::Value const* pointer);
// Whether it copies between one that may have coherent memory and one that has none.
bool is_between_address_spaces(llvm::AnyMemIntrinsic const& operation);

// Loads and stores of the function that a check must precede, in order. Without those that are
// marked, and without memcpy and its kin.
std::vector<access> accesses_of(llvm::Function& function, chosen_checks chosen);

// Of which a pass is told that they are none of its business.
using accesses_left = llvm::SmallPtrSet<llvm::Instruction const*, 8>;

// Marks instructions that a check ahead of a loop covers, or that belong to a check. The mark says
// that they do not alias a scope in which nothing is: vectorizers and other passes keep such a list
// where all instructions that they join have it, and never invent one. (An access group would be
// lost in vectors of instructions without a loop.)
void mark(llvm::Instruction& instruction);
bool is_marked(llvm::Instruction const& instruction);

} // namespace tulle::compiler
