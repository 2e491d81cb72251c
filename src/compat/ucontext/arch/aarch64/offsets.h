/* SPDX-License-Identifier: Apache-2.0 */
/* Where ucontext_t of the GNU C library has what the switch saves, for the assembler; context.cpp
 * compares these with the header. */
#pragma once

#define UC_SIGMASK 40
/* The kernel writes the address of a fault here, which is below 2^56; the switch writes UC_OURS. */
#define UC_FAULT_ADDRESS 176
#define UC_REGISTERS 184
#define UC_SP 432
#define UC_PC 440
#define UC_PSTATE 448
/* A record of floating-point state as the kernel has it: magic and size, FPSR, FPCR, V0 to V31. */
#define UC_FP_RECORD 464
#define UC_FPSR 472
#define UC_FPCR 476
#define UC_VECTORS 480
#define UC_NEXT_RECORD 992
#define FP_MAGIC 0x46508001
#define FP_BYTES 528

/* "tulle uc", as a number. */
#define UC_OURS 0x637520656c6c7574
