/* SPDX-License-Identifier: Apache-2.0 */
/* Two places. The functions of <tulle/c/io.h> load from coherent memory what the other place has
 * stored, and store there what the other one loads, also where another thread of the place has
 * released the memory between the call and the arrival of the data. */
#include "check.h"

#include <string.h>
#include <sys/socket.h>
#include <tulle.h>
#include <unistd.h>

enum { BYTES = 3000, TURNS = 5, RELEASES = 10 };
enum way { BY_READ, BY_READ_WITHIN, BY_RECV, BY_RECVFROM, BY_PREAD, WAYS };

struct shared {
    char before[100]; /* in the same unit */
    char received[BYTES];
    char after[100];
    char sent[BYTES];
};

static struct shared* global;
static int ends[2];
static FILE* file;
static int has_begun;

struct message {
    struct shared* memory;
    int turn;
};

static char letter(int turn) { return (char)('a' + turn); }

/* By the other place, which is the home of all. */
static void fill(void const* message, size_t size) {
    (void)size;
    struct message const m = *(struct message const*)message;
    tulle_coherent_acquire();
    memset(m.memory->received, '-', BYTES);
    memset(m.memory->before, letter(m.turn), sizeof m.memory->before);
    memset(m.memory->sent, letter(m.turn), BYTES);
    tulle_coherent_release();
}
static void expect(void const* message, size_t size) {
    (void)size;
    struct message const m = *(struct message const*)message;
    tulle_coherent_acquire();
    for (int k = 0; k < BYTES; ++k) CHECK(m.memory->received[k] == letter(m.turn));
    for (int k = 0; k < 100; ++k) CHECK(m.memory->before[k] == letter(m.turn));
    for (int k = 0; k < 100; ++k) CHECK(m.memory->after[k] == letter(m.turn));
}

static void fill_there(tulle_activities_t* all, void* message) {
    CHECK(tulle_async_at(all, 1, fill, message, sizeof(struct message)) == 0);
}
static void expect_there(tulle_activities_t* all, void* message) {
    CHECK(tulle_async_at(all, 1, expect, message, sizeof(struct message)) == 0);
}

static ssize_t some(int turn, char* into, size_t bytes, size_t so_far) {
    tulle_limit_t const limit = {.timeout_ns = 100000000000};
    switch (turn % WAYS) {
        case BY_READ: return tulle_read(ends[1], into, bytes);
        case BY_READ_WITHIN: return tulle_read_within(ends[1], into, bytes, &limit);
        case BY_RECV: return tulle_recv(ends[1], into, bytes, 0);
        case BY_RECVFROM: return tulle_recvfrom(ends[1], into, bytes, 0, NULL, NULL);
        default: return tulle_pread(fileno(file), into, bytes, (off_t)so_far);
    }
}
static void* receive(void* turn) {
    has_begun = 1;
    for (size_t so_far = 0; so_far < BYTES;) {
        ssize_t const got = some(*(int*)turn, global->received + so_far, BYTES - so_far, so_far);
        CHECK(got > 0);
        so_far += (size_t)got;
    }
    return NULL;
}

static void send_all(int turn) {
    if (turn % WAYS == BY_PREAD) return;
    ssize_t const sent = turn % 2 == 0 ? tulle_write(ends[0], global->sent, BYTES)
                                       : tulle_send(ends[0], global->sent, BYTES, 0);
    CHECK(sent == BYTES);
}

static void exchange(int turn) {
    tulle_thread* receiver = NULL;
    struct message message = {global, turn};
    CHECK(tulle_finish(fill_there, &message) == 0);
    tulle_coherent_acquire();
    if (turn % WAYS == BY_PREAD) CHECK(tulle_pwrite(fileno(file), global->sent, BYTES, 0) == BYTES);
    has_begun = 0;
    CHECK(tulle_spawn(&receiver, NULL, receive, &turn) == 0);
    while (!has_begun) tulle_yield();
    for (int k = 0; k < RELEASES; ++k) { /* nobody watches after them what was checked before */
        tulle_yield();
        memset(global->after, letter(turn), sizeof global->after);
        tulle_coherent_release();
    }
    send_all(turn);
    CHECK(tulle_thread_join(receiver, NULL) == 0);
    tulle_coherent_release();
    CHECK(tulle_finish(expect_there, &message) == 0);
}

/* What arrives is what was there when the call began; the other place has stored to it since. */
static void exchange_the_same(int turn) {
    tulle_thread* receiver = NULL;
    struct message message = {global, turn};
    memset(global->received, letter(turn), BYTES);
    tulle_coherent_release();
    has_begun = 0;
    CHECK(tulle_spawn(&receiver, NULL, receive, &turn) == 0);
    while (!has_begun) tulle_yield();
    for (int k = 0; k < RELEASES; ++k) tulle_yield(); /* it waits */
    CHECK(tulle_finish(fill_there, &message) == 0);
    tulle_coherent_acquire();
    memset(global->after, letter(turn), sizeof global->after);
    send_all(turn);
    CHECK(tulle_thread_join(receiver, NULL) == 0);
    tulle_coherent_release();
    CHECK(tulle_finish(expect_there, &message) == 0);
    tulle_coherent_acquire();
}

int main(void) {
    void* memory = NULL;
    CHECK(tulle_place_count() == 2);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    file = tmpfile();
    CHECK(file != NULL);
    CHECK(tulle_coherent_begin() == 0);
    CHECK(tulle_coherent_malloc(&memory, sizeof(struct shared)) == 0);
    tulle_coherent_share();
    tulle_coherent_release();
    global = memory;
    for (int turn = 0; turn < TURNS * WAYS; ++turn) exchange(turn);
    for (int way = BY_READ; way < BY_PREAD; ++way) exchange_the_same(way);
    return 0;
}
