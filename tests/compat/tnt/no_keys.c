/* SPDX-License-Identifier: Apache-2.0 */
/* A program that has used up the keys before its first thread. */
#include "check.h"

#include <tnt.h>
#include <tulle.h>

#include <errno.h>
#include <stddef.h>

static void* nothing(void* argument) { return argument; }
static int calls;
static void count(void) { ++calls; }

int main(void) {
    tulle_key key = 0;
    tulle_key last = 0;
    tnt_t thread;
    void* result = NULL;
    tnt_mutex_t mutex = TNT_MUTEX_INITIALIZER;
    tnt_once_t once = TNT_ONCE_INIT;
    CHECK(tnt_init(0) == 0);
    while (tulle_key_create(&key, NULL) == 0) last = key;
    CHECK(tnt_self() == 0);
    CHECK(tnt_create(&thread, nothing, NULL) == EAGAIN);
    CHECK(tnt_mutex_lock(&mutex) == 0 && tnt_mutex_unlock(&mutex) == 0);
    CHECK(tnt_once(&once, count) == 0 && calls == 1);
    CHECK(tulle_key_delete(last) == 0);
    CHECK(tnt_create(&thread, nothing, &last) == 0);
    CHECK(tnt_join(thread, &result) == 0 && result == &last);
    return 0;
}
