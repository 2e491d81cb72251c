// SPDX-License-Identifier: Apache-2.0
// What an access touches while a loop runs: a range of addresses, or rows of them with gaps, as
// expressions of what is known ahead of the loop.
#pragma once

#include "accesses.hpp"
#include "loop_analyses.hpp"

#include <optional>

namespace tulle::compiler {

// An inner loop that runs only where this holds.
struct guard {
    llvm::Value* condition;
    bool wanted;

    bool operator==(guard const& other) const {
        return condition == other.condition && wanted == other.wanted;
    }
};

struct span {
    llvm::SCEV const* first; // addresses of the first and the last byte of a row
    llvm::SCEV const* last;
    llvm::SCEV const* stride = nullptr; // from row to row; none: there is one row
    llvm::SCEV const* more = nullptr;   // rows after the first
    llvm::Loop* loop;                   // the check is ahead of it
    mode how;
    bool is_touched; // the access comes where the loop is entered, unless a guard fails
    llvm::SmallVector<guard, 2> guards;
    llvm::SmallVector<llvm::Instruction*, 4> covered;

    [[nodiscard]] bool has_shape_of(span const& other) const {
        return loop == other.loop && stride == other.stride && more == other.more &&
               guards == other.guards;
    }
};

// Makes spans of accesses, as far out of the loops as they can be.
class span_finder {
public:
    using is_quiet = llvm::function_ref<bool(llvm::Loop const&)>;

    span_finder(loop_analyses const& of, is_quiet quiet) : m_of(of), m_quiet(quiet) {}

    // None: the access is in no loop, or not in each turn, or the addresses are not foreseen.
    std::optional<span> find(access const& a);

private:
    bool fold_loop(span& s, llvm::Loop* loop, llvm::SCEV const* turns);
    llvm::SCEV const* turns_of(access const& a, llvm::Loop* loop, bool& is_touched);
    bool fold_outer_loop(span& s, llvm::Loop* outer);
    bool ends_by_itself(llvm::Loop const* loop);
    bool is_always_reached(llvm::BasicBlock const* block, llvm::Loop const* outer);
    bool runs_in_each_turn(span& s, llvm::Loop* outer);
    bool has_gaps(span const& s, llvm::SCEV const* step);
    llvm::SCEV const* word(llvm::SCEV const* value);

    loop_analyses const& m_of;
    is_quiet m_quiet;
};

} // namespace tulle::compiler
