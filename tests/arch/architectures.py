# SPDX-License-Identifier: Apache-2.0
"""What the tests of the context switch know about each architecture: the registers that a called function must preserve, and ways to break the
switch that a test must notice."""
import collections


def numbered(prefix, first, last):
    return [f"{prefix}{n}" for n in range(first, last + 1)]


WINDOW = numbered("l", 0, 7) + numbered("i", 0, 5)
INTEGER, FLOATING, VECTOR = "std::uintptr_t", "double", "vector_word"

# Of each architecture: (type, constraint of inline assembly, registers). The ABI's document is named in src/arch/<name>/asm_backend.hpp.
# gcc keeps r31, its frame pointer, to itself.
POWER = [(INTEGER, "r", numbered("r", 14, 30)), (FLOATING, "d", numbered("fr", 14, 31)), (VECTOR, "v", numbered("v", 20, 31))]
PRESERVED = {
    "x86_64": [(INTEGER, "r", ["rbx", "rbp", "r12", "r13", "r14", "r15"])],
    "i386": [(INTEGER, "r", ["ebx", "esi", "edi", "ebp"])],
    "aarch64": [(INTEGER, "r", numbered("x", 19, 29)), (FLOATING, "w", numbered("d", 8, 15))],
    "arm": [(INTEGER, "r", numbered("r", 4, 10)), (FLOATING, "w", numbered("d", 8, 15))],
    "riscv64": [(INTEGER, "r", numbered("s", 0, 11)), (FLOATING, "f", numbered("fs", 0, 11))],
    "ppc64": POWER,
    "ppc64le": POWER,
    "s390x": [(INTEGER, "r", numbered("r", 6, 12)), (FLOATING, "f", numbered("f", 8, 15))],
    "sparc64": [(INTEGER, "r", WINDOW)],
    "sparc": [(INTEGER, "r", WINDOW)],
}

# A way to break the switch: each of `edits` is (file, text, replacement), where `file` is in src/arch/<name> and has `text` exactly once. With the
# replacements instead, `test` of tests/unit/arch/<program>_test.cpp must fail.
Control = collections.namedtuple("Control", "name edits program test")

SWITCH, ENTRY, FIXES = "asm_backend.hpp", "asm_backend.cpp", "ucontext_fixes.hpp"
REGISTERS = ("preserved_registers", "preserved_registers/0.*")
ROUNDING = ("context", "context_of/0.rounding_mode_belongs_to_the_context")
UNWINDING = ("context", "context_of/0.unwinding_ends_at_the_entry")
RECURSION = ("context", "context_of/0.deep_recursion_interleaves")
MIGRATION = ("context", "context_of/0.migrates_between_os_threads")
SIGNALS = ("context", "context_of/0.survives_signals_during_switches")


def control(name, test, *edits):
    return Control(name, edits, *test)


def lines(*instructions):
    """As they stand in a string of C++."""
    return r"\n\t".join(instructions)


def not_saved(*registers):
    """The compiler is not told that the switch changes a register."""
    return [control(f"{register}_not_saved", REGISTERS, (SWITCH, f'"{register}",', "")) for register in registers]


def chain_without_end(column, *also):
    return [control("chain_without_end", UNWINDING, (ENTRY, f"    .cfi_undefined {column}\n", ""), *also)]


def released_early(file, last, release, loop, take_back):
    """For some time before `last` the stack pointer says that the caller's frame is free, and a signal's frame is written there."""
    return [control("stack_released_early", SIGNALS, (file, last, lines(release, *loop, take_back, last)))]


def thread_pointer_travels(file, save, saved, load, loaded):
    """The context has the thread pointer of the OS thread that it ran on before: behind `save` it is saved, before `load` it is loaded."""
    return [control("thread_pointer_travels", MIGRATION, (file, save, lines(save, *saved)), (file, load, lines(*loaded, load)))]


COUNT_DOWN = ["mov 1024, %g1", "9:", "subcc %g1, 1, %g1", "bne 9b", "nop"]

# i386 and arm have no instruction that changes the thread pointer of a process.
CONTROLS = {
    "x86_64": not_saved("rbx", "r15") + chain_without_end("rip", (ENTRY, "end_of_chain[2];", "end_of_chain[2]{this, this};")) + [
        control("rbp_not_loaded", REGISTERS, (SWITCH, "popq %%rbp", "leaq 8(%%rsp), %%rsp")),
        control("mxcsr_not_loaded", ROUNDING, (SWITCH, "ldmxcsr 16(%%rsp)", "nop")),
        control("x87_not_loaded", ROUNDING, (SWITCH, '"fldcw 20(%%rsp)', '"nop'))]
    + released_early(SWITCH, "popq %%rbp", "leaq 512(%%rsp), %%rsp", ["movl $1024, %%eax", "9:", "decl %%eax", "jnz 9b"], "leaq -512(%%rsp), %%rsp")
    + [control("thread_pointer_travels", MIGRATION,
               (SWITCH, "leaq -136(%%rsp), %%rsp", lines("leaq -144(%%rsp), %%rsp", "rdfsbase %%rax", "movq %%rax, 8(%%rsp)")),
               (SWITCH, "leaq 136(%%rsp), %%rsp", lines("movq 8(%%rsp), %%rax", "wrfsbase %%rax", "leaq 144(%%rsp), %%rsp")))],
    "i386": not_saved("ebx", "edi") + chain_without_end("eip") + [
        control("ebp_not_loaded", REGISTERS, (SWITCH, "popl %%ebp", "leal 4(%%esp), %%esp")),
        control("x87_not_loaded", ROUNDING, (SWITCH, '"fldcw 12(%%esp)', '"nop'))]
    + released_early(SWITCH, "popl %%ebp", "leal 512(%%esp), %%esp", ["movl $1024, %%eax", "9:", "decl %%eax", "jnz 9b"], "leal -512(%%esp), %%esp"),
    "aarch64": not_saved("x27", "v12") + chain_without_end("x30") + [
        control("x29_not_loaded", REGISTERS, (SWITCH, "ldp x17, x29, [sp]", "ldr x17, [sp]")),
        control("fpcr_not_loaded", ROUNDING, (SWITCH, "msr fpcr, x11", "nop"))]
    # Most of a signal's frame is a reserve that nobody writes.
    + released_early(SWITCH, "add sp, sp, #32", "add sp, sp, #1, lsl #12", ["mov x12, #1024", "9:", "sub x12, x12, #1", "cbnz x12, 9b"], "sub sp, sp, #1, lsl #12")
    + thread_pointer_travels(SWITCH, "str x9, [sp, #16]", ["mrs x12, tpidr_el0", "str x12, [sp, #24]"],
                             "add sp, sp, #32", ["ldr x12, [sp, #24]", "msr tpidr_el0, x12"]),
    "riscv64": not_saved("s11", "fs11") + chain_without_end("ra") + [
        control("s0_not_loaded", REGISTERS, (SWITCH, "ld s0, 8(sp)", "nop")),
        control("fcsr_not_loaded", ROUNDING, (SWITCH, "fscsr t2", "nop"))]
    + released_early(SWITCH, "addi sp, sp, 32", "addi sp, sp, 512", ["li t1, 1024", "9:", "addi t1, t1, -1", "bnez t1, 9b"], "addi sp, sp, -512")
    + thread_pointer_travels(SWITCH, "sd t3, 0(sp)", ["sd tp, 24(sp)"], "addi sp, sp, 32", ["ld tp, 24(sp)"]),
    "ppc64": not_saved("r30", "fr14", "v20") + chain_without_end(65) + [
        control("r31_not_loaded", REGISTERS, (SWITCH, "ld 31, 56(1)", "nop")),
        control("fpscr_not_loaded", ROUNDING, (SWITCH, '"mtfsf 255, 0"', '"nop"')),
        control("vrsave_not_set", ("preserved_registers", "preserved_registers/1.survive"), (FIXES, "mtspr 256, %0", "nop # %0"))]
    + released_early(SWITCH, "addi 1, 1, 592", "addi 1, 1, 1536", ["li 9, 1024", "9:", "addi 9, 9, -1", "cmpdi 9, 0", "bne 9b"], "addi 1, 1, -1536")
    + thread_pointer_travels(SWITCH, "std 31, 56(1)", ["std 13, 40(1)"], "addi 1, 1, 592", ["ld 13, 40(1)"]),
    "s390x": not_saved("r6", "f8") + chain_without_end(14) + [
        control("r11_not_loaded", REGISTERS, (SWITCH, "lmg %%r10, %%r13, 0(%%r15)", "lg %%r10, 0(%%r15)")),
        control("fpc_not_loaded", ROUNDING, (SWITCH, "sfpc %%r1", "nopr"))]
    + released_early(SWITCH, "aghi %%r15, 40", "aghi %%r15, 512", ["lghi %%r1, 1024", "9:", "brctg %%r1, 9b"], "aghi %%r15, -512")
    + thread_pointer_travels(SWITCH, "st %%r0, 32(%%r15)", ["stam %%a1, %%a1, 36(%%r15)"], "aghi %%r15, 40", ["lam %%a1, %%a1, 36(%%r15)"]),
    "arm": not_saved("r9", "d12") + [
        control("unwound_wrongly", UNWINDING, (ENTRY, "    .cantunwind\n", "    .pad #64\n")),
        control("r11_not_loaded", REGISTERS, (SWITCH, "pop {r7, r11, r12, lr}", "pop {r2, r3, r12, lr}")),
        control("fpscr_not_loaded", ROUNDING, (SWITCH, "vmsrne fpscr, lr", "nopne")),
        control("stack_released_early", SIGNALS, (SWITCH, '"1:"', '"1:' + lines("", "add sp, sp, #512", "mov r2, #1024", "9:", "subs r2, r2, #1", "bne 9b", 'sub sp, sp, #512"')))],
    "sparc64": chain_without_end(15) + [
        control("windows_not_flushed", RECURSION, (ENTRY, 'tulle_switch_flushing, "flushw"', 'tulle_switch_flushing, "nop"')),
        control("fsr_not_loaded", ROUNDING, (ENTRY, "ldx [%sp + 2047 + 184], %fsr", "nop"))]
    + released_early(ENTRY, "ldx [%sp + 2047 + 176], %i7", "add %sp, 1024, %sp", COUNT_DOWN, "sub %sp, 1024, %sp")
    + thread_pointer_travels(ENTRY, "stx %i7, [%sp + 2047 + 176]", ["stx %g7, [%sp + 2047 + 128]"],
                             "ldx [%sp + 2047 + 176], %i7", ["ldx [%sp + 2047 + 128], %g1", "movrnz %g1, %g1, %g7"]),
    "sparc": chain_without_end(15) + [
        control("windows_not_flushed", RECURSION, (ENTRY, "tulle_switch_flushing, TULLE_FLUSH_WINDOWS", 'tulle_switch_flushing, "nop"')),
        control("fsr_not_loaded", ROUNDING, (ENTRY, "ld [%sp + 104], %fsr", "nop")),
        control("g7_of_the_context", ("context", "context_of/2.migrates_between_os_threads"),
                (FIXES, "next.uc_mcontext.gregs[REG_G7] = own", "static_cast<void>(next), static_cast<void>(own)"))]
    + released_early(ENTRY, "ldd [%sp + 96], %fp", "add %sp, 1024, %sp", COUNT_DOWN, "sub %sp, 1024, %sp")
    + thread_pointer_travels(ENTRY, "st %fsr, [%sp + 104]", ["st %g7, [%sp + 72]"],
                             "ldd [%sp + 96], %fp", ["ld [%sp + 72], %g1", "movrnz %g1, %g1, %g7"]),
}


def of_little_endian(faults):
    """The compiler makes code for newer processors there, which takes the other way to load FPSCR."""
    return [f._replace(edits=((SWITCH, '"mtfsf 255, 0, 1, 0"', '"nop"'),)) if f.name == "fpscr_not_loaded" else f for f in faults]


CONTROLS["ppc64le"] = of_little_endian(CONTROLS["ppc64"])
