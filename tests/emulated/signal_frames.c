// SPDX-License-Identifier: Apache-2.0
// Part of emulated programs for ppc64le that are ended from within a handler of a signal. qemu
// (7.2) has a handler return to two instructions, where the kernel has three and says to unwinders
// how the registers of who was interrupted are found. gcc's unwinder knows neither: it takes the
// handler for the outermost function, so that destructors of what lies beneath do not run. Before
// main this tells it of the two (DWARF 5, section 6.4; 64-Bit ELF V2 ABI, section 2.4).
#define _GNU_SOURCE
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

void __register_frame(void* begin); // of libgcc

enum { k_next_instruction = 32, k_link = 36 };               // in gp_regs
enum { k_column_of_link = 65, k_column_of_address = 67 };    // for the unwinder
enum { k_def_cfa_expression = 0x0f, k_expression = 0x10 };   // DW_CFA_
enum { k_breg1 = 0x71, k_deref = 0x06, k_instructions = 8 }; // DW_OP_, bytes

// An address so many bytes above r1, as a signed LEB128 of two bytes.
struct place {
    uint8_t from, low, high;
};

struct __attribute__((packed)) table {
    uint32_t common_bytes, common_mark;
    uint8_t version;
    char augmentation[4]; // with a format of pointers, of a frame of a signal
    uint8_t code_unit, data_unit, column_of_address, augmentation_bytes, format;
    uint8_t unused[2];
    uint32_t bytes, from_common;
    uint64_t begin, size;
    uint8_t no_augmentation;
    struct __attribute__((packed)) {
        uint8_t what, bytes;
        struct place place;
        uint8_t then;
    } frame;
    struct __attribute__((packed)) {
        uint8_t what, column, bytes;
        struct place place;
    } registers[33];
    uint8_t unused_at_end[7];
    uint32_t end;
};

static uintptr_t s_begin;
static size_t s_registers; // bytes from r1 to those of who was interrupted

static void look(int signal, siginfo_t* about, void* context) {
    (void)signal, (void)about;
    uintptr_t const sp = *(uintptr_t const*)__builtin_frame_address(0); // when this has returned
    s_begin = (uintptr_t)__builtin_return_address(0);
    s_registers = (uintptr_t)((ucontext_t*)context)->uc_mcontext.gp_regs - sp;
}

static struct place place_of(size_t number) {
    size_t const at = s_registers + number * sizeof(uint64_t);
    if (at >= 1U << 13U) abort();
    return (struct place){k_breg1, (uint8_t)(0x80 | (at & 0x7f)), (uint8_t)(at >> 7U)};
}

static void add(struct table* t, size_t rule, size_t column, size_t number) {
    t->registers[rule].what = k_expression;
    t->registers[rule].column = (uint8_t)column;
    t->registers[rule].bytes = sizeof(struct place);
    t->registers[rule].place = place_of(number);
}

static void fill_in(struct table* t) {
    size_t const begin_of_own = offsetof(struct table, from_common);
    *t = (struct table){.common_bytes = offsetof(struct table, bytes) - sizeof(uint32_t),
                        .version = 1,
                        .augmentation = "zRS",
                        .code_unit = 1,
                        .data_unit = 0x78, // -8
                        .column_of_address = k_column_of_address,
                        .augmentation_bytes = 1,
                        .bytes = (uint32_t)(offsetof(struct table, end) - begin_of_own),
                        .from_common = (uint32_t)begin_of_own,
                        // A return address is looked up as the end of what has called.
                        .begin = s_begin - 1,
                        .size = k_instructions + 1};
    t->frame.what = k_def_cfa_expression;
    t->frame.bytes = sizeof(struct place) + 1;
    t->frame.place = place_of(1);
    t->frame.then = k_deref;
    size_t rule = 0;
    for (size_t k = 0; k != 32; ++k)
        if (k != 1) add(t, rule++, k, k);
    add(t, rule++, k_column_of_link, k_link);
    add(t, rule, k_column_of_address, k_next_instruction);
}

__attribute__((constructor)) static void tell_unwinder(void) {
    static struct table s_table;
    struct sigaction mine = {.sa_flags = SA_SIGINFO};
    struct sigaction before;
    mine.sa_sigaction = look;
    sigaction(SIGUSR1, &mine, &before);
    raise(SIGUSR1);
    sigaction(SIGUSR1, &before, NULL);
    fill_in(&s_table);
    __register_frame(&s_table);
}
