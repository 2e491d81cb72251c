// SPDX-License-Identifier: Apache-2.0
//
// A plugin of QEMU's translator that counts the instructions and system calls of a program and writes both to standard error when it ends. Of QEMU's
// plugin interface (docs/devel/tcg-plugins, version 1), whose header distributions leave out, it declares what it uses.
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define TULLE_EXPORT __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum { k_add_u64 = 0 };

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, void (*callback)(qemu_plugin_id_t, struct qemu_plugin_tb*));
size_t qemu_plugin_tb_n_insns(struct qemu_plugin_tb const* block);
struct qemu_plugin_insn* qemu_plugin_tb_get_insn(struct qemu_plugin_tb const* block, size_t index);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn* instruction, int operation, void* counter, uint64_t by);
typedef void (*system_call_callback)(qemu_plugin_id_t, unsigned, int64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                                     uint64_t, uint64_t);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id, system_call_callback callback);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*callback)(qemu_plugin_id_t, void*), void* argument);

TULLE_EXPORT int qemu_plugin_version = 1;
TULLE_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, void const* machine, int argc, char** argv);

static uint64_t g_instructions, g_system_calls;

static void count_block(qemu_plugin_id_t id, struct qemu_plugin_tb* block) {
    (void)id;
    size_t const length = qemu_plugin_tb_n_insns(block);
    for (size_t k = 0; k < length; ++k)
        qemu_plugin_register_vcpu_insn_exec_inline(qemu_plugin_tb_get_insn(block, k), k_add_u64, &g_instructions, 1);
}

static void count_system_call(qemu_plugin_id_t id, unsigned cpu, int64_t number, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                              uint64_t f, uint64_t g, uint64_t h) {
    (void)id, (void)cpu, (void)number, (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h;
    ++g_system_calls;
}

static void print_counts(qemu_plugin_id_t id, void* argument) {
    (void)id, (void)argument;
    fprintf(stderr, "counts: %" PRIu64 " %" PRIu64 "\n", g_instructions, g_system_calls);
}

int qemu_plugin_install(qemu_plugin_id_t id, void const* machine, int argc, char** argv) {
    (void)machine, (void)argc, (void)argv;
    qemu_plugin_register_vcpu_tb_trans_cb(id, &count_block);
    qemu_plugin_register_vcpu_syscall_cb(id, &count_system_call);
    qemu_plugin_register_atexit_cb(id, &print_counts, NULL);
    return 0;
}
