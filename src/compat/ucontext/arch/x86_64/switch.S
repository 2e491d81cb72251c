/* SPDX-License-Identifier: Apache-2.0
 *
 * getcontext, setcontext and swapcontext for x86-64. Registers are kept where the C library keeps
 * them, so programs may read, change and copy a ucontext_t. Like asm_backend the switch saves what
 * the ABI preserves across a call. It loads the registers of arguments, too, for contexts that
 * makecontext has made. It leaves by a return: a jump takes 1 ns less, but then each return of the
 * functions that have called swapcontext is predicted wrong, 3 ns each.
 *
 * MXCSR is the context's. So are the x87 control word and exception flags; they are loaded only
 * where they differ, as fldenv takes longer than all the rest.
 *
 * A context without the mark UC_OURS was saved by the kernel for a signal handler, or by somebody
 * else; foreign.cpp hands it to the C library.
 */
#include "offsets.h"

#define SYS_rt_sigprocmask 14
#define SIG_BLOCK 0
#define SIG_SETMASK 2
#define BYTES_OF_MASK 8
#define X87_FLAGS 0x3f

/* Saves the registers of the caller of this function in (rdi), as they are when it returns. */
/* Leaves UC_OURS in rcx. */
.macro save_registers
    movq %rbx, UC_RBX(%rdi)
    movq %rbp, UC_RBP(%rdi)
    movq %r12, UC_R12(%rdi)
    movq %r13, UC_R13(%rdi)
    movq %r14, UC_R14(%rdi)
    movq %r15, UC_R15(%rdi)
    movq (%rsp), %rax
    leaq 8(%rsp), %rdx
    movq %rax, UC_RIP(%rdi)
    movq %rdx, UC_RSP(%rdi)
    leaq UC_X87_CONTROL(%rdi), %rax
    movq %rax, UC_FPREGS(%rdi)
    fnstcw UC_X87_CONTROL(%rdi)
    fnstsw %ax
    andl $X87_FLAGS, %eax
    movl %eax, UC_X87_STATUS(%rdi)
    movl $0xffff, UC_X87_TAGS(%rdi) /* no register is in use */
    stmxcsr UC_MXCSR(%rdi)
    movabsq $UC_OURS, %rcx
    movq %rcx, UC_TRAPNO(%rdi)
.endm

/* Loads all but the x87 environment from (r8) and goes on there; 0 is returned there. */
.macro load_registers
    .cfi_undefined rip
    ldmxcsr UC_MXCSR(%r8)
    movq UC_RBX(%r8), %rbx
    movq UC_RBP(%r8), %rbp
    movq UC_R12(%r8), %r12
    movq UC_R13(%r8), %r13
    movq UC_R14(%r8), %r14
    movq UC_R15(%r8), %r15
    movq UC_RSP(%r8), %rsp
    movq UC_RIP(%r8), %r11
    movq UC_RDI(%r8), %rdi
    movq UC_RSI(%r8), %rsi
    movq UC_RDX(%r8), %rdx
    movq UC_RCX(%r8), %rcx
    movq UC_R9(%r8), %r9
    movq UC_R8(%r8), %r8
    xorl %eax, %eax
    pushq %r11
    ret
.endm

.macro begin name, visibility
    .globl \name
    .ifnc \visibility, public
    .hidden \name
    .endif
    .type \name, @function
    .p2align 4
\name:
    .cfi_startproc
    endbr64
.endm

.macro end name
    .cfi_endproc
    .size \name, . - \name
.endm

    .text

begin getcontext, public
    movq %rdx, UC_RDX(%rdi)
    movq %rcx, UC_RCX(%rdi)
    movq %rdi, UC_RDI(%rdi)
    movq %rsi, UC_RSI(%rdi)
    movq %r8, UC_R8(%rdi)
    movq %r9, UC_R9(%rdi)
    save_registers
    cmpb $0, tulle_ucontext_keeps_masks(%rip)
    je 1f
    leaq UC_SIGMASK(%rdi), %rdx
    xorl %esi, %esi
    movl $SIG_BLOCK, %edi
    movl $BYTES_OF_MASK, %r10d
    movl $SYS_rt_sigprocmask, %eax
    syscall
    testq %rax, %rax
    js 4f
1:  xorl %eax, %eax
    ret
4:  movq %rax, %rdi
    jmp tulle_ucontext_refused_mask
end getcontext

begin swapcontext, public
    save_registers
    movq %rsi, %r8
    cmpq %rcx, UC_TRAPNO(%r8)
    jne tulle_ucontext_swap_to_foreign
    cmpb $0, tulle_ucontext_keeps_masks(%rip)
    je 1f
    movq %rdi, %r9
    leaq UC_SIGMASK(%rdi), %rdx
    leaq UC_SIGMASK(%r8), %rsi
    movl $SIG_SETMASK, %edi
    movl $BYTES_OF_MASK, %r10d
    movl $SYS_rt_sigprocmask, %eax
    syscall
    movq %r9, %rdi
    testq %rax, %rax
    js 4f
1:  movl UC_X87_STATUS(%rdi), %eax
    movzwl UC_X87_CONTROL(%rdi), %edx
    cmpl UC_X87_STATUS(%r8), %eax
    jne 3f
    cmpw UC_X87_CONTROL(%r8), %dx
    jne 3f
2:  load_registers
3:  fldenv UC_X87_CONTROL(%r8)
    jmp 2b
4:  movq %rax, %rdi
    jmp tulle_ucontext_refused_mask
end swapcontext

begin setcontext, public
    movq %rdi, %r8
    movabsq $UC_OURS, %rcx
    cmpq %rcx, UC_TRAPNO(%r8)
    jne tulle_ucontext_set_foreign
    cmpb $0, tulle_ucontext_keeps_masks(%rip)
    je 1f
    xorl %edx, %edx
    leaq UC_SIGMASK(%r8), %rsi
    movl $SIG_SETMASK, %edi
    movl $BYTES_OF_MASK, %r10d
    movl $SYS_rt_sigprocmask, %eax
    syscall
    testq %rax, %rax
    js 4f
1:  fnstcw -8(%rsp)
    fnstsw %ax
    andl $X87_FLAGS, %eax
    movzwl -8(%rsp), %edx
    cmpl UC_X87_STATUS(%r8), %eax
    jne 3f
    cmpw UC_X87_CONTROL(%r8), %dx
    jne 3f
2:  load_registers
3:  fldenv UC_X87_CONTROL(%r8)
    jmp 2b
4:  movq %rax, %rdi
    jmp tulle_ucontext_refused_mask
end setcontext

/* Where the function of a context returns to: rbx points to the context that comes next. An */
/* unwinder, which looks at the instruction before, finds the end of the call chain. */
    .p2align 4
    .type tulle_ucontext_after_entry, @function
    .cfi_startproc
    .cfi_undefined rip
    nop
    .globl tulle_ucontext_after_entry
    .hidden tulle_ucontext_after_entry
tulle_ucontext_after_entry:
    movq (%rbx), %rdi
    andq $-16, %rsp
    call tulle_ucontext_end
    ud2
    .cfi_endproc
    .size tulle_ucontext_after_entry, . - tulle_ucontext_after_entry

    .section .note.GNU-stack, "", @progbits
