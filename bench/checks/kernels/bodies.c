// SPDX-License-Identifier: Apache-2.0
// Moves bodies by their attraction.
#include "kernel.h"

enum { k_steps = 3 };

typedef struct {
    double at[3], speed[3], force[3], mass;
} body;

static void attract(body* a, body* b) {
    double way[3], distance = 0.01;
    for (int k = 0; k < 3; ++k) {
        way[k] = b->at[k] - a->at[k];
        distance += way[k] * way[k];
    }
    double const strength = a->mass * b->mass / (distance * __builtin_sqrt(distance));
    for (int k = 0; k < 3; ++k) {
        a->force[k] += way[k] * strength;
        b->force[k] -= way[k] * strength;
    }
}

static void move(body* b, double time) {
    for (int k = 0; k < 3; ++k) {
        b->speed[k] += b->force[k] / b->mass * time;
        b->at[k] += b->speed[k] * time;
        b->force[k] = 0;
    }
}

int kernel_size(int is_short) { return is_short ? 12 : 1500; }

size_t kernel_bytes(int size) { return (size_t)size * sizeof(body); }

uint64_t run_kernel(void* memory, int size) {
    body* bodies = memory;
    uint64_t random = 1, hash = 0;
    for (int i = 0; i < size; ++i) {
        bodies[i] = (body){.mass = 1 + (double)(next_random(&random) % 10)};
        for (int k = 0; k < 3; ++k) bodies[i].at[k] = (double)(next_random(&random) % 1000);
    }
    for (int step = 0; step < k_steps; ++step) {
        for (int i = 0; i < size; ++i)
            for (int j = i + 1; j < size; ++j) attract(&bodies[i], &bodies[j]);
        for (int i = 0; i < size; ++i) move(&bodies[i], 0.01);
    }
    for (int i = 0; i < size; ++i) hash = mix(hash, bits_of(bodies[i].at[0]));
    return hash;
}
