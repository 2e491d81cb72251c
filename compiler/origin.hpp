// SPDX-License-Identifier: Apache-2.0
// What addresses have in common: those that are made of the same values are a constant apart.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Instructions.h"

namespace tulle::compiler {

// An address but for a constant: a pointer, and multiples of other values, modulo 2^64.
struct origin {
    llvm::Value* pointer;
    std::map<llvm::Value*, std::uint64_t> terms; // how often each value counts; never 0 times

    bool operator<(origin const& other) const {
        return pointer != other.pointer ? pointer < other.pointer : terms < other.terms;
    }
    // Whether the block makes one of its values, which is another one each time it is entered then.
    [[nodiscard]] bool is_made_in(llvm::BasicBlock const& block) const;
};

struct place {
    origin const* from;
    std::int64_t offset; // bytes
};

class origins {
public:
    explicit origins(llvm::DataLayout const& layout) : m_layout(layout) {}

    // The same origin for all addresses that have it.
    place find(llvm::Value* pointer);

private:
    llvm::DataLayout const& m_layout;
    std::set<origin> m_all;
};

} // namespace tulle::compiler
