/* SPDX-License-Identifier: Apache-2.0 */
/* Shepherds in C11: distances, moving, disabling; errors as values. */
#include <tulle.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static void expect(int is_true, char const* what) {
    if (is_true) return;
    fprintf(stderr, "failed: %s\n", what);
    exit(1);
}

static void* migrant(void* unused) {
    for (int k = 0; k < 9; ++k) {
        expect(tulle_migrate_to(k % 3) == 0, "move");
        expect(tulle_shepherd_index() == k % 3, "is there");
    }
    expect(tulle_migrate_to(3) == -EINVAL, "nowhere");
    expect(tulle_migrate_to(-1) == 0, "anywhere");
    return unused;
}

static void* where(void* result) {
    *(int*)result = tulle_shepherd_index();
    return NULL;
}

static int run_at(int shepherd) {
    tulle_attr attr = TULLE_ATTR_INIT;
    tulle_thread* thread = NULL;
    int result = -2;
    attr.shepherd = shepherd;
    expect(tulle_spawn(&thread, &attr, where, &result) == 0, "spawn");
    expect(tulle_thread_join(thread, NULL) == 0, "join");
    return result;
}

static int times_there(int shepherd) {
    int times = 0;
    for (int k = 0; k < 20; ++k) times += run_at(shepherd) == shepherd;
    return times;
}

int main(void) {
    tulle_options const three = {3, 0};
    tulle_attr elsewhere = TULLE_ATTR_INIT;
    tulle_thread* thread = NULL;
    int others[3] = {-1, -1, -1};
    expect(tulle_set_option("shepherds", "3") == 0, "option");
    expect(tulle_init(&three) == 0, "init");
    expect(tulle_shepherd_distance(1, 1) == 0 && tulle_shepherd_distance(0, 2) >= 10, "distance");
    expect(tulle_shepherd_distance(0, 3) == -EINVAL, "no such shepherd");
    expect(tulle_nearest_shepherds(1, NULL, 0) == 2 && tulle_nearest_shepherds(1, others, 3) == 2,
           "neighbours");
    expect(others[0] + others[1] == 2 && others[0] != 1 && others[2] == -1, "which");
    expect(tulle_nearest_shepherds(1, NULL, 1) == -EINVAL &&
               tulle_nearest_shepherds(9, others, 3) == -EINVAL,
           "nonsense");
    expect(tulle_shepherd_of(&three) >= -1 && tulle_shepherd_of(&three) < 3, "near to data");
    expect(tulle_migrate_to(1) == -EPERM, "the first thread stays");
    elsewhere.shepherd = 1; /* so that the joiner does not run it itself */
    expect(tulle_spawn(&thread, &elsewhere, migrant, NULL) == 0 &&
               tulle_thread_join(thread, NULL) == 0,
           "migrant");
    expect(tulle_disable_shepherd(0) == -EPERM && tulle_disable_shepherd(5) == -EINVAL,
           "what may not be disabled");
    expect(tulle_disable_shepherd(1) == 0 && tulle_is_enabled_shepherd(1) == 0,
           "disable a shepherd");
    expect(times_there(1) <= 1, "runs elsewhere, but for what a search that had begun finds");
    expect(tulle_enable_shepherd(1) == 0 && tulle_is_enabled_shepherd(1) == 1 && run_at(1) == 1,
           "enable a shepherd");
    expect(tulle_disable_worker(0) == -EPERM && tulle_disable_worker(3) == -EINVAL,
           "what may not be disabled");
    expect(tulle_disable_worker(2) == 0 && tulle_worker_count() == 2, "disable a worker");
    expect(times_there(2) <= 1, "its shepherd has no other");
    expect(tulle_enable_worker(2) == 0 && tulle_worker_count() == 3 && run_at(2) == 2,
           "enable a worker");
    expect(tulle_finalize() == 0, "finalize");
    return 0;
}
