# SPDX-License-Identifier: Apache-2.0
"""What the tests of the context switch know about each architecture: the registers that a called function must preserve, and ways to break the
switch that a test must notice."""


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

# A control is (name, file, text, replacement, program, test). `file` is in src/arch/<name>; `text` is there exactly once, and with the replacement
# instead `test` of tests/unit/arch/<program>_test.cpp must fail.
SWITCH, ENTRY = "asm_backend.hpp", "asm_backend.cpp"
REGISTERS = ("preserved_registers", "preserved_registers/0.*")
ROUNDING = ("context", "context_of/0.rounding_mode_belongs_to_the_context")
UNWINDING = ("context", "context_of/0.unwinding_ends_at_the_entry")
RECURSION = ("context", "context_of/0.deep_recursion_interleaves")


def not_saved(*registers):
    return [(f"{register}_not_saved", SWITCH, f'"{register}", ', "", *REGISTERS) for register in registers]


def no_end(column):
    return [("chain_without_end", ENTRY, f"    .cfi_undefined {column}\n", "", *UNWINDING)]


CONTROLS = {
    "x86_64": not_saved("rbx", "r15") + [
        ("rbp_not_loaded", SWITCH, "popq %%rbp", "leaq 8(%%rsp), %%rsp", *REGISTERS),
        ("mxcsr_not_loaded", SWITCH, "ldmxcsr 16(%%rsp)", "nop", *ROUNDING),
        ("x87_not_loaded", SWITCH, '"fldcw 20(%%rsp)', '"nop', *ROUNDING)],
    "i386": not_saved("ebx", "edi") + [
        ("ebp_not_loaded", SWITCH, "popl %%ebp", "leal 4(%%esp), %%esp", *REGISTERS),
        ("x87_not_loaded", SWITCH, '"fldcw 12(%%esp)', '"nop', *ROUNDING)],
    "aarch64": not_saved("x27", "v12") + no_end("x30") + [
        ("x29_not_loaded", SWITCH, "ldp x17, x29, [sp]", "ldr x17, [sp]", *REGISTERS),
        ("fpcr_not_loaded", SWITCH, "msr fpcr, x11", "nop", *ROUNDING)],
    "riscv64": not_saved("s11", "fs11") + no_end("ra") + [
        ("s0_not_loaded", SWITCH, "ld s0, 8(sp)", "nop", *REGISTERS),
        ("fcsr_not_loaded", SWITCH, "fscsr t2", "nop", *ROUNDING)],
    "ppc64": not_saved("r30", "fr14", "v20") + no_end(65) + [
        ("r31_not_loaded", SWITCH, "ld 31, 56(1)", "nop", *REGISTERS),
        ("fpscr_not_loaded", SWITCH, '"mtfsf 255, 0"', '"nop"', *ROUNDING)],
    "s390x": not_saved("r6", "f8") + no_end(14) + [
        ("r11_not_loaded", SWITCH, "lmg %%r10, %%r13, 0(%%r15)", "lg %%r10, 0(%%r15)", *REGISTERS),
        ("fpc_not_loaded", SWITCH, "sfpc %%r1", "nopr", *ROUNDING)],
    "arm": not_saved("r9", "d12") + [
        ("r11_not_loaded", SWITCH, "pop {r7, r11, r12, lr}", "pop {r2, r3, r12, lr}", *REGISTERS),
        ("fpscr_not_loaded", SWITCH, "vmsrne fpscr, lr", "nopne", *ROUNDING)],
    "sparc64": no_end(15) + [
        ("windows_not_flushed", ENTRY, 'tulle_switch_flushing, "flushw"', 'tulle_switch_flushing, "nop"', *RECURSION),
        ("fsr_not_loaded", ENTRY, "ldx [%sp + 2047 + 184], %fsr", "nop", *ROUNDING)],
    "sparc": no_end(15) + [
        ("windows_not_flushed", ENTRY, 'tulle_switch_flushing, TULLE_FLUSH_WINDOWS', 'tulle_switch_flushing, "nop"', *RECURSION),
        ("fsr_not_loaded", ENTRY, "ld [%sp + 104], %fsr", "nop", *ROUNDING)],
}
CONTROLS["ppc64le"] = [(*control[:2], '"mtfsf 255, 0, 1, 0"', '"nop"', *control[4:]) if control[0] == "fpscr_not_loaded" else control
                       for control in CONTROLS["ppc64"]]
