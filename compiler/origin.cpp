// SPDX-License-Identifier: Apache-2.0
#include "origin.hpp"

#include "llvm/ADT/MapVector.h"
#include "llvm/IR/Operator.h"

namespace tulle::compiler {

using namespace llvm;

namespace {

constexpr int k_depth = 6; // of sums and products

bool is_made_by(Value const* value, BasicBlock const& block) {
    auto const* const made = dyn_cast<Instruction>(value);
    return made != nullptr && made->getParent() == &block;
}

// Adds up an address from what it is computed of.
class sum {
public:
    explicit sum(DataLayout const& layout) : m_layout(layout) {}

    void add_pointer(Value* pointer) {
        for (;;) {
            pointer = pointer->stripPointerCasts();
            auto* const step = dyn_cast<GEPOperator>(pointer);
            if (step == nullptr || !add_step(*step)) break;
            pointer = step->getPointerOperand();
        }
        m_origin.pointer = pointer;
    }
    origin take_origin() {
        for (auto it = m_origin.terms.begin(); it != m_origin.terms.end();)
            it = it->second == 0 ? m_origin.terms.erase(it) : std::next(it);
        return std::move(m_origin);
    }
    [[nodiscard]] std::uint64_t constant() const { return m_constant; }

private:
    bool add_step(GEPOperator& step) {
        MapVector<Value*, APInt> variable;
        APInt constant(64, 0);
        if (!step.getType()->isPointerTy() || !step.collectOffset(m_layout, 64, variable, constant))
            return false;
        m_constant += constant.getZExtValue();
        for (auto const& [value, scale] : variable) add(value, scale.getZExtValue(), k_depth);
        return true;
    }
    void add(Value* value, std::uint64_t times, int depth) {
        if (auto const* const number = dyn_cast<ConstantInt>(value);
            number != nullptr && number->getBitWidth() <= 64) {
            m_constant += times * static_cast<std::uint64_t>(number->getSExtValue());
            return;
        }
        auto const* const made = dyn_cast<BinaryOperator>(value);
        if (made == nullptr || depth == 0 || !made->getType()->isIntegerTy(64) ||
            !add_made(*made, times, depth - 1))
            m_origin.terms[value] += times;
    }
    // Narrower values are extended, which their sums need not survive.
    bool add_made(BinaryOperator const& made, std::uint64_t times, int depth) {
        auto const* const number = dyn_cast<ConstantInt>(made.getOperand(1));
        std::uint64_t const by = number == nullptr ? 0 : number->getZExtValue();
        switch (made.getOpcode()) {
            case Instruction::Add:
                add(made.getOperand(0), times, depth);
                add(made.getOperand(1), times, depth);
                return true;
            case Instruction::Sub:
                add(made.getOperand(0), times, depth);
                add(made.getOperand(1), 0 - times, depth);
                return true;
            case Instruction::Mul:
                if (number == nullptr) return false;
                add(made.getOperand(0), times * by, depth);
                return true;
            case Instruction::Shl:
                if (number == nullptr || by >= 64) return false;
                add(made.getOperand(0), times << by, depth);
                return true;
            default: return false;
        }
    }

    DataLayout const& m_layout;
    origin m_origin{};
    std::uint64_t m_constant = 0;
};

} // namespace

bool origin::is_made_in(BasicBlock const& block) const {
    return is_made_by(pointer, block) ||
           any_of(terms, [&](auto const& term) { return is_made_by(term.first, block); });
}

place origins::find(Value* pointer) {
    sum found(m_layout);
    found.add_pointer(pointer);
    origin const& from = *m_all.insert(found.take_origin()).first;
    return {&from, static_cast<std::int64_t>(found.constant())};
}

} // namespace tulle::compiler
