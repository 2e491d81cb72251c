/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of which each place has its own, and atomic blocks on them, in C; over however many
 * places there are. */
#include "check.h"

#include <tulle.h>

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { EACH = 20, ADDS = 50 };

static long g_alive; /* of each place */

struct counter {
    long count;
    long finished;
    int home;
};

static void* make_counter(void const* argument, size_t size) {
    CHECK(size == sizeof(long));
    struct counter* const made = malloc(sizeof *made);
    CHECK(made != NULL);
    *made = (struct counter){*(long const*)argument, 0, tulle_here()};
    ++g_alive;
    return made;
}
static void* make_none_at_the_last(void const* argument, size_t size) {
    return tulle_here() == tulle_place_count() - 1 ? NULL : make_counter(argument, size);
}
static void free_counter(void* object) {
    --g_alive;
    free(object);
}
static void* make_static(void const* argument, size_t size) {
    CHECK(argument == NULL && size == 0);
    return &g_alive;
}

static void add_one(void* object) { ++((struct counter*)object)->count; }
static void finish_one(void* object) { ++((struct counter*)object)->finished; }
static int all_have_finished(void* object) { return ((struct counter*)object)->finished == EACH; }
static void check_count(void* object) {
    struct counter const* const own = object;
    CHECK(own->count == 100 + EACH * ADDS && own->home == tulle_here());
}

static void add(void const* argument, size_t size) {
    CHECK(size == sizeof(tulle_place_local_t));
    void* const own = tulle_place_local_get(*(tulle_place_local_t const*)argument);
    CHECK(own != NULL);
    for (int k = 0; k < ADDS; ++k) CHECK(tulle_atomically(&add_one, own) == 0);
    CHECK(tulle_atomically(&finish_one, own) == 0);
}
static void wait_for_all(void const* argument, size_t size) {
    CHECK(size == sizeof(tulle_place_local_t));
    void* const own = tulle_place_local_get(*(tulle_place_local_t const*)argument);
    CHECK(own != NULL && tulle_when(&all_have_finished, &check_count, own) == 0);
}
static void use_everywhere(tulle_activities_t* all, void* objects) {
    for (int p = 0; p < tulle_place_count(); ++p) {
        CHECK(tulle_async_at(all, p, &wait_for_all, objects, sizeof(tulle_place_local_t)) == 0);
        for (int k = 0; k < EACH; ++k)
            CHECK(tulle_async_at(all, p, &add, objects, sizeof(tulle_place_local_t)) == 0);
    }
}

struct left {
    long alive;
    int has_object;
};
static void look(void const* argument, size_t size, void* result, size_t result_size) {
    CHECK(size == sizeof(tulle_place_local_t) && result_size == sizeof(struct left));
    *(struct left*)result = (struct left){
        g_alive, tulle_place_local_get(*(tulle_place_local_t const*)argument) != NULL};
}
static void expect_everywhere(tulle_place_local_t objects, long alive, int has_object) {
    for (int p = 0; p < tulle_place_count(); ++p) {
        struct left found;
        CHECK(tulle_call_at(p, &look, &objects, sizeof objects, &found, sizeof found) == 0);
        CHECK(found.alive == alive && found.has_object == has_object);
    }
}

static void refused(void) {
    char byte = 0;
    tulle_place_local_t objects = {0};
    void (*const nowhere)(void*) = (void (*)(void*))(uintptr_t)&byte;
    CHECK(tulle_place_local_create(NULL, &make_static, NULL, NULL, 0) == -EINVAL);
    CHECK(tulle_place_local_create(&objects, NULL, NULL, NULL, 0) == -EINVAL);
    CHECK(tulle_place_local_create(&objects, &make_static, NULL, NULL, 1) == -EINVAL);
    CHECK(tulle_place_local_create(&objects, &make_static, nowhere, NULL, 0) == -ENOENT);
    CHECK(objects.name == 0 && tulle_place_local_get(objects) == NULL &&
          tulle_place_local_destroy(objects) == -EINVAL);
    CHECK(tulle_atomically(NULL, NULL) == -EINVAL);
    CHECK(tulle_when(NULL, &check_count, NULL) == -EINVAL &&
          tulle_when(&all_have_finished, NULL, NULL) == -EINVAL);
}

int main(void) {
    long const first = 100;
    tulle_place_local_t objects = {0};
    refused();
    CHECK(tulle_place_local_create(&objects, &make_none_at_the_last, &free_counter, &first,
                                   sizeof first) == -ENOMEM &&
          objects.name == 0);
    expect_everywhere(objects, 0, 0);
    CHECK(tulle_place_local_create(&objects, &make_counter, &free_counter, &first, sizeof first) ==
          0);
    expect_everywhere(objects, 1, 1);
    CHECK(tulle_finish(&use_everywhere, &objects) == 0);
    CHECK(tulle_place_local_destroy(objects) == 0);
    expect_everywhere(objects, 0, 0);
    CHECK(tulle_place_local_create(&objects, &make_static, NULL, NULL, 0) == 0 &&
          tulle_place_local_get(objects) == &g_alive);
    CHECK(tulle_place_local_destroy(objects) == 0 && tulle_place_local_get(objects) == NULL);
    return 0;
}
