/* SPDX-License-Identifier: Apache-2.0 */
/* What the program in Fortran calls. */
#include <tulle.h>

int answer_of_a_thread(void);

static void* twice(void* number) {
    *(int*)number *= 2;
    return NULL;
}

int answer_of_a_thread(void) {
    int number = 21;
    tulle_thread* thread = NULL;
    if (tulle_spawn(&thread, NULL, twice, &number) != 0) return 1;
    if (tulle_thread_join(thread, NULL) != 0) return 1;
    return number;
}
