/* SPDX-License-Identifier: Apache-2.0 */
/* The processors of a program in C11: without sharing, as here, those of the affinity mask, and no
 * wishes. */
#include "check.h"

#include <tulle.h>

#include <errno.h>

int main(void) {
    int numbers[2] = {-1, -1};
    int const count = tulle_cpus(NULL, 0);
    CHECK(count >= 1);
    CHECK(tulle_cpus(numbers, 1) == count);
    CHECK(numbers[0] >= 0 && numbers[1] == -1);
    CHECK(tulle_cpus(NULL, 1) == -EINVAL);
    CHECK(tulle_cpus_want(1, 0, 1) == -ENOTSUP);
    return 0;
}
