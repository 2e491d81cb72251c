// SPDX-License-Identifier: Apache-2.0
#include "x86_fences.hpp"

#include <optional>

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsX86.h"

namespace tulle::compiler {

using namespace llvm;

namespace {

std::optional<AtomicOrdering> order_of(Instruction const& i) {
    auto const* const call = dyn_cast<IntrinsicInst>(&i);
    if (call == nullptr) return std::nullopt;
    switch (call->getIntrinsicID()) {
        case Intrinsic::x86_sse2_mfence: return AtomicOrdering::AcquireRelease;
        case Intrinsic::x86_sse2_lfence: return AtomicOrdering::Acquire;
        case Intrinsic::x86_sse_sfence: return AtomicOrdering::Release;
        default: return std::nullopt;
    }
}

} // namespace

void add_fences(Module& module) {
    for (Function& f : module)
        for (Instruction& i : instructions(f))
            if (auto const order = order_of(i))
                new FenceInst(module.getContext(), *order, SyncScope::System, &i);
}

} // namespace tulle::compiler
