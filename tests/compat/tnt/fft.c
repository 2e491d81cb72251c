/* SPDX-License-Identifier: Apache-2.0 */
/* A Fourier transform by TNT threads on data in shared memory. Each thread transforms one residue
 * class of the samples; then a thread for each pair joins two halves, level by level. Checked
 * against the sum that defines it, and by the way back. */
#include "check.h"

#include "kernels/fft.h"

#include <tnt.h>

#include <stdint.h>
#include <stdlib.h>

typedef fft_number number;

enum { MOST_THREADS = 16 };

/* What a thread is told, in shared memory. */
struct part {
    number* shared; /* of all samples */
    /* The samples first, first + stride, ...; to be replaced by their transform, side by side in
     * `work`. */
    size_t first;
    size_t stride;
    size_t count;
    number* work;
    double sign;
};

static number* make_roots(size_t n, double sign) {
    number* const roots = malloc((n / 2 + 1) * sizeof(number));
    CHECK(roots != NULL);
    fft_make_roots(roots, n, sign);
    return roots;
}

static void* transform_class(void* shared_part) {
    struct part p;
    CHECK(tnt_read(&p, shared_part, sizeof p) == 0);
    const size_t all = p.count * p.stride;
    number* const samples = malloc(all * sizeof(number));
    number* const result = malloc(p.count * sizeof(number));
    CHECK(samples != NULL && result != NULL);
    CHECK(tnt_read(samples, p.shared, all * sizeof(number)) == 0);
    number* const roots = make_roots(p.count, p.sign);
    fft_transform(result, samples + p.first, p.count, p.stride, roots, 1);
    CHECK(tnt_write(p.work, result, p.count * sizeof(number)) == 0);
    free(roots);
    free(samples);
    free(result);
    return NULL;
}

/* Joins the transforms of count / 2 even and as many odd samples, which lie side by side in `work`.
 */
static void* join_halves(void* shared_part) {
    struct part p;
    CHECK(tnt_read(&p, shared_part, sizeof p) == 0);
    number* const both = malloc(p.count * sizeof(number));
    CHECK(both != NULL && tnt_read(both, p.work, p.count * sizeof(number)) == 0);
    number* const roots = make_roots(p.count, p.sign);
    fft_join(both, p.count, roots, 1, 0, p.count / 2);
    CHECK(tnt_write(p.work, both, p.count * sizeof(number)) == 0);
    free(roots);
    free(both);
    return NULL;
}

/* Starts a thread for each part, and waits for all. */
static void run_all(void* (*function)(void*), const struct part* parts, size_t count) {
    tnt_t threads[MOST_THREADS];
    struct part* const shared = tnt_malloc(count * sizeof *parts);
    CHECK(shared != NULL && tnt_write(shared, parts, count * sizeof *parts) == 0);
    for (size_t k = 0; k < count; ++k) CHECK(tnt_create(&threads[k], function, shared + k) == 0);
    for (size_t k = 0; k < count; ++k) CHECK(tnt_join(threads[k], NULL) == 0);
    CHECK(tnt_free(shared) == 0);
}

/* In place, in shared memory; `threads` is a power of two. */
static void fft(number* shared, size_t n, size_t threads, double sign) {
    struct part parts[MOST_THREADS];
    number* const work = tnt_malloc(n * sizeof(number));
    CHECK(work != NULL);
    for (size_t t = 0; t < threads; ++t) {
        const struct part p = {shared,      fft_reversed(t, threads), threads,
                               n / threads, work + t * (n / threads), sign};
        parts[t] = p;
    }
    run_all(&transform_class, parts, threads);
    for (size_t joined = threads / 2; joined != 0; joined /= 2) {
        for (size_t t = 0; t < joined; ++t) {
            const struct part p = {shared, 0, 1, n / joined, work + t * (n / joined), sign};
            parts[t] = p;
        }
        run_all(&join_halves, parts, joined);
    }
    number* const all = malloc(n * sizeof(number));
    CHECK(all != NULL && tnt_read(all, work, n * sizeof(number)) == 0 &&
          tnt_write(shared, all, n * sizeof(number)) == 0);
    free(all);
    CHECK(tnt_free(work) == 0);
}

static double random_number(uint64_t* state) {
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (double)(*state >> 11U) / 9007199254740992.0 - 0.5;
}

static void check_size(size_t n, size_t threads) {
    number* const x = malloc(n * sizeof(number));
    number* const y = malloc(n * sizeof(number));
    number* const shared = tnt_malloc(n * sizeof(number));
    uint64_t state = n;
    CHECK(x != NULL && y != NULL && shared != NULL);
    for (size_t k = 0; k < n; ++k) x[k] = (number){random_number(&state), random_number(&state)};
    CHECK(tnt_write(shared, x, n * sizeof(number)) == 0);
    fft(shared, n, threads, -1);
    CHECK(tnt_read(y, shared, n * sizeof(number)) == 0);
    for (size_t k = 0; k < n; ++k)
        CHECK(fft_distance(y[k], fft_by_definition(x, n, k)) < 1e-9 * (double)n);
    fft(shared, n, threads, 1);
    CHECK(tnt_read(y, shared, n * sizeof(number)) == 0);
    for (size_t k = 0; k < n; ++k) {
        const number back = {y[k].re / (double)n, y[k].im / (double)n};
        CHECK(fft_distance(back, x[k]) < 1e-12 * (double)n);
    }
    CHECK(tnt_free(shared) == 0);
    free(x);
    free(y);
}

int main(void) {
    CHECK(tnt_init(0) == 0);
    for (size_t threads = 1; threads <= MOST_THREADS; threads *= 2)
        for (size_t n = threads; n <= 1024; n *= 4) check_size(n, threads);
    return 0;
}
