// SPDX-License-Identifier: Apache-2.0
// Inserts into a tree, then looks for numbers in it: from pointer to pointer.
#include "kernel.h"

typedef struct node {
    uint32_t key, count;
    struct node* children[2];
} node;

static void insert(node** root, node* made) {
    node** at = root;
    while (*at != NULL) at = &(*at)->children[made->key > (*at)->key];
    *at = made;
}

static node* find(node* at, uint32_t key) {
    while (at != NULL && at->key != key) at = at->children[key > at->key];
    return at;
}

int kernel_size(int is_short) { return is_short ? 100 : 1 << 15; }

size_t kernel_bytes(int size) { return (size_t)size * sizeof(node); }

uint64_t run_kernel(void* memory, int size) {
    node* nodes = memory;
    node* root = NULL;
    uint64_t random = 1, hash = 0;
    for (int i = 0; i < size; ++i) {
        nodes[i] = (node){.key = (uint32_t)next_random(&random)};
        insert(&root, &nodes[i]);
    }
    for (int turn = 0; turn < 8; ++turn)
        for (int i = 0; i < size; ++i) {
            node* found = find(root, nodes[(i * 7 + turn) % size].key);
            hash = mix(hash, ++found->count);
        }
    return hash;
}
