/* SPDX-License-Identifier: Apache-2.0 */
/* The fast Fourier transform, radix 2, decimation in time (Cooley and Tukey: An algorithm for the
 * machine calculation of complex Fourier series, 1965), in parts that threads can share: T residue
 * classes of the samples are transformed each for itself, side by side in the order of reversed
 * bits; then halves are
 * joined, level by level, and a join may be split as well. For C11 and C++20. */
#ifndef TULLE_BENCH_FFT_H
#define TULLE_BENCH_FFT_H

#include <math.h>
#include <stddef.h>

typedef struct {
    double re;
    double im;
} fft_number;

static inline fft_number fft_root(size_t k, size_t n, double sign) {
    const double angle = sign * 2 * 3.14159265358979323846 * (double)k / (double)n;
    const fft_number root = {cos(angle), sin(angle)};
    return root;
}

/* roots[k] = e^(sign 2 pi i k / n), n / 2 of them; sign -1: the transform, 1: its inverse times n.
 * n is a power of two, here and below. */
static inline void fft_make_roots(fft_number* roots, size_t n, double sign) {
    for (size_t k = 0; k < n / 2; ++k) roots[k] = fft_root(k, n, sign);
}

/* The transforms of even and odd samples lie side by side in `both`, `count` numbers together.
 * Joins them for low <= k < high <= count / 2.
 * roots[k * step] is a root of order `count`. */
static inline void fft_join(fft_number* both, size_t count, const fft_number* roots, size_t step,
                            size_t low, size_t high) {
    fft_number* const odds = both + count / 2;
    for (size_t k = low; k < high; ++k) {
        const fft_number w = roots[k * step];
        const fft_number even = both[k];
        const fft_number odd = {w.re * odds[k].re - w.im * odds[k].im,
                                w.re * odds[k].im + w.im * odds[k].re};
        both[k].re = even.re + odd.re;
        both[k].im = even.im + odd.im;
        odds[k].re = even.re - odd.re;
        odds[k].im = even.im - odd.im;
    }
}

/* `to` = the transform of from[0], from[stride], ...; roots as above. */
static inline void fft_transform(fft_number* to, const fft_number* from, size_t count,
                                 size_t stride, const fft_number* roots, size_t step) {
    if (count == 1) {
        *to = *from;
        return;
    }
    fft_transform(to, from, count / 2, 2 * stride, roots, 2 * step);
    fft_transform(to + count / 2, from + stride, count / 2, 2 * stride, roots, 2 * step);
    fft_join(to, count, roots, step, 0, count / 2);
}

/* Of count classes, the one whose transform lies at `index`. */
static inline size_t fft_reversed(size_t index, size_t count) {
    size_t result = 0;
    for (size_t bit = 1; bit < count; bit *= 2, index /= 2) result = 2 * result + index % 2;
    return result;
}

/* Number k of the transform of x, by the sum that defines it. */
static inline fft_number fft_by_definition(const fft_number* x, size_t n, size_t k) {
    fft_number sum = {0, 0};
    for (size_t j = 0; j < n; ++j) {
        const fft_number w = fft_root(j * k % n, n, -1);
        sum.re += w.re * x[j].re - w.im * x[j].im;
        sum.im += w.re * x[j].im + w.im * x[j].re;
    }
    return sum;
}

static inline double fft_distance(fft_number a, fft_number b) {
    return hypot(a.re - b.re, a.im - b.im);
}

#endif
