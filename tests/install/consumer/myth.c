/* SPDX-License-Identifier: Apache-2.0 */
/* A program for MassiveThreads: nothing in it knows of Tulle. */
#include <myth/myth.h>

#include <stdio.h>

static void* twice(void* number) {
    *(int*)number *= 2;
    return number;
}

int main(void) {
    int number = 21;
    void* result = NULL;
    if (myth_join(myth_create(twice, &number), &result) != 0) return 1;
    printf("%d\n", *(int*)result);
    myth_fini();
    return 0;
}
