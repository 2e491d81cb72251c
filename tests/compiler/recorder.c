// SPDX-License-Identifier: Apache-2.0
// A fault of an access that is allowed opens its page for one instruction: the flag TF makes the
// processor stop after it, and the page is closed again.
#define _GNU_SOURCE
#include "recorder.h"
#include "left_out.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <tulle/coherent_abi.h>

#define ACCESS_IN_PLACE "_ZN5tulle3dsm17access_atomicallyEmmmj"

enum { k_bytes = 1 << 22, k_page = 4096, k_most_open = 4 };
static uint64_t const k_trap_flag = 0x100;
static uint64_t const k_error_is_store = 2;
static unsigned char const k_nothing_allowed = TULLE_COHERENT_NO_LOAD | TULLE_COHERENT_NO_STORE;

// src/dsm/atomic_access.cpp
uint64_t access_in_place(uint64_t address, uint64_t operand, uint64_t expected,
                         uint32_t action) __asm__(ACCESS_IN_PLACE);

static size_t s_used;
static int s_lets_through;
static uintptr_t s_open[k_most_open];
static int s_open_count;
static unsigned long s_counts[kinds];
static int s_number, s_left_out; // of checks; 0: none

static void end(char const* text, uintptr_t address) {
    char line[160];
    int const length = snprintf(line, sizeof line, "recorder: %s, byte %#zx\n", text,
                                (size_t)(address - TULLE_COHERENT_FIRST));
    if (write(2, line, (size_t)length) != length) _exit(4);
    _exit(3);
}

void require(int holds, char const* text, int line) {
    if (holds) return;
    fprintf(stderr, "line %d: %s does not hold\n", line, text);
    _exit(5);
}

static int is_ours(uintptr_t address) {
    return address >= TULLE_COHERENT_FIRST && address < TULLE_COHERENT_FIRST + k_bytes;
}

static unsigned char* state_of(uintptr_t address) {
    return (unsigned char*)TULLE_COHERENT_STATE_OF(address);
}

static void on_fault(int number, siginfo_t* info, void* context) {
    (void)number;
    uintptr_t const address = (uintptr_t)info->si_addr;
    ucontext_t* const machine = context;
    if (!is_ours(address)) end("a fault elsewhere", address);
    int const stores = (machine->uc_mcontext.gregs[REG_ERR] & (long)k_error_is_store) != 0;
    unsigned const forbids = stores ? k_nothing_allowed : TULLE_COHERENT_NO_LOAD;
    if (!s_lets_through && (*state_of(address) & forbids) != 0)
        end(stores ? "a store without a check" : "a load without a check", address);
    uintptr_t const page = address & ~(uintptr_t)(k_page - 1);
    mprotect((void*)page, k_page, PROT_READ | PROT_WRITE);
    if (s_open_count == k_most_open) end("too many pages for one instruction", address);
    s_open[s_open_count++] = page;
    machine->uc_mcontext.gregs[REG_EFL] |= (long)k_trap_flag;
}

static void on_trap(int number, siginfo_t* info, void* context) {
    (void)number, (void)info;
    while (s_open_count > 0) mprotect((void*)s_open[--s_open_count], k_page, PROT_NONE);
    ((ucontext_t*)context)->uc_mcontext.gregs[REG_EFL] &= ~(long)k_trap_flag;
}

static void map(uint64_t address, size_t bytes, int protection) {
    void* const wanted = (void*)address;
    int const flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    if (mmap(wanted, bytes, protection, flags, -1, 0) != wanted) {
        perror("recorder: mmap");
        _exit(4);
    }
}

static void handle(int number, void (*handler)(int, siginfo_t*, void*)) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(number, &action, NULL);
}

void tulle_coherent_start(uint32_t abi) {
    static int s_has_started;
    if (abi != TULLE_COHERENT_ABI) end("another version of the ABI", 0);
    if (s_has_started++ != 0) return;
    map(TULLE_COHERENT_FIRST, k_bytes, PROT_NONE);
    map(TULLE_COHERENT_STATES, TULLE_COHERENT_STATES_BYTES + k_page, PROT_READ | PROT_WRITE);
    synchronise();
    handle(SIGSEGV, on_fault);
    handle(SIGTRAP, on_trap);
}

// Also of programs without a check.
__attribute__((constructor(101))) static void start(void) {
    s_left_out = choose_left_out();
    tulle_coherent_start(TULLE_COHERENT_ABI);
}

void* coherent_memory(size_t bytes) {
    size_t const line = TULLE_COHERENT_LINE;
    void* const block = (void*)(TULLE_COHERENT_FIRST + s_used);
    s_used += (bytes + line - 1) / line * line;
    if (s_used > k_bytes) end("no memory", TULLE_COHERENT_FIRST + s_used);
    return block;
}

void synchronise(void) {
    memset(state_of(TULLE_COHERENT_FIRST), k_nothing_allowed, k_bytes / TULLE_COHERENT_LINE);
}
void tulle_coherent_acquire(void) { synchronise(); }
void tulle_coherent_release(void) { ++s_counts[releases]; }

static void let_through(int all) {
    s_lets_through = all;
    if (mprotect((void*)TULLE_COHERENT_FIRST, k_bytes, all ? PROT_READ | PROT_WRITE : PROT_NONE) !=
        0)
        end("mprotect", 0);
}

unsigned long checks_of(enum counted kind) { return s_counts[kind]; }

static void allow(uint64_t address, int store) {
    if (!is_ours(address)) return;
    if (store)
        *state_of(address) = 0;
    else
        *state_of(address) &= (unsigned char)~TULLE_COHERENT_NO_LOAD;
}

static void allow_range(uint64_t first, uint64_t last, int store) {
    uint64_t const end_of_ours = TULLE_COHERENT_FIRST + k_bytes;
    if (last < first || last < TULLE_COHERENT_FIRST || first >= end_of_ours) return;
    if (first < TULLE_COHERENT_FIRST) first = TULLE_COHERENT_FIRST;
    if (last >= end_of_ours) last = end_of_ours - 1;
    for (uint64_t a = first & ~(uint64_t)(TULLE_COHERENT_LINE - 1); a <= last;
         a += TULLE_COHERENT_LINE)
        allow(a, store);
}

static void allow_rows(uint64_t first, uint64_t last, int64_t stride, uint64_t more, int store) {
    if (last < first) return;
    for (uint64_t row = 0; row <= more; ++row) {
        uint64_t const way = (uint64_t)stride * row;
        allow_range(first + way, last + way, store);
    }
}

// Checks that checks_test.py has numbered say which one comes next. One that is left out allows
// nothing.
void recorder_next_check(int number) { s_number = number; }
static int is_left_out(void) {
    int const number = s_number;
    s_number = 0;
    return number != 0 && number == s_left_out;
}

TULLE_COHERENT_KEEPS_ALL void tulle_coherent_load(uint64_t address) {
    if (is_left_out()) return;
    ++s_counts[loads];
    allow(address, 0);
}

TULLE_COHERENT_KEEPS_ALL void tulle_coherent_store(uint64_t address) {
    if (is_left_out()) return;
    ++s_counts[stores];
    allow(address, 1);
}

TULLE_COHERENT_KEEPS_MOST void tulle_coherent_load_range(uint64_t first, uint64_t last) {
    if (is_left_out()) return;
    ++s_counts[load_ranges];
    allow_range(first, last, 0);
}

TULLE_COHERENT_KEEPS_MOST void tulle_coherent_store_range(uint64_t first, uint64_t last) {
    if (is_left_out()) return;
    ++s_counts[store_ranges];
    allow_range(first, last, 1);
}

TULLE_COHERENT_KEEPS_MOST void tulle_coherent_load_rows(uint64_t first, uint64_t last,
                                                        int64_t stride, uint64_t more) {
    if (is_left_out()) return;
    ++s_counts[load_rows];
    allow_rows(first, last, stride, more, 0);
}

TULLE_COHERENT_KEEPS_MOST void tulle_coherent_store_rows(uint64_t first, uint64_t last,
                                                         int64_t stride, uint64_t more) {
    if (is_left_out()) return;
    ++s_counts[store_rows];
    allow_rows(first, last, stride, more, 1);
}

// The home of all memory is here, behind the protection. It may synchronise, as any atomic access.
uint64_t tulle_coherent_atomic(uint64_t address, uint64_t operand, uint64_t expected,
                               uint32_t action) {
    ++s_counts[atomics];
    int const let_all_through = s_lets_through;
    let_through(1);
    uint64_t const before = access_in_place(address, operand, expected, action);
    let_through(let_all_through);
    synchronise();
    return before;
}
