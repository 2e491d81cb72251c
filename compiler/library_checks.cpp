// SPDX-License-Identifier: Apache-2.0
#include "library_checks.hpp"

#include <algorithm>
#include <array>

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

namespace tulle::compiler {

using namespace llvm;

namespace {

constexpr int k_none = -1;

// The arguments of a function, by number, that are a block of memory: a pointer to `count` objects
// of so many bytes, or of one.
struct block {
    char const* function;
    int pointer;
    int count;
    int size;
    mode how;
};

constexpr std::array<block, 31> k_blocks{{
    {"read", 1, 2, k_none, mode::store},      {"pread", 1, 2, k_none, mode::store},
    {"pread64", 1, 2, k_none, mode::store},   {"recv", 1, 2, k_none, mode::store},
    {"recvfrom", 1, 2, k_none, mode::store},  {"fread", 0, 2, 1, mode::store},
    {"fread_unlocked", 0, 2, 1, mode::store}, {"fgets", 0, 1, k_none, mode::store},
    {"getcwd", 0, 1, k_none, mode::store},    {"getrandom", 0, 1, k_none, mode::store},
    {"write", 1, 2, k_none, mode::load},      {"pwrite", 1, 2, k_none, mode::load},
    {"pwrite64", 1, 2, k_none, mode::load},   {"send", 1, 2, k_none, mode::load},
    {"sendto", 1, 2, k_none, mode::load},     {"fwrite", 0, 2, 1, mode::load},
    {"fwrite_unlocked", 0, 2, 1, mode::load}, {"memcmp", 0, 2, k_none, mode::load},
    {"memcmp", 1, 2, k_none, mode::load},     {"bcmp", 0, 2, k_none, mode::load},
    {"bcmp", 1, 2, k_none, mode::load},       {"memchr", 0, 2, k_none, mode::load},
    {"memrchr", 0, 2, k_none, mode::load},    {"qsort", 0, 1, 2, mode::store},
    {"mempcpy", 0, 2, k_none, mode::store},   {"mempcpy", 1, 2, k_none, mode::load},
    {"memccpy", 0, 3, k_none, mode::store},   {"memccpy", 1, 3, k_none, mode::load},
    {"bcopy", 1, 2, k_none, mode::store},     {"bcopy", 0, 2, k_none, mode::load},
    {"bzero", 0, 1, k_none, mode::store},
}};

bool has_number(CallBase const& call, int argument) {
    return argument == k_none || (argument < static_cast<int>(call.arg_size()) &&
                                  call.getArgOperand(argument)->getType()->isIntegerTy());
}

// The program may have a function of that name itself.
bool is_block(CallBase const& call, block const& b) {
    Function const* const callee = call.getCalledFunction();
    return callee != nullptr && callee->isDeclaration() && callee->getName() == b.function &&
           b.pointer < static_cast<int>(call.arg_size()) &&
           call.getArgOperand(b.pointer)->getType()->isPointerTy() && has_number(call, b.count) &&
           has_number(call, b.size);
}

// A negative number makes the range empty.
Value* number(IRBuilder<>& builder, CallBase& call, int argument) {
    if (argument == k_none) return builder.getInt64(1);
    return builder.CreateSExtOrTrunc(call.getArgOperand(argument), builder.getInt64Ty());
}

void check_block(CallBase& call, block const& b, check_writer& writer) {
    IRBuilder<> builder(&call);
    Value* const bytes =
        builder.CreateMul(number(builder, call, b.count), number(builder, call, b.size));
    Value* const first = writer.address_of(builder, call.getArgOperand(b.pointer));
    Value* const end = builder.CreateAdd(first, bytes);
    writer.check_range(&call, first, builder.CreateSub(end, builder.getInt64(1)), b.how);
}

} // namespace

bool is_checked_call(CallBase const& call) {
    return std::any_of(k_blocks.begin(), k_blocks.end(),
                       [&call](block const& b) { return is_block(call, b); });
}

void check_library_calls(Function& function, chosen_checks chosen, check_writer& writer) {
    SmallVector<CallBase*, 8> found; // checks cut blocks apart
    for (Instruction& i : instructions(function))
        if (auto* const call = dyn_cast<CallBase>(&i))
            if (is_checked_call(*call)) found.push_back(call);
    for (CallBase* const call : found)
        for (block const& b : k_blocks)
            if (is_block(*call, b) && chosen.covers(b.how) &&
                !is_private(call->getArgOperand(b.pointer)))
                check_block(*call, b, writer);
}

} // namespace tulle::compiler
