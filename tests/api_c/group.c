/* SPDX-License-Identifier: Apache-2.0
 * Groups of threads from C, each policy. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <tulle.h>

static tulle_mutex_t g_lock;
static int g_sum;

static void add(void* part) {
    tulle_mutex_lock(&g_lock);
    g_sum += *(int*)part;
    tulle_mutex_unlock(&g_lock);
}

static int sum_is_right(int policy) {
    static int parts[200];
    tulle_group* group = NULL;
    int wanted = 0;
    if (tulle_group_create(&group, 2, policy) != 0) return 0;
    g_sum = 0;
    for (int k = 0; k < 200; ++k) {
        parts[k] = k;
        wanted += k;
        if (tulle_group_spawn(group, &add, &parts[k]) == -EAGAIN) add(&parts[k]);
    }
    if (tulle_group_join(group) != 0 || g_sum != wanted || tulle_group_size(group) != 0) return 0;
    return tulle_group_destroy(group) == 0;
}

int main(void) {
    int const policies[] = {TULLE_RUN_INLINE, TULLE_CREATE, TULLE_RECORD, TULLE_BLOCK};
    for (size_t k = 0; k < sizeof policies / sizeof policies[0]; ++k) {
        if (!sum_is_right(policies[k])) {
            printf("policy %d: wrong\n", policies[k]);
            return 1;
        }
    }
    return 0;
}
