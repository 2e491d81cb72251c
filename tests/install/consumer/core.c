/* SPDX-License-Identifier: Apache-2.0 */
/* A program in C. */
#include <tulle.h>

#include <stdio.h>

static void* twice(void* number) {
    *(int*)number *= 2;
    return number;
}

int main(void) {
    int number = 21;
    tulle_thread* thread = NULL;
    void* result = NULL;
    if (tulle_spawn(&thread, NULL, twice, &number) != 0) return 1;
    if (tulle_thread_join(thread, &result) != 0) return 1;
    printf("%d\n", *(int*)result);
    return 0;
}
