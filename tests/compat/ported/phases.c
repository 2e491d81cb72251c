/* SPDX-License-Identifier: Apache-2.0 */
/* An ordinary program for POSIX threads: relaxation of a line of numbers in phases that a barrier
 * parts, with a table that is made once, and tallies of threads in keys whose destructors collect
 * them. The same program becomes one for TNT by its prefixes. Argument: threads. */
#define _XOPEN_SOURCE 700
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { CELLS = 512, PHASES = 20, MOST_THREADS = 16 };

static pthread_once_t table_made = PTHREAD_ONCE_INIT;
static pthread_key_t tally_key;
static pthread_barrier_t barrier;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int threads = 4;
static double cells[2][CELLS];
static double* weights;
static int tables;
static long collected;
static int serial_ones;

static void collect(void* tally) {
    pthread_mutex_lock(&lock);
    collected += *(long*)tally;
    pthread_mutex_unlock(&lock);
    free(tally);
}

static void make_table(void) {
    weights = malloc(3 * sizeof *weights);
    if (weights == NULL) abort();
    weights[0] = weights[2] = 0.25;
    weights[1] = 0.5;
    ++tables;
    pthread_key_create(&tally_key, collect);
}

static void count_cell(void) {
    long* tally = pthread_getspecific(tally_key);
    if (tally == NULL) {
        tally = calloc(1, sizeof *tally);
        if (tally == NULL || pthread_setspecific(tally_key, tally) != 0) abort();
    }
    ++*tally;
}

static void relax(double* to, double const* from, int begin, int end) {
    for (int k = begin; k < end; ++k) {
        double const left = from[k == 0 ? CELLS - 1 : k - 1];
        double const right = from[k == CELLS - 1 ? 0 : k + 1];
        to[k] = weights[0] * left + weights[1] * from[k] + weights[2] * right;
        count_cell();
    }
}

static void* work(void* number) {
    int const me = (int)(long)number;
    int const begin = CELLS * me / threads;
    int const end = CELLS * (me + 1) / threads;
    pthread_once(&table_made, make_table);
    for (int phase = 0; phase < PHASES; ++phase) {
        relax(cells[(phase + 1) % 2], cells[phase % 2], begin, end);
        if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
            pthread_mutex_lock(&lock);
            ++serial_ones;
            pthread_mutex_unlock(&lock);
        }
    }
    return NULL;
}

static double alone(int cell) {
    static double own[2][CELLS];
    for (int k = 0; k < CELLS; ++k) own[0][k] = k % 7;
    for (int phase = 0; phase < PHASES; ++phase)
        for (int k = 0; k < CELLS; ++k)
            own[(phase + 1) % 2][k] = 0.25 * own[phase % 2][(k + CELLS - 1) % CELLS] +
                                      0.5 * own[phase % 2][k] +
                                      0.25 * own[phase % 2][(k + 1) % CELLS];
    return own[PHASES % 2][cell];
}

int main(int argc, char** argv) {
    pthread_t all[MOST_THREADS];
    if (argc > 1) threads = atoi(argv[1]);
    for (int k = 0; k < CELLS; ++k) cells[0][k] = k % 7;
    if (pthread_barrier_init(&barrier, NULL, (unsigned)threads) != 0) return 2;
    for (long k = 0; k < threads; ++k)
        if (pthread_create(&all[k], NULL, work, (void*)k) != 0) return 3;
    for (int k = 0; k < threads; ++k)
        if (pthread_join(all[k], NULL) != 0) return 4;
    for (int k = 0; k < CELLS; ++k) {
        double const difference = cells[PHASES % 2][k] - alone(k);
        if (difference > 1e-12 || difference < -1e-12) return 5;
    }
    printf("%d phases, %ld cells by %d threads\n", PHASES, collected, threads);
    if (pthread_barrier_destroy(&barrier) != 0 || pthread_key_delete(tally_key) != 0) return 6;
    return collected == (long)PHASES * CELLS && serial_ones == PHASES && tables == 1 ? 0 : 1;
}
