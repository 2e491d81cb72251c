/* SPDX-License-Identifier: Apache-2.0 */
/* Where ucontext_t of the GNU C library has what the switch saves, for the assembler; context.cpp
 * compares these with the header. */
#pragma once

#define UC_LINK 0x08
#define UC_R8 0x28
#define UC_R9 0x30
#define UC_R12 0x48
#define UC_R13 0x50
#define UC_R14 0x58
#define UC_R15 0x60
#define UC_RDI 0x68
#define UC_RSI 0x70
#define UC_RBP 0x78
#define UC_RBX 0x80
#define UC_RDX 0x88
#define UC_RCX 0x98
#define UC_RSP 0xa0
#define UC_RIP 0xa8
/* The kernel writes the number of a trap here, which is small; the switch writes UC_OURS. */
#define UC_TRAPNO 0xc8
#define UC_FPREGS 0xe0
#define UC_SIGMASK 0x128
/* Of __fpregs_mem: the x87 environment as fldenv loads it, and behind it MXCSR. */
#define UC_X87_CONTROL 0x1a8
#define UC_X87_STATUS 0x1ac
#define UC_X87_TAGS 0x1b0
#define UC_MXCSR 0x1c0

/* "tulle uc", as a number. */
#define UC_OURS 0x637520656c6c7574
