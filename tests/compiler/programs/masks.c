// SPDX-License-Identifier: Apache-2.0
// Accesses by intrinsics of x86: masked ones, gathers, and those that leave the cache alone.
#include "recorder.h"

#include <immintrin.h>

#define NOINLINE __attribute__((noinline))
#define AVX2 __attribute__((noinline, target("avx2")))

AVX2 static __m256i lanes_between(int first, int last) {
    __m256i const lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_and_si256(_mm256_cmpgt_epi32(lanes, _mm256_set1_epi32(first - 1)),
                            _mm256_cmpgt_epi32(_mm256_set1_epi32(last + 1), lanes));
}
AVX2 static float sum_of_some(float const* a, int first, int last) {
    float got[8];
    _mm256_storeu_ps(got, _mm256_maskload_ps(a, lanes_between(first, last)));
    float sum = 0;
    for (int i = 0; i < 8; ++i) sum += got[i];
    return sum;
}
AVX2 static void store_some(float* a, float value, int first, int last) {
    _mm256_maskstore_ps(a, lanes_between(first, last), _mm256_set1_ps(value));
}
NOINLINE static void store_bytes(char* a, char value, int flags) {
    char mask[16];
    for (int i = 0; i < 16; ++i) mask[i] = (char)((flags >> i & 1) != 0 ? -1 : 0x7f);
    _mm_maskmoveu_si128(_mm_set1_epi8(value), _mm_loadu_si128((__m128i const*)(void*)mask), a);
}
AVX2 static double sum_of_four(double const* a, int i, int j, int k, int l) {
    double got[4];
    _mm256_storeu_pd(got, _mm256_i32gather_pd(a, _mm_setr_epi32(i, j, k, l), 8));
    return got[0] + got[1] + got[2] + got[3];
}
AVX2 static int has_two(float const* a, long i, long j, float x, float y) { // and zeros behind
    float got[4];
    _mm_storeu_ps(got, _mm_i64gather_ps(a, _mm_set_epi64x(j, i), 4));
    return got[0] == x && got[1] == y && got[2] == 0 && got[3] == 0;
}
AVX2 static float one_of_two(float const* a, long i, long j, int which) { // 3 is the other
    float got[4];
    __m128 const mask = _mm_castsi128_ps(_mm_setr_epi32(-!which, -which, 0, 0));
    _mm_storeu_ps(got, _mm_mask_i64gather_ps(_mm_set1_ps(3), a, _mm_set_epi64x(j, i), mask, 4));
    return got[0] + got[1] + got[2];
}
__attribute__((noinline, target("sse3"))) static int first_unaligned(char const* a) {
    return _mm_cvtsi128_si32(_mm_lddqu_si128((__m128i const*)(void const*)a));
}
NOINLINE static void stream(int* a, int value) { _mm_stream_si32(a, value); }

static void test_masks(void) {
    float* a = coherent_memory(4096);
    for (int i = 0; i < 100; ++i) a[i] = (float)i;
    synchronise();
    REQUIRE(sum_of_some(a + 12, 0, 7) == 124); // bytes 48 to 79
    synchronise();
    REQUIRE(sum_of_some(a + 12, 1, 6) == 93);
    synchronise();
    store_some(a + 30, 500, 1, 3);
    synchronise();
    REQUIRE(a[30] == 30 && a[31] == 500 && a[33] == 500 && a[34] == 34);
    char* b = coherent_memory(128);
    store_bytes(b + 56, 'x', 0xff81);
    synchronise();
    REQUIRE(b[56] == 'x' && b[57] == 0 && b[62] == 0 && b[63] == 'x' && b[71] == 'x' && b[72] == 0);
}

static void test_gathers(void) {
    double* a = coherent_memory(4096);
    for (int i = 0; i < 512; ++i) a[i] = i;
    synchronise();
    REQUIRE(sum_of_four(a + 100, -100, 0, 20, 40) == 360);
    float* b = coherent_memory(4096);
    for (int i = 0; i < 100; ++i) b[i] = (float)i;
    synchronise();
    REQUIRE(has_two(b, 20, 90, 20, 90));
    synchronise();
    REQUIRE(one_of_two(b, 40, 1L << 40, 0) == 43);
    synchronise();
    REQUIRE(one_of_two(b, -(1L << 40), 50, 1) == 53);
}

// Nothing is touched, at what is no address.
static void test_masks_of_nothing(void) {
    float* const nowhere = (float*)0xdead000000000000;
    REQUIRE(sum_of_some(nowhere, 1, 0) == 0);
    store_some(nowhere, 1, 1, 0);
}

int main(void) {
    test_masks();
    test_masks_of_nothing();
    test_gathers();
    int* a = coherent_memory(128);
    stream(a + 3, 4);
    synchronise();
    REQUIRE(a[3] == 4);
    a[15] = 0x01020304;
    a[16] = 0x05060708;
    synchronise();
    REQUIRE(first_unaligned((char*)a + 62) == 0x07080102);
    return 0;
}
