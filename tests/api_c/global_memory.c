/* SPDX-License-Identifier: Apache-2.0 */
/* Global memory from C, with one place. */
#include "check.h"

#include <tulle.h>

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void allocate(void) {
    void* p = NULL;
    void* q = NULL;
    tulle_global_allocation_t all[2];
    CHECK(tulle_global_malloc(&p, 100) == 0);
    CHECK(tulle_global_calloc(&q, 50, 2) == 0);
    CHECK(p != q && tulle_global_place_of(q) == 0);
    CHECK(tulle_global_local(q, 100) == q && ((char*)q)[99] == 0);
    memset(p, 5, 100);
    CHECK(tulle_global_realloc(&p, 100000) == 0);
    CHECK(((char*)p)[99] == 5);
    CHECK(tulle_global_allocations(all, 2) == 2);
    CHECK(all[0].owner == 0 && all[0].size + all[1].size == 100100);
    CHECK(tulle_global_free((char*)p + 64) == -EINVAL);
    CHECK(tulle_global_free(p) == 0);
    CHECK(tulle_global_free(p) == -EINVAL);
    CHECK(tulle_global_free(q) == 0);
    CHECK(tulle_global_free(NULL) == 0);
    CHECK(tulle_global_allocations(NULL, 0) == 0);
    CHECK(tulle_global_malloc_at(&p, 0, 8) == 0 && tulle_global_free(p) == 0);
}

static void refuse(void) {
    int own = 0;
    void* p = NULL;
    CHECK(tulle_global_malloc(NULL, 1) == -EINVAL);
    CHECK(tulle_global_malloc(&p, 0) == -EINVAL);
    CHECK(tulle_global_malloc(&p, SIZE_MAX) == -ENOMEM);
    CHECK(tulle_global_calloc(&p, SIZE_MAX, 3) == -ENOMEM);
    CHECK(tulle_global_malloc_at(&p, 1, 1) == -EINVAL);
    CHECK(tulle_global_malloc_at(&p, -1, 1) == -EINVAL);
    CHECK(p == NULL);
    CHECK(tulle_global_free(&own) == -EFAULT);
    CHECK(tulle_global_place_of(&own) == -EFAULT);
    CHECK(tulle_global_local(&own, 1) == NULL);
    CHECK(tulle_global_read(&own, &own, sizeof own) == -EFAULT);
    CHECK(tulle_global_write(NULL, &own, sizeof own) == -EINVAL);
    CHECK(tulle_global_read(NULL, &own, 1) == -EINVAL);
}

static void change(void) {
    void* p = NULL;
    uint64_t wide = 0;
    uint32_t narrow = 0;
    CHECK(tulle_global_calloc(&p, 1, 16) == 0);
    CHECK(tulle_global_fetch_add_64(p, 7, NULL) == 0);
    CHECK(tulle_global_exchange_64(p, 9, &wide) == 0 && wide == 7);
    CHECK(tulle_global_compare_exchange_64(p, &wide, 1) == 0 && wide == 9);
    CHECK(tulle_global_compare_exchange_64(p, &wide, 1) == 1);
    CHECK(tulle_global_compare_exchange_64(p, NULL, 1) == -EINVAL);
    CHECK(tulle_global_fetch_add_32((char*)p + 4, 3, &narrow) == 0 && narrow == 0);
    CHECK(tulle_global_exchange_32((char*)p + 4, 4, &narrow) == 0 && narrow == 3);
    CHECK(tulle_global_compare_exchange_32((char*)p + 4, &narrow, 4) == 0 && narrow == 4);
    CHECK(tulle_global_compare_exchange_32((char*)p + 4, &narrow, 5) == 1);
    CHECK(tulle_global_fetch_add_64((char*)p + 4, 1, NULL) == -EINVAL);
    CHECK(tulle_global_fetch_add_32(NULL, 1, NULL) == -EINVAL);
    CHECK(tulle_global_write((char*)p + 8, "abcdefg", 8) == 0);
    CHECK(tulle_global_read(&wide, (char*)p + 8, 8) == 0 && memcmp(&wide, "abcdefg", 8) == 0);
    CHECK(tulle_global_free(p) == 0);
}

int main(void) {
    allocate();
    refuse();
    change();
    return 0;
}
