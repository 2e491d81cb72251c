// SPDX-License-Identifier: Apache-2.0
// What functions of the C library, and of the system, load from memory that they are given, and
// store to it.
#pragma once

#include "accesses.hpp"

#include <cstdint>

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/InstrTypes.h"

namespace tulle::compiler {

inline constexpr int k_none = -1;

// How far memory goes from a pointer on. The numbers are those of arguments of the call.
enum class extent {
    objects,      // so many, `a`, of so many bytes, `b` or one
    bytes,        // as many as `most`
    string,       // to its end; of at most `a` bytes, or `most`
    as_string,    // as that of the string `a`, of which at most `b` bytes count
    after_string, // the same, behind the string that is there
    printed // what is printed by the format `a`, which is ahead of its values; at most `b` bytes
};

struct part {
    unsigned pointer;
    extent how_far;
    int a = k_none;
    int b = k_none;
    mode how = mode::load;
    std::uint64_t most = ~std::uint64_t{0};
    int end = k_none;        // the byte, a number, with which a string ends; none: 0
    bool is_counted = false; // the call returns how many bytes it has stored, or a negative number
    bool is_late = false;    // others may run between the call and the access
};

using parts = llvm::SmallVector<part, 4>;

// Whatever type it is called by, as where a declaration has no prototype; null: it is not known.
llvm::Function const* function_of(llvm::CallBase const& call);

// None: it is another function, one of the program itself, or its format is not known.
parts parts_of(llvm::CallBase const& call);
// Whether that is all which the function touches by its arguments.
bool has_known_format(llvm::CallBase const& call);

} // namespace tulle::compiler
