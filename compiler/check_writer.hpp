// SPDX-License-Identifier: Apache-2.0
// Writes checks into functions: the test of the state byte, inline, and the call of the run time.
#pragma once

#include "accesses.hpp"

#include "llvm/IR/IRBuilder.h"

namespace tulle::compiler {

// So many states are compared with a number by one instruction.
inline constexpr unsigned k_most_lines_of_check = 4;

// The bytes [offset, offset + bytes) from a pointer, which lie in so many lines at most; something
// of each is touched.
struct checked_bytes {
    llvm::Value* pointer;
    std::int64_t offset;
    std::uint64_t bytes;
    bool straddles;      // they may lie in more than one line
    bool may_be_nowhere; // nothing may be touched, and the pointer be no address of a process
    mode how;
};

// All lines of the addresses [first, last]; nothing where last < first.
struct checked_range {
    llvm::Value* first;
    llvm::Value* last;
    mode how;
    std::uint64_t bytes = 0; // where it is known how many
    bool is_touched = false; // the access comes in any case, and touches a part of it at least
};

class check_writer {
public:
    explicit check_writer(llvm::Module& module);

    // The check precedes `at`.
    void check_bytes(llvm::Instruction* at, checked_bytes const& what);
    void check_range(llvm::Instruction* at, checked_range const& what);
    // As a range, and again `more` times, each time `stride` bytes further.
    void check_rows(llvm::Instruction* at, llvm::Value* first, llvm::Value* last,
                    llvm::Value* stride, llvm::Value* more, mode how);

    // Tells the run time, which looks for races, of an access to so many bytes.
    void tell(llvm::Instruction* at, llvm::Value* address, llvm::Value* bytes, mode how);

    // Whether an address is one of coherent memory, and the state byte of one that is.
    llvm::Value* is_coherent(llvm::IRBuilder<>& builder, llvm::Value* address);
    llvm::Value* state_of(llvm::IRBuilder<>& builder, llvm::Value* address);
    llvm::Value* place_of_state(llvm::IRBuilder<>& builder, llvm::Value* address, llvm::Type* type);
    // The code for the case that `condition` holds, ahead of `at`; returns its last instruction.
    llvm::Instruction* when(llvm::Value* condition, llvm::Instruction* at, bool is_rare);
    llvm::Value* address_of(llvm::IRBuilder<>& builder, llvm::Value* pointer);
    llvm::CallInst* call(llvm::Instruction* at, char const* function,
                         llvm::ArrayRef<llvm::Value*> arguments, llvm::CallingConv::ID convention,
                         llvm::Type* result = nullptr); // none: void

private:
    llvm::Value* load_states(llvm::IRBuilder<>& builder, llvm::Value* address, llvm::Type* type);
    // Whether one of the first states, side by side, does.
    llvm::Value* forbids(llvm::IRBuilder<>& builder, llvm::Value* states, unsigned lines, mode how);
    // Of the line of an address and those after it.
    llvm::Value* forbids_first(llvm::IRBuilder<>& builder, llvm::Value* address, unsigned lines,
                               mode how);
    // Where a state is, as a number, and the states from there on.
    llvm::Value* number_of_state(llvm::IRBuilder<>& builder, llvm::Value* address);
    llvm::Value* load_word(llvm::IRBuilder<>& builder, llvm::Value* place);
    void look_at_words(llvm::Instruction* at, checked_range const& what, llvm::PHINode& ask);
    void ask_for_range(llvm::Instruction* at, checked_range const& what);

    llvm::Module& m_module;
    llvm::Type* m_word;
    llvm::MDNode* m_rare;
};

} // namespace tulle::compiler
