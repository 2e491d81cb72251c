/* SPDX-License-Identifier: Apache-2.0 */
/* A program for Qthreads: nothing in it knows of Tulle. */
#include <qthread/qthread.h>

#include <stdio.h>

static aligned_t twice(void* number) { return 2 * *(aligned_t*)number; }

int main(void) {
    aligned_t number = 21, result = 0;
    if (qthread_initialize() != QTHREAD_SUCCESS ||
        qthread_fork(twice, &number, &result) != QTHREAD_SUCCESS)
        return 1;
    qthread_readFF(&result, &result);
    printf("%d\n", (int)result);
    qthread_finalize();
    return 0;
}
