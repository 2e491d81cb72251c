// SPDX-License-Identifier: Apache-2.0
//
// A plugin of QEMU's translator that counts the instructions, the system calls and the traps into
// the kernel of a program, and writes them to standard error when it ends. A trap is an instruction
// that enters the kernel: only system calls do elsewhere, on SPARC `ta` enters it for more. Of
// QEMU's plugin interface (docs/devel/tcg-plugins, version 1), whose header distributions leave
// out, it declares what it uses.
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define TULLE_EXPORT __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info {
    char const* target_name; // more follows
};
enum { k_add_u64 = 0 };

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                           void (*callback)(qemu_plugin_id_t,
                                                            struct qemu_plugin_tb*));
size_t qemu_plugin_tb_n_insns(struct qemu_plugin_tb const* block);
struct qemu_plugin_insn* qemu_plugin_tb_get_insn(struct qemu_plugin_tb const* block, size_t index);
void const* qemu_plugin_insn_data(struct qemu_plugin_insn const* instruction);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn* instruction, int operation,
                                                void* counter, uint64_t by);
typedef void (*system_call_callback)(qemu_plugin_id_t, unsigned, int64_t, uint64_t, uint64_t,
                                     uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id, system_call_callback callback);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*callback)(qemu_plugin_id_t, void*),
                                    void* argument);

TULLE_EXPORT int qemu_plugin_version = 1;
TULLE_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, struct qemu_info const* machine, int argc,
                                     char** argv);

static uint64_t g_instructions, g_system_calls, g_traps;
static bool g_is_sparc;

// Tcc of the condition "always": The SPARC Architecture Manual, Version 9, A.61.
static bool is_sparc_trap(struct qemu_plugin_insn const* instruction) {
    uint8_t const* const bytes = qemu_plugin_insn_data(instruction);
    uint32_t const word =
        (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
    return word >> 30 == 2 && (word >> 25 & 15) == 8 && (word >> 19 & 63) == 0x3a;
}

static void count_block(qemu_plugin_id_t id, struct qemu_plugin_tb* block) {
    (void)id;
    size_t const length = qemu_plugin_tb_n_insns(block);
    for (size_t k = 0; k < length; ++k) {
        struct qemu_plugin_insn* const instruction = qemu_plugin_tb_get_insn(block, k);
        qemu_plugin_register_vcpu_insn_exec_inline(instruction, k_add_u64, &g_instructions, 1);
        if (g_is_sparc && is_sparc_trap(instruction))
            qemu_plugin_register_vcpu_insn_exec_inline(instruction, k_add_u64, &g_traps, 1);
    }
}

static void count_system_call(qemu_plugin_id_t id, unsigned cpu, int64_t number, uint64_t a,
                              uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f,
                              uint64_t g, uint64_t h) {
    (void)id, (void)cpu, (void)number, (void)a, (void)b, (void)c, (void)d, (void)e, (void)f,
        (void)g, (void)h;
    ++g_system_calls;
}

static void print_counts(qemu_plugin_id_t id, void* argument) {
    (void)id, (void)argument;
    uint64_t const traps = g_is_sparc ? g_traps : g_system_calls;
    fprintf(stderr, "counts: %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", g_instructions, g_system_calls,
            traps);
}

int qemu_plugin_install(qemu_plugin_id_t id, struct qemu_info const* machine, int argc,
                        char** argv) {
    (void)argc, (void)argv;
    g_is_sparc = strncmp(machine->target_name, "sparc", 5) == 0;
    qemu_plugin_register_vcpu_tb_trans_cb(id, &count_block);
    qemu_plugin_register_vcpu_syscall_cb(id, &count_system_call);
    qemu_plugin_register_atexit_cb(id, &print_counts, NULL);
    return 0;
}
