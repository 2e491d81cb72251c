/* SPDX-License-Identifier: Apache-2.0 */
/* Places share one page of variables, and each has the ones around it for itself. */
#include "check.h"

#include <stdatomic.h>
#include <stdio.h>
#include <tulle.h>
#include <tulle/c/coherent_memory.h>

enum { PAGE = 65536, WORDS = PAGE / sizeof(long), ROUNDS = 20, MOST = 8 };

/* Pages, whatever the size of one is. */
struct page {
    _Alignas(PAGE) long words[WORDS];
};
static struct page before = {{55}};
static struct page shared = {{1, 2, 3}};
static struct page after = {{66}};
static _Alignas(PAGE) atomic_long counts[WORDS]; /* of this place */

static long* shared_words(void) { return shared.words; }

/* By pointers of which the compiler knows nothing. */
__attribute__((noinline)) static void add(long* to, long value) { *to += value; }
__attribute__((noinline)) static long value_of(long const* at) { return *at; }
__attribute__((noinline)) static long plain_count(void const* at) { return *(long const*)at; }

static void store(void const* round, size_t size) {
    int const here = tulle_here();
    (void)size;
    tulle_coherent_acquire();
    CHECK(value_of(&shared.words[1]) == 2);
    for (int k = 0; k < WORDS; k += 8) {
        add(&before.words[k + 1], here + 1);
        add(&after.words[k + 1], here + 1);
    }
    add(&shared_words()[WORDS / 2 + here], *(int const*)round);
    atomic_fetch_add(&counts[3], here + 1);
    tulle_coherent_release();
}

static void look(void const* done, size_t size) {
    int const rounds = *(int const*)done;
    long const own = (long)rounds * (tulle_here() + 1);
    (void)size;
    tulle_coherent_acquire();
    CHECK(value_of(&before.words[0]) == 55 && value_of(&after.words[0]) == 66);
    for (int k = 0; k < WORDS; k += 8)
        CHECK(value_of(&before.words[k + 1]) == own && value_of(&after.words[k + 1]) == own);
    for (int p = 0; p < tulle_place_count(); ++p)
        CHECK(value_of(&shared_words()[WORDS / 2 + p]) == (long)rounds * (rounds + 1) / 2);
    CHECK(atomic_load(&counts[3]) == own && plain_count(&counts[3]) == own);
}

struct step {
    tulle_activity_function_t* f;
    int round;
};

static void everywhere(tulle_activities_t* all, void* argument) {
    struct step const* const s = argument;
    for (int p = 0; p < tulle_place_count(); ++p)
        CHECK(tulle_async_at(all, p, s->f, &s->round, sizeof s->round) == 0);
}

int main(void) {
    CHECK(tulle_place_count() <= MOST);
    int const error = tulle_coherent_begin();
    if (error != 0) fprintf(stderr, "tulle_coherent_begin: %d\n", error);
    CHECK(error == 0);
    CHECK(tulle_coherent_adopt(&shared, sizeof shared) == 0);
    for (int round = 1; round <= ROUNDS; ++round) {
        struct step s = {store, round};
        CHECK(tulle_finish(everywhere, &s) == 0);
        s.f = look;
        CHECK(tulle_finish(everywhere, &s) == 0);
    }
    return 0;
}
