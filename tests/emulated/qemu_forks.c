/* SPDX-License-Identifier: Apache-2.0 */
/* Loaded before the libraries of qemu, by LD_PRELOAD, for programs that fork. A forked child in
   which an emulated program makes a thread ends with "plugins/core.c: qemu_plugin_vcpu_init_hook:
   assertion failed" if the parent had another one: qemu (7.2) keeps the parent's threads in a table
   in which it then enters the new one, by the same number. That it was there is not said here. */
#define _GNU_SOURCE
#include <dlfcn.h>

int g_hash_table_insert(void* table, void* key, void* value) {
    static int (*s_insert)(void*, void*, void*);
    if (s_insert == 0) *(void**)&s_insert = dlsym(RTLD_NEXT, "g_hash_table_insert");
    s_insert(table, key, value);
    return 1;
}
