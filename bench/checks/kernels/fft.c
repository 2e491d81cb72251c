// SPDX-License-Identifier: Apache-2.0
// A transform of complex numbers, in place, by halves; and back.
#include "kernel.h"

typedef struct {
    double re, im;
} number;

static void reverse_order(number* a, int n) {
    for (int i = 1, j = 0; i < n; ++i) {
        int bit = n >> 1;
        for (; (j & bit) != 0; bit >>= 1) j ^= bit;
        j |= bit;
        if (i < j) {
            number const kept = a[i];
            a[i] = a[j];
            a[j] = kept;
        }
    }
}

// Roots of one are made by squaring and halving the first one, so that no library is needed.
static void make_roots(number* roots, int n) {
    roots[0] = (number){1, 0};
    double re = -1, im = 0;
    for (int step = n / 2; step > 0; step /= 2) {
        for (int i = step; i < n; i += 2 * step) {
            number const before = roots[i - step];
            roots[i] = (number){before.re * re - before.im * im, before.re * im + before.im * re};
        }
        double const next_re = __builtin_sqrt((1 + re) / 2);
        im = step == n / 2 ? 1 : im / (2 * next_re);
        re = next_re;
    }
}

static void transform(number* a, number const* roots, int n, int sign) {
    reverse_order(a, n);
    for (int half = 1; half < n; half *= 2)
        for (int first = 0; first < n; first += 2 * half)
            for (int k = 0; k < half; ++k) {
                number const w = roots[(size_t)k * (n / (2 * half))];
                number const u = a[first + k], v = a[first + k + half];
                double const re = v.re * w.re - sign * v.im * w.im;
                double const im = v.re * sign * w.im + v.im * w.re;
                a[first + k] = (number){u.re + re, u.im + im};
                a[first + k + half] = (number){u.re - re, u.im - im};
            }
}

int kernel_size(int is_short) { return is_short ? 256 : 1 << 18; }

size_t kernel_bytes(int size) { return 2 * (size_t)size * sizeof(number); }

uint64_t run_kernel(void* memory, int size) {
    number* a = memory;
    number* roots = a + size;
    uint64_t random = 1, hash = 0;
    make_roots(roots, size);
    for (int i = 0; i < size; ++i) a[i] = (number){(double)(next_random(&random) % 100), 0};
    transform(a, roots, size, 1);
    for (int i = 0; i < size; ++i) hash = mix(hash, bits_of(a[i].re) ^ bits_of(a[i].im));
    transform(a, roots, size, -1);
    for (int i = 0; i < size; ++i) hash = mix(hash, bits_of(a[i].re));
    return hash;
}
