// SPDX-License-Identifier: Apache-2.0
#include "vector_intrinsics.hpp"

#include "accesses.hpp"

#include <algorithm>
#include <array>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

namespace tulle::compiler {

using namespace llvm;

namespace {

// By the order of the arguments.
enum class form { load, masked_load, masked_store, masked_bytes, gather, scatter };

struct known_vector {
    char const* prefix;
    form kind;
};

constexpr std::array k_vectors{known_vector{"llvm.x86.sse3.ldu.", form::load},
                               known_vector{"llvm.x86.avx.ldu.", form::load},
                               known_vector{"llvm.x86.avx.maskload.", form::masked_load},
                               known_vector{"llvm.x86.avx2.maskload.", form::masked_load},
                               known_vector{"llvm.x86.avx.maskstore.", form::masked_store},
                               known_vector{"llvm.x86.avx2.maskstore.", form::masked_store},
                               known_vector{"llvm.x86.sse2.maskmov.dqu", form::masked_bytes},
                               known_vector{"llvm.x86.mmx.maskmovq", form::masked_bytes},
                               known_vector{"llvm.x86.avx2.gather.", form::gather},
                               known_vector{"llvm.x86.avx512.mask.gather", form::gather},
                               known_vector{"llvm.x86.avx512.mask.scatter", form::scatter}};

known_vector const* find_vector(CallBase const& call) {
    StringRef const name = call.getCalledFunction()->getName();
    auto const* const found =
        find_if(k_vectors, [&](known_vector const& k) { return name.find(k.prefix) == 0; });
    return found == k_vectors.end() ? nullptr : found;
}

unsigned lanes_of(Value const* vector) {
    return cast<FixedVectorType>(vector->getType())->getNumElements();
}

// Writes the access anew, ahead of the call, and takes the call away.
class generic_writer {
public:
    explicit generic_writer(CallBase& call) : m_call(call), m_builder(&call) {}

    void rewrite(form kind) {
        Value* result = nullptr;
        switch (kind) {
            case form::load: result = load(); break;
            case form::masked_load: result = masked_load(); break;
            case form::masked_store: masked_store(argument(2), argument(1), argument(0)); break;
            case form::masked_bytes: masked_store(bytes(0), bytes(1), argument(2)); break;
            case form::gather: result = gather(); break;
            case form::scatter: scatter(); break;
        }
        if (result != nullptr) m_call.replaceAllUsesWith(result);
        m_call.eraseFromParent();
    }

private:
    Value* argument(unsigned k) const { return m_call.getArgOperand(k); }
    Value* pointer_to(Type* type, Value* pointer) {
        return m_builder.CreatePointerCast(pointer, PointerType::get(type, 0));
    }
    // The register of MMX, too, is a vector of bytes.
    Value* bytes(unsigned k) {
        Value* const given = argument(k);
        auto const bits = given->getType()->getPrimitiveSizeInBits().getFixedValue();
        return m_builder.CreateBitCast(
            given, FixedVectorType::get(m_builder.getInt8Ty(), static_cast<unsigned>(bits / 8)));
    }
    // The highest bit of each lane counts.
    Value* mask_of(Value* given) {
        auto* const type = cast<VectorType>(given->getType());
        if (type->getElementType()->isIntegerTy(1)) return given;
        auto* const numbers = VectorType::getInteger(type);
        return m_builder.CreateICmpSLT(m_builder.CreateBitCast(given, numbers),
                                       Constant::getNullValue(numbers));
    }
    Value* first_lanes(Value* vector, unsigned count) {
        if (lanes_of(vector) == count) return vector;
        SmallVector<int, 16> taken;
        for (unsigned k = 0; k < count; ++k) taken.push_back(static_cast<int>(k));
        return m_builder.CreateShuffleVector(vector, vector, taken);
    }
    // Those behind the lanes that there are are zeros.
    Value* more_lanes(Value* vector, unsigned count) {
        unsigned const have = lanes_of(vector);
        if (have == count) return vector;
        SmallVector<int, 16> taken;
        for (unsigned k = 0; k < count; ++k) taken.push_back(static_cast<int>(std::min(k, have)));
        return m_builder.CreateShuffleVector(vector, Constant::getNullValue(vector->getType()),
                                             taken);
    }
    Value* load() {
        return m_builder.CreateAlignedLoad(m_call.getType(),
                                           pointer_to(m_call.getType(), argument(0)), Align(1));
    }
    Value* masked_load() {
        Type* const type = m_call.getType();
        return m_builder.CreateMaskedLoad(type, pointer_to(type, argument(0)), Align(1),
                                          mask_of(argument(1)), Constant::getNullValue(type));
    }
    void masked_store(Value* value, Value* mask, Value* pointer) {
        m_builder.CreateMaskedStore(value, pointer_to(value->getType(), pointer), Align(1),
                                    mask_of(mask));
    }
    // `base` and so many bytes further as an index, times a constant, says.
    Value* pointers(Value* base, Value* indices, Value* scale, Type* element) {
        auto const lanes = lanes_of(indices);
        auto* const words = FixedVectorType::get(m_builder.getInt64Ty(), lanes);
        Value* const wide = m_builder.CreateSExt(indices, words);
        Value* const step = m_builder.getInt64(cast<ConstantInt>(scale)->getZExtValue());
        Value* const offsets = m_builder.CreateMul(wide, m_builder.CreateVectorSplat(lanes, step));
        Value* const at = m_builder.CreateGEP(m_builder.getInt8Ty(),
                                              pointer_to(m_builder.getInt8Ty(), base), offsets);
        return m_builder.CreateBitCast(at,
                                       FixedVectorType::get(PointerType::get(element, 0), lanes));
    }
    // What was there before, where from, indices, mask, scale. There may be more indices than
    // lanes of the result, or fewer.
    Value* gather() {
        auto* const type = cast<FixedVectorType>(m_call.getType());
        unsigned const lanes = std::min(lanes_of(argument(0)), lanes_of(argument(2)));
        Value* const at = pointers(argument(1), first_lanes(argument(2), lanes), argument(4),
                                   type->getElementType());
        Value* const found = m_builder.CreateMaskedGather(
            FixedVectorType::get(type->getElementType(), lanes), at, Align(1),
            first_lanes(mask_of(argument(3)), lanes), first_lanes(argument(0), lanes));
        return more_lanes(found, type->getNumElements());
    }
    // Where to, mask, indices, what, scale.
    void scatter() {
        unsigned const lanes = std::min(lanes_of(argument(2)), lanes_of(argument(3)));
        auto* const type = cast<FixedVectorType>(argument(3)->getType());
        Value* const at = pointers(argument(0), first_lanes(argument(2), lanes), argument(4),
                                   type->getElementType());
        m_builder.CreateMaskedScatter(first_lanes(argument(3), lanes), at, Align(1),
                                      first_lanes(mask_of(argument(1)), lanes));
    }

    CallBase& m_call;
    IRBuilder<> m_builder;
};

bool has_shared_pointer(CallBase const& call) {
    return any_of(call.args(), [](Use const& argument) {
        return argument->getType()->isPointerTy() && !is_private(argument);
    });
}

} // namespace

void make_vectors_generic(Function& function) {
    SmallVector<CallBase*, 8> found;
    for (Instruction& i : instructions(function))
        if (auto* const call = dyn_cast<IntrinsicInst>(&i))
            if (find_vector(*call) != nullptr && has_shared_pointer(*call)) found.push_back(call);
    for (CallBase* const call : found) generic_writer(*call).rewrite(find_vector(*call)->kind);
}

} // namespace tulle::compiler
