/* SPDX-License-Identifier: Apache-2.0 */
/* Every function of the threads' part of the interface is called from C: it links, takes what the
 * header says, and gives the result of a simple case.
 * What each does is tested in C++. */
#define _GNU_SOURCE
#include "check.h"

#include <qthread.h>

#include <qthread/barrier.h>
#include <qthread/cacheline.h>
#include <qthread/feb_barrier.h>
#include <qthread/futurelib.h>
#include <qthread/hash.h>
#include <qthread/io.h>
#include <qthread/logging.h>
#include <qthread/qt_syscalls.h>
#include <qthread/qtimer.h>
#include <qthread/sinc.h>
#include <qthread/tls.h>

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#define DONE(call) CHECK((call) == QTHREAD_SUCCESS)

static aligned_t twice(void* number) { return 2 * *(aligned_t*)number; }
static void add(void* target, const void* source) {
    *(aligned_t*)target += *(const aligned_t*)source;
}

static aligned_t value_of(aligned_t* word) {
    aligned_t value = 0;
    DONE(qthread_readFF(&value, word));
    return value;
}
static uint64_t value_of_syncvar(syncvar_t* v) {
    uint64_t value = 0;
    DONE(qthread_syncvar_readFF(&value, v));
    return value;
}

static void forks(void) {
    aligned_t n = 21, r = 0, ready = 1;
    aligned_t* list[1];
    syncvar_t s = SYNCVAR_STATIC_INITIALIZER;
    list[0] = &ready;
    DONE(qthread_fork(twice, &n, &r));
    CHECK(value_of(&r) == 42);
    DONE(qthread_fork_net(twice, &n, &r));
    CHECK(value_of(&r) == 42);
    DONE(qthread_fork_to(twice, &n, &r, 1));
    CHECK(value_of(&r) == 42);
    DONE(qthread_fork_copyargs(twice, &n, sizeof n, &r));
    CHECK(value_of(&r) == 42);
    DONE(qthread_fork_copyargs_to(twice, &n, sizeof n, (syncvar_t*)(void*)&r, 1));
    CHECK(value_of(&r) == 42);
    DONE(qthread_fork_precond(twice, &n, &r, 1, &ready));
    CHECK(value_of(&r) == 42);
    DONE(qthread_fork_precond_to(twice, &n, &r, 1, 1, &ready));
    CHECK(value_of(&r) == 42);
    DONE(qthread_fork_precond_simple(twice, &n, &r, -1, list));
    CHECK(value_of(&r) == 42);
    DONE(qthread_fork_copyargs_precond(twice, &n, sizeof n, &s, 1, &ready));
    CHECK(value_of_syncvar(&s) == 42);
    DONE(qthread_fork_syncvar(twice, &n, &s));
    CHECK(value_of_syncvar(&s) == 42);
    DONE(qthread_fork_syncvar_to(twice, &n, &s, 1));
    CHECK(value_of_syncvar(&s) == 42);
    DONE(qthread_fork_syncvar_copyargs(twice, &n, sizeof n, &s));
    CHECK(value_of_syncvar(&s) == 42);
    DONE(qthread_fork_syncvar_copyargs_simple(twice, &n, sizeof n, &s));
    CHECK(value_of_syncvar(&s) == 42);
    DONE(qthread_fork_syncvar_copyargs_to(twice, &n, sizeof n, &s, 0));
    CHECK(value_of_syncvar(&s) == 42);
    DONE(qthread_spawn(twice, &n, 0, &r, 0, NULL, NO_SHEPHERD, QTHREAD_SPAWN_PARENT));
    CHECK(value_of(&r) == 42);
    qthread_empty(&r);
    qthread_call_method(twice, &n, &r, 0);
    CHECK(value_of(&r) == 42);
    DONE(future_init(2));
    DONE(future_fork(twice, &n, &r));
    CHECK(value_of(&r) == 42);
    DONE(future_fork_to(twice, &n, &r, 1));
    CHECK(value_of(&r) == 42);
}

static aligned_t in_team(void* parent) {
    return qt_team_id() > 1 && qt_team_parent_id() == *(unsigned*)parent;
}

static void teams(void) {
    unsigned none = QTHREAD_NON_TEAM_ID, first = QTHREAD_DEFAULT_TEAM_ID;
    aligned_t r = 0;
    syncvar_t s = SYNCVAR_STATIC_INITIALIZER;
    CHECK(qt_team_id() == first && qt_team_parent_id() == none);
    DONE(qthread_fork_new_team(in_team, &none, &r));
    CHECK(value_of(&r) == 1);
    DONE(qthread_fork_new_team_to(in_team, &none, &r, 1));
    CHECK(value_of(&r) == 1);
    DONE(qthread_fork_new_subteam(in_team, &first, &r));
    CHECK(value_of(&r) == 1);
    DONE(qthread_fork_syncvar_new_team(in_team, &none, &s));
    CHECK(value_of_syncvar(&s) == 1);
    DONE(qthread_fork_syncvar_new_subteam(in_team, &first, &s));
    CHECK(value_of_syncvar(&s) == 1);
    DONE(qthread_fork_copyargs_new_team(in_team, &none, sizeof none, &r));
    CHECK(value_of(&r) == 1);
    DONE(qthread_fork_copyargs_new_subteam(in_team, &first, sizeof first, &r));
    CHECK(value_of(&r) == 1);
    qt_team_critical_section(BEGIN);
    qt_team_critical_section(END);
}

static aligned_t as_qthread(void* unused) {
    (void)unused;
    CHECK(qthread_stackleft() > 0 && qthread_tos() < qthread_bos() && qthread_retloc() != NULL);
    DONE(qthread_migrate_to(1));
    CHECK(qthread_shep() == 1);
    return 1;
}

static void identity(void) {
    qthread_shepherd_id_t s = 0;
    aligned_t r = 0;
    CHECK(qthread_id() == 1 && qthread_shep() == 0 && qthread_shep_ok() == 1);
    CHECK(qthread_worker(&s) == 0 && qthread_worker_unique(&s) == 1 &&
          qthread_worker_local(&s) == 0 && s == 0);
    CHECK(qthread_num_shepherds() == 2 && qthread_num_workers() == 2 &&
          qthread_num_workers_local(0) == 1);
    qthread_shep_next(&s);
    qthread_shep_next_local(&s);
    qthread_shep_prev(&s);
    qthread_shep_prev_local(&s);
    CHECK(s == 0 && qthread_distance(0, 0) == 0 && qthread_sorted_sheps()[0] == 1 &&
          qthread_sorted_sheps_remote(1)[0] == 0);
    CHECK(qthread_size_tasklocal() >= sizeof(void*) && qthread_get_tasklocal(100) != NULL &&
          qthread_size_tasklocal() == 100);
    DONE(qthread_fork(as_qthread, NULL, &r));
    CHECK(value_of(&r) == 1);
    DONE(qthread_disable_shepherd(1));
    qthread_enable_shepherd(1);
    DONE(qthread_disable_worker(1));
    qthread_enable_worker(1);
    qthread_yield();
    qthread_yield_near();
    qthread_flushsc();
    qthread_reset_target_shep();
    CHECK(qthread_readstate(TOTAL_WORKERS) == 2);
}

static void words(void) {
    aligned_t w = 0, v = 0;
    const aligned_t five = 5;
    CHECK(qthread_feb_status(&w) == 1);
    DONE(qthread_empty(&w));
    DONE(qthread_writeEF(&w, &five));
    DONE(qthread_writeFF(&w, &five));
    DONE(qthread_writeFF_const(&w, 6));
    CHECK(qthread_writeEF_nb(&w, &five) == QTHREAD_OPFAIL &&
          qthread_writeEF_const_nb(&w, 5) == QTHREAD_OPFAIL);
    DONE(qthread_readFE(&v, &w));
    CHECK(v == 6 && qthread_readFF_nb(&v, &w) == QTHREAD_OPFAIL &&
          qthread_readFE_nb(&v, &w) == QTHREAD_OPFAIL);
    CHECK(qthread_writeFF_nb(&w, &five) == QTHREAD_OPFAIL &&
          qthread_writeFF_const_nb(&w, 5) == QTHREAD_OPFAIL);
    DONE(qthread_writeEF_const(&w, 7));
    DONE(qthread_purge(&w));
    DONE(qthread_purge_to(&w, &five));
    DONE(qthread_purge_to_const(&w, 8));
    DONE(qthread_readXX(&v, &w));
    CHECK(v == 8 && qthread_feb_status(&w) == 0);
    DONE(qthread_writeF(&w, &five));
    DONE(qthread_writeF_const(&w, 9));
    DONE(qthread_fill(&w));
    DONE(qthread_readFF(&v, &w));
    CHECK(v == 9);
}

static void syncvars(void) {
    syncvar_t s = SYNCVAR_STATIC_EMPTY_INITIALIZE_TO(3);
    uint64_t v = 0;
    const uint64_t four = 4;
    CHECK(qthread_syncvar_status(&s) == 0);
    DONE(qthread_syncvar_fill(&s));
    CHECK(qthread_syncvar_incrF(&s, 4) == 7);
    CHECK(qthread_syncvar_writeEF_nb(&s, &four) == QTHREAD_OPFAIL &&
          qthread_syncvar_writeEF_const_nb(&s, 4) == QTHREAD_OPFAIL);
    DONE(qthread_syncvar_readFE(&v, &s));
    CHECK(v == 7 && qthread_syncvar_readFE_nb(&v, &s) == QTHREAD_OPFAIL &&
          qthread_syncvar_readFF_nb(&v, &s) == QTHREAD_OPFAIL);
    DONE(qthread_syncvar_writeEF(&s, &four));
    DONE(qthread_syncvar_empty(&s));
    DONE(qthread_syncvar_writeEF_const(&s, 5));
    DONE(qthread_syncvar_writeF(&s, &four));
    DONE(qthread_syncvar_writeF_const(&s, 6));
    CHECK(value_of_syncvar(&s) == 6);
    s = SYNCVAR_INITIALIZE_TO(8);
    CHECK(s.u.s.data == 8);
}

static void locks(void) {
    aligned_t a = 0;
    qthread_spinlock_t l = QTHREAD_MUTEX_INITIALIZER;
    DONE(qthread_lock(&a));
    CHECK(qthread_trylock(&a) == QTHREAD_OPFAIL);
    DONE(qthread_unlock(&a));
    DONE(qthread_lock_init(&a, true));
    DONE(qthread_lock(&a));
    DONE(qthread_trylock(&a));
    DONE(qthread_unlock(&a));
    DONE(qthread_unlock(&a));
    DONE(qthread_lock_destroy(&a));
    DONE(qthread_spinlock_lock(&l));
    CHECK(qthread_spinlock_trylock(&l) == QTHREAD_OPFAIL);
    DONE(qthread_spinlock_unlock(&l));
    DONE(qthread_spinlock_init(&l, false));
    DONE(qthread_spinlock_destroy(&l));
    DONE(qthread_spinlocks_init(&l, true));
    DONE(qthread_spinlocks_destroy(&l));
}

static void atomics(void) {
    aligned_t a = 1;
    uint32_t b = 1;
    uint64_t c = 1;
    float f = 1;
    double d = 1;
    void* p = &a;
    CHECK(qthread_incr(&a, 2) == 1 && qthread_incr32(&b, 2) == 1 && qthread_incr64(&c, 2) == 1 &&
          qthread_incr_xx(&c, 1, 8) == 3);
    CHECK(qthread_fincr(&f, 2) == 1 && qthread_dincr(&d, 2) == 1 && f + d == 6);
    CHECK(qthread_cas(&a, 3, 4) == 3 && qthread_cas32(&b, 3, 4) == 3 &&
          qthread_cas64(&c, 4, 5) == 4 && qthread_cas_ptr(&p, &a, &b) == &a);
    CHECK(a == 4 && b == 4 && c == 5 && p == &b);
}

static aligned_t joiner(void* q) { return (aligned_t)qthread_queue_join(q); }

static void waiting(void) {
    aligned_t r = 0, zero = 0, sum = 0;
    qthread_queue_t const q = qthread_queue_create(QTHREAD_QUEUE_MULTI_JOIN_LENGTH, 0);
    qt_barrier_t* const b = qt_barrier_create(1, REGION_BARRIER);
    qt_feb_barrier_t* const f = qthread_feb_barrier_create(1);
    qt_sinc_t* const s = qt_sinc_create(sizeof zero, &zero, add, 1);
    qt_sinc_t bare;
    DONE(qthread_fork(joiner, q, &r));
    while (qthread_queue_length(q) == 0) qthread_yield();
    DONE(qthread_queue_release_one(q));
    CHECK(value_of(&r) == QTHREAD_SUCCESS);
    DONE(qthread_queue_release_all(q));
    DONE(qthread_queue_destroy(q));
    qt_barrier_enter(b);
    qt_barrier_enter_id(b, 0);
    qt_barrier_resize(b, 1);
    qt_barrier_dump(b, UPLOCK);
    qt_set_barrier(b);
    CHECK(qt_get_barrier() == b);
    qt_barrier_destroy(b);
    qthread_feb_barrier_enter(f);
    qthread_feb_barrier_resize(f, 1);
    qt_feb_barrier_enter(f);
    qthread_feb_barrier_destroy(f);
    zero = 5;
    qt_sinc_expect(s, 1);
    qt_sinc_submit(s, &zero);
    *(aligned_t*)qt_sinc_tmpdata(s) += 1;
    qt_sinc_submit(s, NULL);
    qt_sinc_wait(s, &sum);
    CHECK(sum == 6);
    qt_sinc_reset(s, 0);
    qt_sinc_destroy(s);
    qt_sinc_init(&bare, 0, NULL, NULL, 0);
    qt_sinc_wait(&bare, NULL);
    qt_sinc_fini(&bare);
}

static void calls(void) {
    int ends[2], status = 0;
    char text[4] = "abc";
    char name[] = "/tmp/tulle_functionsXXXXXX";
    struct pollfd ready = {-1, POLLIN, 0};
    struct timeval no_time = {0, 0};
    pid_t child = 0;
    int const file = mkstemp(name);
    CHECK(file >= 0 && unlink(name) == 0);
    CHECK(qt_pwrite(file, text, 3, 10) == 3 && qt_pread(file, text, 2, 11) == 2 && text[0] == 'b');
    close(file);
    CHECK(pipe(ends) == 0 && qt_write(ends[1], "x", 1) == 1);
    ready.fd = ends[0];
    CHECK(qt_poll(&ready, 1, -1) == 1 && qt_read(ends[0], text, 1) == 1 && text[0] == 'x');
    CHECK(qt_select(0, NULL, NULL, NULL, &no_time) == 0);
    CHECK(qt_accept(-1, NULL, NULL) == -1 && qt_connect(-1, NULL, 0) == -1);
    CHECK(WEXITSTATUS(qt_system("exit 2")) == 2);
    child = fork();
    if (child == 0) _exit(3);
    CHECK(qt_wait4(child, &status, 0, NULL) == child && WEXITSTATUS(status) == 3);
    qt_begin_blocking_action();
    usleep(1000);
    qt_end_blocking_action();
}

static void small_things(void) {
    qthread_key_t key;
    qtimer_t const t = qtimer_create();
    char bytes[3] = "ab";
    DONE(qthread_key_create(&key, NULL));
    DONE(qthread_setspecific(key, bytes));
    CHECK(qthread_getspecific(key) == bytes);
    DONE(qthread_key_delete(key));
    qtimer_start(t);
    qtimer_stop(t);
    CHECK(qtimer_secs(t) >= 0 && qtimer_wtime() > 0 && qtimer_res() > 0 &&
          qtimer_fastrand() != qtimer_fastrand());
    qtimer_destroy(t);
    CHECK(qthread_cacheline() > 0 && qt_hash64(1) != qt_hash64(2) &&
          qt_hash_bytes(bytes, 2, 0) != qt_hash_bytes(bytes, 1, 0));
    qtlog(LOGWARN, "a line");
    qtlogargs(LOGERR, "a line with %d", 1);
}

int main(void) {
    DONE(qthread_init(2));
    DONE(qthread_initialize());
    identity();
    forks();
    teams();
    words();
    syncvars();
    locks();
    atomics();
    waiting();
    calls();
    small_things();
    qthread_finalize();
    return 0;
}
