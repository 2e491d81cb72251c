// SPDX-License-Identifier: Apache-2.0
// Atomic changes of floating-point numbers at their home, where each is a load and a comparison;
// and by two threads in memory that is no coherent one.
#include "recorder.h"

#include <math.h>
#include <pthread.h>

float fadd_float(float* at, float operand);
double fadd_double(double* at, double operand);
float fsub_float(float* at, float operand);
double fsub_double(double* at, double operand);
float fmin_float(float* at, float operand);
double fmin_double(double* at, double operand);
float fmax_float(float* at, float operand);
double fmax_double(double* at, double operand);

enum { k_changes = 100000 };

static float* s_single;
static double* s_twice;

#define REQUIRE_CHANGE(change, at, before, operand, after)                                         \
    do {                                                                                           \
        *(at) = (before);                                                                          \
        synchronise();                                                                             \
        unsigned long const count = checks_of(atomics);                                            \
        REQUIRE(change((at), (operand)) == (before));                                              \
        REQUIRE(checks_of(atomics) == count + 2);                                                  \
        REQUIRE(*(at) == (after));                                                                 \
    } while (0)

static void test_sums(void) {
    REQUIRE_CHANGE(fadd_float, s_single, 1.5F, 2, 3.5F);
    REQUIRE_CHANGE(fadd_double, s_twice, -1.5, 2, 0.5);
    REQUIRE_CHANGE(fsub_float, s_single, 1.5F, 2, -0.5F);
    REQUIRE_CHANGE(fsub_double, s_twice, 3.5, 2, 1.5);
}
static void test_least_and_greatest(void) {
    REQUIRE_CHANGE(fmin_float, s_single, 2, 1, 1);
    REQUIRE_CHANGE(fmin_float, s_single, 1, 2, 1);
    REQUIRE_CHANGE(fmin_float, s_single, -1, -2, -2);
    REQUIRE_CHANGE(fmin_double, s_twice, -2, -1, -2);
    REQUIRE_CHANGE(fmin_double, s_twice, 3, -INFINITY, -INFINITY);
    REQUIRE_CHANGE(fmin_double, s_twice, 3, NAN, 3);
    REQUIRE_CHANGE(fmax_float, s_single, 2, 1, 2);
    REQUIRE_CHANGE(fmax_float, s_single, 1, 2, 2);
    REQUIRE_CHANGE(fmax_float, s_single, -1, -2, -1);
    REQUIRE_CHANGE(fmax_double, s_twice, -2, -1, -1);
    REQUIRE_CHANGE(fmax_double, s_twice, 3, INFINITY, INFINITY);
    REQUIRE_CHANGE(fmax_double, s_twice, 3, NAN, 3);
}
// Of a number and what is none, the number; the comparison is one of bits, so that it ends.
static void test_no_number(void) {
    *s_twice = NAN;
    REQUIRE(isnan(fmax_double(s_twice, -7)) && *s_twice == -7);
    *s_single = NAN;
    REQUIRE(isnan(fmin_float(s_single, 7)) && *s_single == 7);
    *s_twice = NAN;
    REQUIRE(isnan(fadd_double(s_twice, 1)) && isnan(*s_twice));
}

struct private {
    double sum;
    float least, greatest;
};
static void* change_all(void* private) {
    struct private* const all = private;
    for (int k = 0; k < k_changes; ++k) {
        fadd_double(&all->sum, 1);
        fmin_float(&all->least, (float)-k);
        fmax_float(&all->greatest, (float)k);
    }
    return NULL;
}

int main(void) {
    struct private all = {0, 0, 0};
    pthread_t other;
    s_single = coherent_memory(sizeof *s_single);
    s_twice = coherent_memory(sizeof *s_twice);
    test_sums();
    test_least_and_greatest();
    test_no_number();
    REQUIRE(pthread_create(&other, NULL, &change_all, &all) == 0);
    change_all(&all);
    pthread_join(other, NULL);
    REQUIRE(all.sum == 2 * k_changes);
    REQUIRE(all.least == 1 - k_changes && all.greatest == k_changes - 1);
    return 0;
}
