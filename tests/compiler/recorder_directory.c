// SPDX-License-Identifier: Apache-2.0
// The recorder for checks by the directory. No line is ever here: its bytes are the value that
// stands for no data, and what it holds is elsewhere. A slow path brings the line; when code ends
// the access it writes to where a fault tells that, and the line is taken away. So a load without a
// check finds no data, and a store without one leaves something in a line that is not here, which
// is found.
#define _GNU_SOURCE
#include "left_out.h"
#include "recorder.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <tulle/coherent_abi.h>

#define ACCESS_IN_PLACE "_ZN5tulle3dsm17access_atomicallyEmmmj"

enum { k_bytes = 1 << 22, k_line = TULLE_COHERENT_LINE };

// src/dsm/atomic_access.cpp
uint64_t access_in_place(uint64_t address, uint64_t operand, uint64_t expected,
                         uint32_t action) __asm__(ACCESS_IN_PLACE);

static unsigned char s_held_elsewhere[k_bytes];
static size_t s_used;
static uint64_t s_here;                      // the line that is here, 0: none
static _Alignas(4096) uint64_t s_entry[512]; // a page, of which code writes the first at the end
static unsigned long s_counts[kinds];
static int s_left_out; // the check that is; 0: none

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

static int is_ours(uint64_t address) { return address - TULLE_COHERENT_FIRST < k_bytes; }

static unsigned char* tag_of(uint64_t address) {
    return (unsigned char*)TULLE_COHERENT_STATE_OF(address);
}

static void fill(uint64_t line) {
    static uint32_t const none = TULLE_DIRECTORY_NO_DATA;
    for (size_t k = 0; k < k_line; k += sizeof none) memcpy((void*)(line + k), &none, sizeof none);
    *tag_of(line) = TULLE_DIRECTORY_NOT_EXCLUSIVE;
}

static unsigned char* elsewhere(uint64_t address) {
    return s_held_elsewhere + (address - TULLE_COHERENT_FIRST);
}

static void take_away(void) {
    if (s_here == 0) return;
    memcpy(elsewhere(s_here), (void*)s_here, k_line);
    fill(s_here);
    s_here = 0;
}

static void bring(uint64_t address) {
    if (!is_ours(address)) end("a check of other memory", address);
    if (s_here != 0) end("an access has not ended", s_here);
    s_here = address / k_line * k_line;
    memcpy((void*)s_here, elsewhere(s_here), k_line);
}

static void protect(int how) {
    if (mprotect(s_entry, sizeof s_entry, how) != 0) end("mprotect", 0);
}

static void hold(uint64_t address, struct tulle_directory_held* held) {
    bring(address);
    protect(PROT_NONE);
    held->entry = s_entry;
    held->value = 1;
}

static void on_fault(int number, siginfo_t* info, void* context) {
    (void)number, (void)context;
    if (info->si_addr != s_entry) end("a fault elsewhere", (uintptr_t)info->si_addr);
    take_away();
    protect(PROT_READ | PROT_WRITE);
}

void synchronise(void) {
    static uint32_t const none = TULLE_DIRECTORY_NO_DATA;
    for (uint64_t a = TULLE_COHERENT_FIRST; a < TULLE_COHERENT_FIRST + s_used; a += sizeof none)
        if (memcmp((void*)a, &none, sizeof none) != 0) end("a store without a check", a);
}
void tulle_coherent_acquire(void) { synchronise(); }

static void map(uint64_t address, size_t bytes) {
    void* const wanted = (void*)address;
    int const flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    if (mmap(wanted, bytes, PROT_READ | PROT_WRITE, flags, -1, 0) == wanted) return;
    perror("recorder: mmap");
    _exit(4);
}

void tulle_coherent_start(uint32_t abi) {
    static int s_has_started;
    if (abi != (TULLE_COHERENT_ABI | TULLE_COHERENT_BY_DIRECTORY << TULLE_COHERENT_SCHEME_SHIFT))
        end("another scheme, or version of the ABI", 0);
    if (s_has_started++ != 0) return;
    map(TULLE_COHERENT_FIRST, k_bytes);
    map(TULLE_COHERENT_STATES, TULLE_COHERENT_STATES_BYTES);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, NULL);
}

// Also of programs without a check; and what is stored last is found as well.
__attribute__((constructor(101))) static void start(void) {
    s_left_out = choose_left_out();
    tulle_coherent_start(TULLE_COHERENT_ABI | TULLE_COHERENT_BY_DIRECTORY
                                                  << TULLE_COHERENT_SCHEME_SHIFT);
}
__attribute__((destructor)) static void finish(void) { synchronise(); }

void* coherent_memory(size_t bytes) {
    uint64_t const block = TULLE_COHERENT_FIRST + s_used;
    s_used += (bytes + k_line - 1) / k_line * k_line;
    if (s_used > k_bytes) end("no memory", TULLE_COHERENT_FIRST + s_used);
    for (uint64_t line = block; line < TULLE_COHERENT_FIRST + s_used; line += k_line) fill(line);
    return (void*)block;
}

unsigned long checks_of(enum counted kind) { return s_counts[kind]; }

// What a check that checks_test.py has numbered compares the range of an address with. No address
// is in the range of the one that is left out.
uint64_t recorder_range(int number) {
    return number == s_left_out ? TULLE_COHERENT_RANGE + 1 : TULLE_COHERENT_RANGE;
}

TULLE_COHERENT_KEEPS_ALL void tulle_directory_load(uint64_t address,
                                                   struct tulle_directory_held* held) {
    ++s_counts[loads];
    hold(address, held);
}

TULLE_COHERENT_KEEPS_ALL void tulle_directory_store(uint64_t address,
                                                    struct tulle_directory_held* held) {
    ++s_counts[stores];
    if (*tag_of(address) != TULLE_DIRECTORY_LOCKED) end("a store that has locked nothing", address);
    hold(address, held);
}

// Where a byte of any memory is now.
static unsigned char* where(uint64_t address) {
    return is_ours(address) ? elsewhere(address) : (unsigned char*)address;
}

void tulle_coherent_copy(void* to, void const* from, uint64_t bytes) {
    uint64_t const target = (uint64_t)to, source = (uint64_t)from;
    if (target - source >= bytes)
        for (uint64_t k = 0; k < bytes; ++k) *where(target + k) = *where(source + k);
    else
        for (uint64_t k = bytes; k-- != 0;) *where(target + k) = *where(source + k);
}

void tulle_coherent_fill(void* to, int byte, uint64_t bytes) {
    for (uint64_t k = 0; k < bytes; ++k) *where((uint64_t)to + k) = (unsigned char)byte;
}

uint64_t tulle_coherent_find(uint64_t address, int byte, uint64_t most) {
    uint64_t k = 0;
    while (k < most && *where(address + k) != (unsigned char)byte) ++k;
    return k < most ? k + 1 : most;
}

uint64_t tulle_coherent_string(uint64_t address, uint64_t most) {
    return tulle_coherent_find(address, 0, most);
}

// A copy, behind which no string goes on as it does in the memory itself.
void* tulle_coherent_borrow(void* at, uint64_t bytes, int stores) {
    (void)stores;
    if (bytes == 0 || bytes > k_bytes || !is_ours((uint64_t)at)) return at;
    unsigned char* const copy = malloc(bytes + k_line);
    if (copy == NULL) end("no memory to lend", 0);
    memcpy(copy, where((uint64_t)at), bytes);
    memset(copy + bytes, 'Z', k_line);
    copy[bytes + k_line - 1] = 0;
    return copy;
}

void tulle_coherent_return(void* at, void* borrowed, uint64_t bytes, uint64_t stored) {
    if (at == borrowed) return;
    if (stored != 0) memcpy(where((uint64_t)at), borrowed, stored < bytes ? stored : bytes);
    free(borrowed);
}

uint64_t tulle_coherent_atomic(uint64_t address, uint64_t operand, uint64_t expected,
                               uint32_t action) {
    ++s_counts[atomics];
    return access_in_place((uint64_t)where(address), operand, expected, action);
}
