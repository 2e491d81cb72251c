// SPDX-License-Identifier: Apache-2.0
// Writes checks into functions: the test of the state byte, inline, and the call of the run time.
#pragma once

#include "accesses.hpp"

#include "llvm/IR/IRBuilder.h"

namespace tulle::compiler {

class check_writer {
public:
    explicit check_writer(llvm::Module& module);

    // The bytes [offset, offset + bytes) from a pointer, at most a line of them. The check precedes
    // `at`. `straddles`: they may lie in two lines.
    void check_bytes(llvm::Instruction* at, llvm::Value* pointer, std::int64_t offset,
                     std::uint64_t bytes, bool straddles, mode how);
    // All lines of the addresses [first, last]; nothing where last < first.
    void check_range(llvm::Instruction* at, llvm::Value* first, llvm::Value* last, mode how);
    // As a range, and again `more` times, each time `stride` bytes further.
    void check_rows(llvm::Instruction* at, llvm::Value* first, llvm::Value* last,
                    llvm::Value* stride, llvm::Value* more, mode how);

    // Tells the run time, which looks for races, of an access to so many bytes.
    void tell(llvm::Instruction* at, llvm::Value* address, llvm::Value* bytes, mode how);

    // Whether an address is one of coherent memory, and the state byte of one that is.
    llvm::Value* is_coherent(llvm::IRBuilder<>& builder, llvm::Value* address);
    llvm::Value* state_of(llvm::IRBuilder<>& builder, llvm::Value* address);
    // The code for the case that `condition` holds, ahead of `at`; returns its last instruction.
    llvm::Instruction* when(llvm::Value* condition, llvm::Instruction* at, bool is_rare);
    llvm::Value* address_of(llvm::IRBuilder<>& builder, llvm::Value* pointer);
    llvm::CallInst* call(llvm::Instruction* at, char const* function,
                         llvm::ArrayRef<llvm::Value*> arguments, llvm::CallingConv::ID convention,
                         llvm::Type* result = nullptr); // none: void

private:
    // Of the line of an address and the one after it.
    llvm::Value* states_from(llvm::IRBuilder<>& builder, llvm::Value* address);
    llvm::Value* load_states(llvm::IRBuilder<>& builder, llvm::Value* address, llvm::Type* type);
    // Whether one of up to two states, side by side, does.
    llvm::Value* forbids(llvm::IRBuilder<>& builder, llvm::Value* states, mode how);

    llvm::Module& m_module;
    llvm::Type* m_word;
    llvm::MDNode* m_rare;
};

} // namespace tulle::compiler
