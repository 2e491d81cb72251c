// SPDX-License-Identifier: Apache-2.0
#include "uninstrumented.hpp"

#include "accesses.hpp"
#include "atomic_changes.hpp"
#include "library_calls.hpp"
#include "library_checks.hpp"
#include "list_section.hpp"

#include <array>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

namespace tulle::compiler {

using namespace llvm;

namespace {

// None, or a mark such as SIG_IGN.
bool is_number(Value const* pointer) {
    return isa<Constant>(pointer) && !isa<GlobalValue>(getUnderlyingObject(pointer));
}

bool takes_shared_pointer(CallBase const& call, unsigned first = 0) {
    return any_of(drop_begin(call.args(), first), [](Use const& argument) {
        return argument->getType()->isPointerTy() && !is_number(argument) && !is_private(argument);
    });
}

// Functions of Tulle that load or store what some of their pointers lead to, which is not for Tulle
// alone; the other pointers are to objects of its own, or are passed on.
struct touching {
    char const* prefix;
    unsigned first; // of those arguments
};

constexpr std::array k_touching{
    touching{"tulle_readv", 1},          touching{"tulle_writev", 1},
    touching{"tulle_recv", 1},           touching{"tulle_send", 1},
    touching{"tulle_poll", 0},           touching{"tulle_select", 1},
    touching{"tulle_accept", 1},         touching{"tulle_connect", 1},
    touching{"tulle_waitpid", 1},        touching{"tulle_getaddrinfo", 0},
    touching{"tulle_global_read", 0},    touching{"tulle_global_write", 0},
    touching{"tulle_global_fetch_", 1},  touching{"tulle_global_exchange_", 1},
    touching{"tulle_global_compare", 1}, touching{"tulle_loop_sum", 0},
    touching{"tulle_loop_product", 0},   touching{"tulle_loop_min", 0},
    touching{"tulle_loop_max", 0},       touching{"tulle_loop_sort", 0},
    touching{"tulle_thread_join", 1},    touching{"tulle_call_wait", 1},
    touching{"tulle_feb_", 0},           touching{"tulle_channel_send", 1},
    touching{"tulle_channel_receive", 1}};

// Those that have checks, but not of what these arguments lead to.
constexpr std::array k_partly_checked{touching{"recvfrom", 4}, touching{"__recvfrom_chk", 5},
                                      touching{"tulle_recvfrom", 4}};

std::optional<unsigned> first_unchecked(StringRef name) {
    for (touching const& t : k_partly_checked)
        if (name.find(t.prefix) == 0) return t.first;
    return std::nullopt;
}

// The first argument of a function that may touch what it is given; none: it does not.
std::optional<unsigned> first_touched(StringRef name) {
    for (touching const& t : k_touching)
        if (name.find(t.prefix) == 0) return t.first;
    bool const only_takes_address = name.find("tulle_") == 0 || name == "free" ||
                                    name.find("_ZdlPv") == 0 || name.find("_ZdaPv") == 0 ||
                                    name.find("__cxa_") == 0;
    return only_takes_address ? std::nullopt : std::optional<unsigned>(0);
}

// Instructions of x86 that touch memory, but for hints and what is a plain access by now; and what
// the directory has no way to copy.
std::string line_of(IntrinsicInst const& instruction) {
    StringRef const name = instruction.getCalledFunction()->getName();
    auto const line = [&] {
        return "instruction\t" + name.str() + "\t" + instruction.getFunction()->getName().str() +
               "\t" + place_of(instruction);
    };
    auto const* const block = dyn_cast<AnyMemIntrinsic>(&instruction);
    if (block != nullptr && chosen_scheme() == scheme::directory &&
        is_between_address_spaces(*block) && takes_shared_pointer(instruction))
        return line();
    bool const is_hint = any_of(ArrayRef<char const*>{"prefetch", "gatherpf", "scatterpf",
                                                      "clflush", "clwb", "cldemote", "monitor"},
                                [&](char const* hint) { return name.contains(hint); });
    if (name.find("llvm.x86.") != 0 || is_hint || !takes_shared_pointer(instruction)) return "";
    return line();
}

std::string line_of(CallBase const& call) {
    std::string const caller = call.getFunction()->getName().str();
    if (auto const* instruction = dyn_cast<IntrinsicInst>(&call)) return line_of(*instruction);
    if (auto const* assembly = dyn_cast<InlineAsm>(call.getCalledOperand())) {
        bool const may_touch = takes_shared_pointer(call) || assembly->getConstraintString().find(
                                                                 "{memory}") != std::string::npos;
        bool const is_empty = assembly->getAsmString().empty(); // a barrier for the compiler
        return may_touch && !is_empty ? "assembly\t" + caller + "\t" + place_of(call) : "";
    }
    Function const* const callee = function_of(call);
    if (callee == nullptr || !callee->isDeclaration()) return "";
    StringRef const name = callee->getName();
    auto const first = is_checked_call(call) ? first_unchecked(name) : first_touched(name);
    if (!first || *first >= call.arg_size() || !takes_shared_pointer(call, *first)) return "";
    return "call\t" + callee->getName().str() + "\t" + caller + "\t" + place_of(call);
}

// Of a function, or another name of one. Files may have local ones of the same name.
std::string line_of(GlobalValue const& function) {
    return (function.hasLocalLinkage() ? "local\t" : "define\t") + function.getName().str();
}

bool is_word(Type const& type) { return type.getPrimitiveSizeInBits().getKnownMinValue() <= 64; }

std::string line_of_atomic(Instruction const& i, Value const* pointer) {
    if (is_private(pointer)) return "";
    char const* const kind = chosen_scheme() == scheme::races ? "wide\t" : "atomic\t";
    return kind + i.getFunction()->getName().str() + "\t" + place_of(i);
}

// Of atomic operations that the run time cannot do elsewhere, or does not see.
std::string line_of(LoadInst const& load) {
    bool const is_known = !load.isAtomic() || is_word(*load.getType());
    return is_known ? "" : line_of_atomic(load, load.getPointerOperand());
}

std::string line_of(StoreInst const& store) {
    bool const is_known = !store.isAtomic() || is_word(*store.getValueOperand()->getType());
    return is_known ? "" : line_of_atomic(store, store.getPointerOperand());
}

std::string line_of(AtomicRMWInst const& change) {
    bool const is_known =
        is_change_of_run_time(change.getOperation()) && is_word(*change.getType());
    return is_known ? "" : line_of_atomic(change, change.getPointerOperand());
}

std::string line_of(AtomicCmpXchgInst const& exchange) {
    return is_word(*exchange.getNewValOperand()->getType())
               ? ""
               : line_of_atomic(exchange, exchange.getPointerOperand());
}

} // namespace

void list_uninstrumented(Module& module) {
    std::set<std::string> lines;
    for (Function const& f : module) {
        if (!f.isDeclaration()) lines.insert(line_of(f));
        for (Instruction const& i : instructions(f)) {
            if (auto const* call = dyn_cast<CallBase>(&i)) lines.insert(line_of(*call));
            if (auto const* load = dyn_cast<LoadInst>(&i)) lines.insert(line_of(*load));
            if (auto const* store = dyn_cast<StoreInst>(&i)) lines.insert(line_of(*store));
            if (auto const* change = dyn_cast<AtomicRMWInst>(&i)) lines.insert(line_of(*change));
            if (auto const* exchange = dyn_cast<AtomicCmpXchgInst>(&i))
                lines.insert(line_of(*exchange));
        }
    }
    for (GlobalAlias const& a : module.aliases())
        if (isa_and_nonnull<Function>(a.getAliaseeObject())) lines.insert(line_of(a));
    for (GlobalIFunc const& i : module.ifuncs()) lines.insert(line_of(i));
    append_to_list(module, std::move(lines));
}

} // namespace tulle::compiler
