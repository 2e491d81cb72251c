// SPDX-License-Identifier: Apache-2.0
#include "library_checks.hpp"

#include "library_calls.hpp"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include "tulle/coherent_abi.h"

namespace tulle::compiler {

using namespace llvm;

namespace {

// The part of a call that may be coherent memory.
struct shared_part {
    part what;
    Value* pointer;
    Value* address;
    Value* bytes;
};

class call_writer {
public:
    call_writer(CallBase& call, check_writer& writer) : m_call(call), m_writer(writer) {}

    shared_part measure(part const& p) {
        Value* const pointer = m_call.getArgOperand(p.pointer);
        IRBuilder<> builder(&m_call);
        Value* const address = m_writer.address_of(builder, pointer);
        return {p, pointer, address, bytes_of(p, address)};
    }
    // Nothing where there are no bytes; a negative number makes the range empty.
    void check(shared_part const& s) {
        if (s.what.how_far == extent::string) return; // whoever has measured it has checked it
        IRBuilder<> builder(&m_call);
        Value* const end = builder.CreateAdd(s.address, s.bytes);
        m_writer.check_range(&m_call,
                             {s.address, builder.CreateSub(end, builder.getInt64(1)), s.what.how});
    }
    void tell(shared_part const& s) { m_writer.tell(&m_call, s.address, s.bytes, s.what.how); }
    // One after the other: what is printed is measured by what has been lent before.
    void lend(ArrayRef<part> parts) {
        if (parts.empty()) return;
        SmallVector<shared_part, 4> all;
        SmallVector<Value*, 4> lent;
        IRBuilder<> builder(&m_call);
        for (part const& p : parts) {
            shared_part const s = measure(p);
            all.push_back(s);
            lent.push_back(m_writer.call(&m_call, "tulle_coherent_borrow",
                                         {s.address, s.bytes, stores(builder, s)}, CallingConv::C,
                                         builder.getInt64Ty()));
            builder.SetInsertPoint(&m_call);
            m_call.setArgOperand(p.pointer,
                                 builder.CreateIntToPtr(lent.back(), s.pointer->getType()));
        }
        end_as_last();
        Instruction* const after = next();
        builder.SetInsertPoint(after);
        if (m_call.getType()->isPointerTy()) give_result(builder, all, lent);
        for (auto const& [s, address] : zip(all, lent))
            m_writer.call(after, "tulle_coherent_return",
                          {s.address, address, s.bytes, stored(builder, s)}, CallingConv::C);
    }

private:
    static Value* stores(IRBuilder<>& builder, shared_part const& s) {
        if (s.what.how != mode::store) return builder.getInt32(0);
        return builder.getInt32(s.what.is_late ? TULLE_COHERENT_STORES_LATE : 1);
    }
    // Behind the call.
    Value* stored(IRBuilder<>& builder, shared_part const& s) {
        if (s.what.how != mode::store) return builder.getInt64(0);
        bool const is_told = s.what.is_counted && m_call.getType()->isIntegerTy();
        if (!is_told) return builder.getInt64(TULLE_COHERENT_STORED_SOME);
        Value* const count = builder.CreateSExtOrTrunc(&m_call, builder.getInt64Ty());
        Value* const none = builder.getInt64(0);
        return builder.CreateSelect(builder.CreateICmpSLT(count, none), none, count);
    }
    // What is lent comes back behind a call that was the last act of its function. And what is lent
    // may be memory of the function's own, which a call that is marked as a last one does not use.
    void end_as_last() {
        if (auto* const call = dyn_cast<CallInst>(&m_call); call != nullptr && call->isTailCall())
            call->setTailCallKind(CallInst::TCK_NoTail);
    }
    Instruction* next() {
        auto* const invoke = dyn_cast<InvokeInst>(&m_call);
        if (invoke == nullptr) return m_call.getNextNode();
        return &*SplitEdge(invoke->getParent(), invoke->getNormalDest())->getFirstInsertionPt();
    }
    // A pointer into what was lent becomes one into what it is of.
    void give_result(IRBuilder<>& builder, ArrayRef<shared_part> all, ArrayRef<Value*> lent) {
        SmallVector<Use*, 8> uses;
        for (Use& use : m_call.uses()) uses.push_back(&use);
        Value* const found = m_writer.address_of(builder, &m_call);
        Value* result = found;
        for (auto const& [s, address] : zip(all, lent)) {
            Value* const offset = builder.CreateSub(found, address);
            result = builder.CreateSelect(builder.CreateICmpULE(offset, s.bytes),
                                          builder.CreateAdd(s.address, offset), result);
        }
        Value* const pointer = builder.CreateIntToPtr(result, m_call.getType());
        for (Use* const use : uses) use->set(pointer);
    }
    Value* number(IRBuilder<>& builder, int argument, std::uint64_t otherwise) {
        if (argument == k_none) return builder.getInt64(otherwise);
        return builder.CreateSExtOrTrunc(m_call.getArgOperand(static_cast<unsigned>(argument)),
                                         builder.getInt64Ty());
    }
    Value* bytes_of(part const& p, Value* address) {
        IRBuilder<> builder(&m_call);
        if (p.how_far == extent::bytes) return builder.getInt64(p.most);
        if (p.how_far == extent::objects)
            return builder.CreateMul(number(builder, p.a, 1), number(builder, p.b, 1));
        return where_coherent(address, [&](Instruction* at) {
            return p.how_far == extent::printed ? bytes_printed(p, at)
                                                : bytes_of_string(p, address, at);
        });
    }
    // It is printed to nowhere. What fails prints nothing, by -1 and the byte at the end.
    Value* bytes_printed(part const& p, Instruction* at) {
        IRBuilder<> builder(at);
        Type* const text = builder.getInt8Ty()->getPointerTo();
        SmallVector<Value*, 8> arguments{ConstantPointerNull::get(cast<PointerType>(text)),
                                         builder.getInt64(0)};
        for (unsigned k = static_cast<unsigned>(p.a); k < m_call.arg_size(); ++k)
            arguments.push_back(m_call.getArgOperand(k));
        auto* const type =
            FunctionType::get(builder.getInt32Ty(), {text, builder.getInt64Ty(), text}, true);
        Value* const length = builder.CreateCall(
            m_call.getModule()->getOrInsertFunction("snprintf", type), arguments);
        Value* const bytes = builder.CreateAdd(builder.CreateSExt(length, builder.getInt64Ty()),
                                               builder.getInt64(1));
        if (p.b == k_none) return bytes;
        Value* const most = number(builder, p.b, 0);
        return builder.CreateSelect(builder.CreateICmpULT(bytes, most), bytes, most);
    }
    // 0 for other memory.
    template <typename Make> Value* where_coherent(Value* address, Make make) {
        IRBuilder<> builder(&m_call);
        Value* const condition = m_writer.is_coherent(builder, address);
        BasicBlock* const outside = m_call.getParent();
        Instruction* const inside = m_writer.when(condition, &m_call, false);
        Value* const found = make(inside);
        auto* const either =
            PHINode::Create(found->getType(), 2, "", &*m_call.getParent()->begin());
        either->addIncoming(builder.getInt64(0), outside);
        either->addIncoming(found, inside->getParent());
        return either;
    }
    Value* bytes_of_string(part const& p, Value* address, Instruction* at) {
        IRBuilder<> builder(at);
        if (p.how_far == extent::string)
            return string(p, at, address, number(builder, p.a, p.most));
        Value* const source =
            m_writer.address_of(builder, m_call.getArgOperand(static_cast<unsigned>(p.a)));
        Value* const own = string(p, at, source, number(builder, p.b, p.most));
        if (p.how_far == extent::as_string) return own;
        Value* const before = string(p, at, address, builder.getInt64(p.most));
        return builder.CreateAdd(before, own); // one more than both and their end
    }
    Value* string(part const& p, Instruction* at, Value* address, Value* most) {
        if (p.end != k_none) {
            IRBuilder<> builder(at);
            Value* const byte = builder.CreateZExtOrTrunc(
                m_call.getArgOperand(static_cast<unsigned>(p.end)), builder.getInt32Ty());
            return m_writer.call(at, "tulle_coherent_find", {address, byte, most}, CallingConv::C,
                                 most->getType());
        }
        return m_writer.call(at, "tulle_coherent_string", {address, most}, CallingConv::C,
                             most->getType());
    }

    CallBase& m_call;
    check_writer& m_writer;
};

parts shared_parts_of(CallBase const& call, chosen_checks chosen) {
    parts found = parts_of(call);
    erase_if(found, [&](part const& p) {
        return !chosen.covers(p.how) || is_private(call.getArgOperand(p.pointer));
    });
    return found;
}

// Of qsort: it stores after calls of a function of the program, which may synchronise.
bool has_loud_comparison(CallBase const& call, synchronisation const& synchronises) {
    constexpr unsigned k_comparison = 3;
    if (function_of(call)->getName() != "qsort" || call.arg_size() <= k_comparison) return false;
    auto const* const comparison =
        dyn_cast<Function>(call.getArgOperand(k_comparison)->stripPointerCasts());
    return comparison == nullptr || synchronises.may_happen_in(*comparison);
}

template <typename F> void each_call(Function& function, chosen_checks chosen, F f) {
    SmallVector<CallBase*, 8> found; // checks cut blocks apart
    for (Instruction& i : instructions(function))
        if (auto* const call = dyn_cast<CallBase>(&i))
            if (!shared_parts_of(*call, chosen).empty()) found.push_back(call);
    for (CallBase* const call : found) f(*call, shared_parts_of(*call, chosen));
}

} // namespace

bool is_checked_call(CallBase const& call) {
    return !parts_of(call).empty() && has_known_format(call);
}

void check_library_calls(Function& function, chosen_checks chosen,
                         synchronisation const& synchronises, check_writer& writer) {
    each_call(function, chosen, [&](CallBase& call, parts const& all) {
        call_writer by(call, writer);
        bool const lets_others_run = has_loud_comparison(call, synchronises);
        parts late;
        for (part p : all) {
            p.is_late |= lets_others_run;
            if (p.is_late)
                late.push_back(p);
            else
                by.check(by.measure(p));
        }
        by.lend(late);
    });
}

void tell_library_calls(Function& function, chosen_checks chosen, check_writer& writer) {
    each_call(function, chosen, [&](CallBase& call, parts const& all) {
        call_writer by(call, writer);
        for (part const& p : all) by.tell(by.measure(p));
    });
}

void lend_to_library(Function& function, chosen_checks chosen, check_writer& writer) {
    each_call(function, chosen,
              [&](CallBase& call, parts const& all) { call_writer(call, writer).lend(all); });
}

} // namespace tulle::compiler
