/* SPDX-License-Identifier: Apache-2.0 */
/* A sum, in the layout and the dialect of a program of SPLASH-2: C in files that end as C++'s do, and a CREATE for each process, which gets a copy of
 * the variables. */
MAIN_ENV

#include <math.h>
#include <stdio.h>
#include <string.h>

struct shared {
    LOCKDEC(lock)
    int next;
    double sum;
};

static struct shared* shared;
static int processes = 1;
static long points = 1024;
static double own_sum;

static void add() {
    double part = 0;
    LOCK(shared->lock)
    int number = shared->next++;
    UNLOCK(shared->lock)
    for (long n = number; n < points; n += processes) part += sin(n);
    LOCK(shared->lock)
    shared->sum += part;
    own_sum += part;
    UNLOCK(shared->lock)
}

int main(int argc, char** argv) {
    unsigned long begin, end;
    for (int n = 1; n < argc; ++n) {
        if (strncmp(argv[n], "-p", 2) == 0) processes = atoi(argv[n] + 2);
        if (strncmp(argv[n], "-m", 2) == 0) points = 1L << atoi(argv[n] + 2);
    }
    MAIN_INITENV()
    shared = (struct shared*)G_MALLOC(sizeof(struct shared))
    shared->next = 0;
    shared->sum = 0;
    LOCKINIT(shared->lock)
    CLOCK(begin)
    for (int n = 1; n < processes; ++n) CREATE(add)
    add();
    WAIT_FOR_END(processes - 1)
    CLOCK(end)
    printf("Total time without initialization : %16lu\n", end - begin);
    printf("Checksum %.9f\n", shared->sum);
    MAIN_END
    return 0;
}
