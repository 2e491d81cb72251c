// SPDX-License-Identifier: Apache-2.0
#include "spin_loops.hpp"

#include "accesses.hpp"
#include "library_calls.hpp"
#include "list_section.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

namespace tulle::compiler {

using namespace llvm;

namespace {

constexpr int k_depth_of_calls = 3;
constexpr unsigned k_most_instructions = 300; // of a loop that only waits

AllocaInst const* local_variable(Value const* pointer) {
    return dyn_cast<AllocaInst>(getUnderlyingObject(pointer));
}

// Functions that let time pass and order nothing.
bool is_pause(StringRef name) {
    for (char const* const one : {"sched_yield", "pthread_yield", "thrd_yield", "thrd_sleep",
                                  "sleep", "usleep", "nanosleep", "clock_nanosleep", "tulle_yield"})
        if (name == one) return true;
    return false;
}

bool does_nothing(Instruction const& i, int depth);

bool does_nothing(CallBase const& call, int depth) {
    if (isa<IntrinsicInst>(call)) return !isa<AnyMemIntrinsic>(call);
    if (isa<InlineAsm>(call.getCalledOperand())) return call.arg_size() == 0; // pause, or nothing
    if (call.doesNotReturn()) return true;
    Function const* const callee = function_of(call);
    if (callee == nullptr) return false;
    if (callee->isDeclaration()) return is_pause(callee->getName());
    return depth != 0 && all_of(instructions(*callee), [depth](Instruction const& i) {
               return does_nothing(i, depth - 1);
           });
}

// Nothing but loads, and stores to variables of the function's own.
bool does_nothing(Instruction const& i, int depth = k_depth_of_calls) {
    if (i.isAtomic()) return false;
    if (isa<LoadInst>(i)) return true;
    if (auto const* store = dyn_cast<StoreInst>(&i))
        return local_variable(store->getPointerOperand()) != nullptr;
    if (auto const* call = dyn_cast<CallBase>(&i)) return does_nothing(*call, depth);
    return !i.mayWriteToMemory();
}

// What a value of a loop depends on.
enum class dependence { nothing_that_changes, others_stores, itself };

// Where a loop looks at what others store.
struct look {
    Instruction const* at; // a load, or a call of a function that loads
    bool is_volatile;
};

class spin_loop {
public:
    explicit spin_loop(Loop const& loop) : m_loop(loop) {
        for (BasicBlock const* block : m_loop.blocks())
            for (Instruction const& i : *block)
                if (auto const* store = dyn_cast<StoreInst>(&i))
                    m_stored[local_variable(store->getPointerOperand())].push_back(
                        store->getValueOperand());
    }

    // Whose value ends the loop. Nothing: the loop does something, or ends by itself.
    std::optional<look> find() {
        if (!only_waits()) return std::nullopt;
        SmallVector<BasicBlock*, 4> exiting;
        m_loop.getExitingBlocks(exiting);
        for (BasicBlock const* const block : exiting)
            if (of_end(*block) == dependence::others_stores) return m_found;
        return std::nullopt;
    }

private:
    [[nodiscard]] bool only_waits() const {
        std::size_t instructions = 0;
        for (BasicBlock const* const block : m_loop.blocks()) {
            instructions += block->size();
            if (instructions > k_most_instructions ||
                !all_of(*block, [](Instruction const& i) { return does_nothing(i); }))
                return false;
        }
        return true;
    }
    // Of where control goes behind the block.
    dependence of_end(BasicBlock const& block) {
        Instruction const& end = *block.getTerminator();
        if (auto const* branch = dyn_cast<BranchInst>(&end))
            return branch->isConditional() ? of(branch->getCondition())
                                           : dependence::nothing_that_changes;
        auto const* const choice = dyn_cast<SwitchInst>(&end);
        return choice == nullptr ? dependence::itself : of(choice->getCondition());
    }
    dependence of(Value const* value) {
        auto const* const i = dyn_cast<Instruction>(value);
        if (i == nullptr || !m_loop.contains(i)) return dependence::nothing_that_changes;
        // Whoever comes back here while it is being looked at has gone in a circle.
        if (auto const seen = m_known.find(i); seen != m_known.end()) return seen->second;
        m_known[i] = dependence::itself;
        dependence const found = of_instruction(*i);
        m_known[i] = found;
        return found;
    }
    dependence of_instruction(Instruction const& i) {
        if (auto const* load = dyn_cast<LoadInst>(&i)) return of_load(*load);
        if (auto const* choice = dyn_cast<PHINode>(&i)) return of_choice(*choice);
        if (auto const* call = dyn_cast<CallBase>(&i); call != nullptr && !isa<IntrinsicInst>(call))
            return of_call(*call);
        return i.mayReadOrWriteMemory() ? dependence::itself : of_operands(i);
    }
    dependence of_operands(User const& user) {
        dependence found = dependence::nothing_that_changes;
        for (Use const& operand : user.operands()) found = std::max(found, of(operand));
        return found;
    }
    // Of a function of the module that does nothing, as does_nothing has made sure.
    dependence of_call(CallBase const& call) {
        Function const* const callee = call.getCalledFunction();
        if (callee == nullptr || callee->isDeclaration()) return dependence::itself;
        dependence const arguments = of_operands(call);
        if (arguments == dependence::itself) return arguments;
        for (Instruction const& i : instructions(*callee))
            if (auto const* load = dyn_cast<LoadInst>(&i);
                load != nullptr && !is_private(load->getPointerOperand())) {
                m_found = {&call, load->isVolatile()};
                return dependence::others_stores;
            }
        return arguments;
    }
    // Of && and ||.
    dependence of_choice(PHINode const& choice) {
        dependence found = dependence::nothing_that_changes;
        for (unsigned k = 0; k != choice.getNumIncomingValues(); ++k) {
            BasicBlock const* const from = choice.getIncomingBlock(k);
            found = std::max(found, of(choice.getIncomingValue(k)));
            if (m_loop.contains(from)) found = std::max(found, of_end(*from));
        }
        return found;
    }
    dependence of_load(LoadInst const& load) {
        dependence const address = of(load.getPointerOperand());
        if (load.isAtomic() || address == dependence::itself) return dependence::itself;
        if (AllocaInst const* const local = local_variable(load.getPointerOperand()))
            return std::max(address, of_variable(*local));
        if (is_private(load.getPointerOperand())) return address;
        m_found = {&load, load.isVolatile()};
        return dependence::others_stores;
    }
    dependence of_variable(AllocaInst const& local) {
        auto const stored = m_stored.find(&local);
        dependence found = dependence::nothing_that_changes;
        if (stored != m_stored.end())
            for (Value const* const value : stored->second) found = std::max(found, of(value));
        return found;
    }

    Loop const& m_loop;
    DenseMap<AllocaInst const*, SmallVector<Value const*, 2>> m_stored; // in the loop
    DenseMap<Instruction const*, dependence> m_known;
    look m_found{};
};

std::string line_of(look const& found) {
    return std::string("spin\t") + (found.is_volatile ? "volatile" : "plain") + "\t" +
           found.at->getFunction()->getName().str() + "\t" + place_of(*found.at);
}

} // namespace

void list_spin_loops(Module& module) {
    std::set<std::string> lines;
    for (Function& f : module) {
        if (f.isDeclaration() || f.hasAvailableExternallyLinkage()) continue;
        DominatorTree const dominators(f);
        LoopInfo const loops(dominators);
        for (Loop const* const loop : loops.getLoopsInPreorder())
            if (auto const found = spin_loop(*loop).find()) lines.insert(line_of(*found));
    }
    append_to_list(module, std::move(lines));
}

} // namespace tulle::compiler
