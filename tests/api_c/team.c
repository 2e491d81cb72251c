/* SPDX-License-Identifier: Apache-2.0 */
/* Collective operations of places in C, over however many places there are. */
#include "check.h"

#include <tulle.h>

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16, LARGE = 40000 };

/* Two by two matrices: associative, and the order matters. */
struct matrix {
    uint64_t m[4];
};
static void multiply(void* into, void const* other) {
    struct matrix const a = *(struct matrix*)into;
    struct matrix const* const b = other;
    struct matrix const product = {
        {a.m[0] * b->m[0] + a.m[1] * b->m[2], a.m[0] * b->m[1] + a.m[1] * b->m[3],
         a.m[2] * b->m[0] + a.m[3] * b->m[2], a.m[2] * b->m[1] + a.m[3] * b->m[3]}};
    *(struct matrix*)into = product;
}
static struct matrix matrix_of(int rank) {
    uint64_t const r = (uint64_t)rank;
    return (struct matrix){{r + 1, r * r, 3, r + 2}};
}
static struct matrix product_of(int count) {
    struct matrix product = matrix_of(0);
    for (int r = 1; r < count; ++r) {
        struct matrix const next = matrix_of(r);
        multiply(&product, &next);
    }
    return product;
}
static int is_same(struct matrix const* a, struct matrix const* b) {
    return memcmp(a, b, sizeof *a) == 0;
}

static void reductions(tulle_team_t team, int n, int mine) {
    struct matrix const all = product_of(n);
    for (int root = 0; root < n; ++root) {
        struct matrix const own = matrix_of(mine);
        struct matrix value = own;
        CHECK(tulle_team_reduce(team, &value, sizeof value, &multiply, root) == 0);
        CHECK(is_same(&value, mine == root ? &all : &own));
    }
    struct matrix value = matrix_of(mine);
    CHECK(tulle_team_allreduce(team, &value, sizeof value, &multiply) == 0 &&
          is_same(&value, &all));
}

static void broadcasts(tulle_team_t team, int n, int mine) {
    unsigned char* const bytes = malloc(LARGE);
    CHECK(bytes != NULL);
    for (int root = 0; root < n; ++root) {
        memset(bytes, mine + 1, LARGE);
        CHECK(tulle_team_broadcast(team, bytes, LARGE, root) == 0);
        for (size_t k = 0; k < LARGE; ++k) CHECK(bytes[k] == root + 1);
    }
    free(bytes);
    CHECK(tulle_team_broadcast(team, NULL, 0, n - 1) == 0);
}

static void exchanges(tulle_team_t team, int n, int mine) {
    long const value = 10L * mine;
    long all[MOST];
    long to[MOST];
    for (int root = 0; root < n; ++root) {
        long own = -1;
        for (int r = 0; r < n; ++r) all[r] = mine == root ? 100L * root + r : -1;
        CHECK(tulle_team_scatter(team, mine == root ? all : NULL, &own, sizeof own, root) == 0 &&
              own == 100L * root + mine);
        CHECK(tulle_team_gather(team, &value, sizeof value, mine == root ? to : NULL, root) == 0);
        for (int r = 0; mine == root && r < n; ++r) CHECK(to[r] == 10L * r);
    }
    memset(to, 0xff, sizeof to);
    CHECK(tulle_team_all_gather(team, &value, sizeof value, to) == 0);
    for (int r = 0; r < n; ++r) CHECK(to[r] == 10L * r);
    for (int r = 0; r < n; ++r) all[r] = 100L * mine + r;
    CHECK(tulle_team_all_to_all(team, all, all, sizeof all[0]) == 0);
    for (int r = 0; r < n; ++r) CHECK(all[r] == 100L * r + mine);
}

/* None of these begins an operation. */
static void refused(tulle_team_t team, int n) {
    char byte = 0;
    CHECK(tulle_team_place(team, n) == -EINVAL && tulle_team_place(team, -1) == -EINVAL);
    CHECK(tulle_team_broadcast(team, NULL, 1, 0) == -EINVAL &&
          tulle_team_broadcast(team, &byte, 1, n) == -EINVAL);
    CHECK(tulle_team_reduce(team, &byte, 1, NULL, 0) == -EINVAL &&
          tulle_team_reduce(team, NULL, 1, &multiply, 0) == -EINVAL);
    CHECK(tulle_team_reduce(team, &byte, 1, &multiply, -1) == -EINVAL);
    CHECK(tulle_team_allreduce(team, &byte, 1, NULL) == -EINVAL &&
          tulle_team_allreduce(team, NULL, 1, &multiply) == -EINVAL);
    CHECK(tulle_team_broadcast(team, &byte, SIZE_MAX, 0) == -EINVAL &&
          tulle_team_allreduce(team, &byte, SIZE_MAX, &multiply) == -EINVAL);
    CHECK(tulle_team_gather(team, NULL, 1, &byte, 0) == -EINVAL &&
          tulle_team_gather(team, &byte, 1, &byte, n) == -EINVAL);
    CHECK(tulle_team_gather(team, &byte, 1, NULL, tulle_team_rank(team)) == -EINVAL);
    CHECK(tulle_team_all_gather(team, NULL, 1, &byte) == -EINVAL &&
          tulle_team_all_gather(team, &byte, 1, NULL) == -EINVAL);
    CHECK(tulle_team_scatter(team, &byte, NULL, 1, 0) == -EINVAL &&
          tulle_team_scatter(team, &byte, &byte, 1, n) == -EINVAL);
    CHECK(tulle_team_scatter(team, NULL, &byte, 1, tulle_team_rank(team)) == -EINVAL);
    CHECK(tulle_team_all_to_all(team, NULL, &byte, 1) == -EINVAL &&
          tulle_team_all_to_all(team, &byte, NULL, 1) == -EINVAL);
}

/* All others receive less or more than they have room for; the team can be used on. */
static void different_sizes(tulle_team_t team, int n, int mine) {
    char bytes[2] = {(char)mine, (char)mine};
    int const error = tulle_team_broadcast(team, bytes, mine == n - 1 ? 2 : 1, n - 1);
    CHECK(error == (mine == n - 1 ? 0 : -EINVAL) && bytes[0] == mine);
    CHECK(tulle_team_barrier(team) == 0);
}

static void take_part(void const* argument, size_t size) {
    tulle_team_t team;
    CHECK(size == sizeof team);
    memcpy(&team, argument, size);
    int const n = tulle_team_size(team);
    int const mine = tulle_team_rank(team);
    CHECK(n > 0 && mine >= 0 && tulle_team_place(team, mine) == tulle_here());
    refused(team, n);
    for (int round = 0; round < 5; ++round) {
        CHECK(tulle_team_barrier(team) == 0);
        reductions(team, n, mine);
        broadcasts(team, n, mine);
        exchanges(team, n, mine);
        different_sizes(team, n, mine);
    }
}

static void at_members(tulle_activities_t* all, void* argument) {
    tulle_team_t const team = *(tulle_team_t*)argument;
    for (int p = 0; p < tulle_place_count(); ++p)
        if (team.name == 0 || p % 2 == 0)
            CHECK(tulle_async_at(all, p, &take_part, &team, sizeof team) == 0);
}

static void knows(void const* argument, size_t size, void* result, size_t result_size) {
    CHECK(size == sizeof(tulle_team_t) && result_size == sizeof(int));
    *(int*)result = tulle_team_size(*(tulle_team_t const*)argument);
}

/* Those with even numbers, the last one first. */
static void some_places(void) {
    int members[MOST];
    int count = 0;
    tulle_team_t team = {0};
    for (int p = tulle_place_count(); p-- > 0;)
        if (p % 2 == 0) members[count++] = p;
    CHECK(tulle_team_create(&team, members, count) == 0 && team.name != 0);
    CHECK(tulle_finish(&at_members, &team) == 0);
    for (int p = 0; p < tulle_place_count(); ++p) {
        int size = 0;
        CHECK(tulle_call_at(p, &knows, &team, sizeof team, &size, sizeof size) == 0 &&
              size == (p % 2 == 0 ? count : -EPERM));
    }
    CHECK(tulle_team_destroy(team) == 0 && tulle_team_size(team) == -EPERM &&
          tulle_team_barrier(team) == -EPERM);
}

static void refused_teams(tulle_team_t all) {
    int const twice[2] = {0, 0};
    int const none = tulle_place_count();
    tulle_team_t team = all;
    CHECK(tulle_team_create(NULL, twice, 1) == -EINVAL &&
          tulle_team_create(&team, NULL, 1) == -EINVAL);
    CHECK(tulle_team_create(&team, twice, 0) == -EINVAL &&
          tulle_team_create(&team, twice, 2) == -EINVAL);
    CHECK(tulle_team_create(&team, &none, 1) == -EINVAL && team.name == 0);
    CHECK(tulle_team_destroy(all) == -EINVAL);
}

int main(void) {
    tulle_team_t all = TULLE_TEAM_OF_ALL_PLACES;
    CHECK(tulle_place_count() <= MOST && tulle_team_size(all) == tulle_place_count() &&
          tulle_team_rank(all) == 0);
    CHECK(tulle_finish(&at_members, &all) == 0);
    some_places();
    refused_teams(all);
    return 0;
}
