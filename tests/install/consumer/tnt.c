/* SPDX-License-Identifier: Apache-2.0 */
/* A program for TNT: nothing in it knows of Tulle. */
#include <tnt.h>

#include <stdio.h>

static void* twice(void* number) {
    *(int*)number *= 2;
    tnt_exit(number);
}

int main(void) {
    int* number = NULL;
    tnt_t thread;
    void* result = NULL;
    if (tnt_init(0) != 0) return 1;
    number = tnt_malloc(sizeof *number);
    *number = 21;
    if (tnt_create(&thread, twice, number) != 0 || tnt_join(thread, &result) != 0) return 1;
    printf("%d\n", *(int*)result);
    tnt_free(number);
    return 0;
}
