// SPDX-License-Identifier: Apache-2.0
#include "block_checks.hpp"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

namespace tulle::compiler {

using namespace llvm;

namespace {

void check_side(AnyMemIntrinsic& operation, Value* pointer, mode how, check_writer& writer) {
    IRBuilder<> builder(&operation);
    Value* const bytes = builder.CreateZExtOrTrunc(operation.getLength(), builder.getInt64Ty());
    Value* const first = writer.address_of(builder, pointer);
    Value* const end = builder.CreateAdd(first, bytes);
    writer.check_range(&operation, {first, builder.CreateSub(end, builder.getInt64(1)), how});
}

} // namespace

void check_block_operations(Function& function, chosen_checks chosen, check_writer& writer) {
    SmallVector<AnyMemIntrinsic*, 8> found; // checks cut blocks apart
    for (Instruction& i : instructions(function))
        if (auto* operation = dyn_cast<AnyMemIntrinsic>(&i)) found.push_back(operation);
    for (AnyMemIntrinsic* operation : found) {
        if (chosen.covers(mode::store) && !is_private(operation->getRawDest()))
            check_side(*operation, operation->getRawDest(), mode::store, writer);
        auto* const transfer = dyn_cast<AnyMemTransferInst>(operation);
        if (transfer != nullptr && chosen.covers(mode::load) &&
            !is_private(transfer->getRawSource()))
            check_side(*operation, transfer->getRawSource(), mode::load, writer);
    }
}

} // namespace tulle::compiler
