// SPDX-License-Identifier: Apache-2.0
// Cases of calls that wait for other processes or for room: locks of files, queues, semaphores of
// System V, transfers between descriptors.
#define _GNU_SOURCE
#include "cases.h"

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static atomic_int s_waits;

// Other threads run meanwhile, and some of them wait by then: nothing tells from outside when a
// call has begun to wait, so that there is time for it on a busy machine, too.
static void let_wait(int count) {
    while (s_waits < count) usleep(1000);
    usleep(100000);
}

static struct timespec after_ms(long ms) { return in_ms_of(CLOCK_REALTIME, ms); }

// --- locks of files ------------------------------------------------------------------------------

enum { k_posix, k_of_description, k_lockf, k_ways };
static char s_path[] = "/tmp/pthread-queues-XXXXXX";

static int lock_by(int way, int number, int waits) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    switch (way) {
        case k_posix: return fcntl(number, waits ? F_SETLKW : F_SETLK, &lock);
        case k_of_description: return fcntl(number, waits ? F_OFD_SETLKW : F_OFD_SETLK, &lock);
        default: return lockf(number, waits ? F_LOCK : F_TLOCK, 0);
    }
}

static int unlock_by(int way, int number) {
    struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    switch (way) {
        case k_posix: return fcntl(number, F_SETLK, &lock);
        case k_of_description: return fcntl(number, F_OFD_SETLK, &lock);
        default: return lockf(number, F_ULOCK, 0);
    }
}

static void* waits_for_lock(void* of) {
    int const way = (int)(intptr_t)of, number = open(s_path, O_RDWR);
    atomic_fetch_add(&s_waits, 1);
    int const result = lock_by(way, number, 1);
    return result != 0 || unlock_by(way, number) != 0 ? NULL : s_path;
}

static void* is_cancelled_at_lock(void* of) {
    atomic_fetch_add(&s_waits, 1);
    lock_by((int)(intptr_t)of, open(s_path, O_RDWR), 1);
    return NULL;
}

// A process that has the lock until the descriptor can be read.
static pid_t hold_lock(int way, int until, int tells) {
    pid_t const child = fork();
    if (child != 0) return child;
    char c = 'x';
    int const number = open(s_path, O_RDWR);
    if (lock_by(way, number, 0) != 0 || write(tells, &c, 1) != 1) _exit(1);
    _exit(read(until, &c, 1) == 1 ? 0 : 2);
}

static void* locks_in_all_ways(void* argument) {
    enum { k_waiters = 5 };
    for (int way = 0; way != k_ways; ++way) {
        int ends[2], told[2], status = -1;
        char c = 'y';
        pthread_t t[k_waiters], cancelled;
        void* result = NULL;
        if (pipe(ends) != 0 || pipe(told) != 0) abort();
        pid_t const child = hold_lock(way, ends[0], told[1]);
        if (read(told[0], &c, 1) != 1) abort();
        s_waits = 0;
        for (int k = 0; k != k_waiters; ++k)
            pthread_create(&t[k], NULL, waits_for_lock, (void*)(intptr_t)way);
        pthread_create(&cancelled, NULL, is_cancelled_at_lock, (void*)(intptr_t)way);
        let_wait(k_waiters + 1);
        SHOW(lock_by(way, open(s_path, O_RDWR), 0) == -1 && (errno == EAGAIN || errno == EACCES));
        pthread_cancel(cancelled);
        pthread_join(cancelled, &result);
        SHOW(result == PTHREAD_CANCELED);
        if (write(ends[1], &c, 1) != 1 || waitpid(child, &status, 0) != child) abort();
        SHOW(status);
        for (int k = 0; k != k_waiters; ++k) {
            pthread_join(t[k], &result);
            SHOW(result == s_path);
        }
    }
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    SHOW(fcntl(-1, F_SETLKW, &lock) == -1 && errno == EBADF);
    SHOW(lockf(-1, F_LOCK, 0) == -1 && errno == EBADF);
    int const number = open(s_path, O_RDWR), copy = fcntl(number, F_DUPFD_CLOEXEC, 50);
    SHOW(copy >= 50);
    SHOW(fcntl(copy, F_GETFD));
    return argument;
}

void file_locks(void) {
    if (mkstemp(s_path) < 0) abort();
    in_thread(locks_in_all_ways, NULL);
    unlink(s_path);
}

// --- queues --------------------------------------------------------------------------------------

struct message {
    long kind;
    char text[1000];
};
static int s_queue, s_set;
static mqd_t s_posix;

static void* receives(void* argument) {
    struct message m = {0, ""};
    atomic_fetch_add(&s_waits, 1);
    ssize_t const size = msgrcv(s_queue, &m, sizeof m.text, 7, 0);
    return size == 6 && strcmp(m.text, "hello") == 0 ? argument : NULL;
}
static void* sends_to_full(void* argument) {
    struct message const m = {9, "last"};
    atomic_fetch_add(&s_waits, 1);
    return msgsnd(s_queue, &m, sizeof m.text, 0) == 0 ? argument : NULL;
}
static void* waits_for_removal(void* argument) {
    struct message m;
    atomic_fetch_add(&s_waits, 1);
    return msgrcv(s_queue, &m, sizeof m.text, 5, 0) == -1 && errno == EIDRM ? argument : NULL;
}
static void handle_nothing(int number) { (void)number; }
static void* is_interrupted(void* argument) {
    struct message m;
    atomic_fetch_add(&s_waits, 1);
    int const is = msgrcv(s_queue, &m, sizeof m.text, 5, 0) == -1 && errno == EINTR;
    atomic_fetch_add(&s_waits, 1);
    return is ? argument : NULL;
}

static void show_result(char const* name, pthread_t t, void* expected) {
    void* result = NULL;
    pthread_join(t, &result);
    printf("%s: %d\n", name, result == expected);
}

static void* uses_queue(void* argument) {
    pthread_t t;
    struct message m = {7, "hello"};
    s_queue = msgget(IPC_PRIVATE, 0600);
    SHOW(msgrcv(s_queue, &m, sizeof m.text, 7, IPC_NOWAIT) == -1 && errno == ENOMSG);
    s_waits = 0;
    pthread_create(&t, NULL, receives, argument);
    let_wait(1);
    SHOW(msgsnd(s_queue, &m, 6, 0));
    show_result("received", t, argument);

    struct sigaction const action = {.sa_handler = handle_nothing, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&t, NULL, is_interrupted, argument);
    for (let_wait(2); s_waits == 2; usleep(10000)) pthread_kill(t, SIGUSR1);
    show_result("interrupted", t, argument);

    int count = 0;
    while (msgsnd(s_queue, &m, sizeof m.text, IPC_NOWAIT) == 0) ++count;
    SHOW(errno == EAGAIN);
    pthread_create(&t, NULL, sends_to_full, argument);
    let_wait(4);
    while (count-- != 0)
        if (msgrcv(s_queue, &m, sizeof m.text, 7, 0) < 0) abort();
    show_result("sent", t, argument);
    SHOW(msgrcv(s_queue, &m, sizeof m.text, 0, 0));
    puts(m.text);

    pthread_create(&t, NULL, waits_for_removal, argument);
    let_wait(5);
    SHOW(msgctl(s_queue, IPC_RMID, NULL));
    show_result("removed", t, argument);
    return argument;
}

static int operate(int by, int flags) {
    struct sembuf one = {.sem_num = 0, .sem_op = (short)by, .sem_flg = (short)flags};
    return semop(s_set, &one, 1);
}
static void* takes(void* argument) {
    atomic_fetch_add(&s_waits, 1);
    return operate(-3, 0) == 0 ? argument : NULL;
}
static void* loses_set(void* argument) {
    atomic_fetch_add(&s_waits, 1);
    return operate(-100, 0) == -1 && errno == EIDRM ? argument : NULL;
}

static void* uses_set(void* argument) {
    pthread_t t;
    struct timespec const time = {0, 20000000}, wrong = {0, -1};
    struct sembuf one = {.sem_num = 0, .sem_op = -1};
    s_set = semget(IPC_PRIVATE, 1, 0600);
    SHOW(operate(-1, IPC_NOWAIT) == -1 && errno == EAGAIN);
    SHOW(semtimedop(s_set, &one, 1, &time) == -1 && errno == EAGAIN);
    SHOW(semtimedop(s_set, &one, 1, &wrong) == -1 && errno == EINVAL);
    s_waits = 0;
    pthread_create(&t, NULL, takes, argument);
    let_wait(1);
    SHOW(operate(2, 0));
    usleep(10000);
    SHOW(operate(2, 0));
    show_result("taken", t, argument);
    SHOW(semctl(s_set, 0, GETVAL));
    pthread_create(&t, NULL, loses_set, argument);
    let_wait(2);
    SHOW(semctl(s_set, 0, IPC_RMID));
    show_result("removed", t, argument);
    SHOW(operate(1, 0) == -1 && errno == EINVAL);
    return argument;
}

static void* receives_posix(void* argument) {
    char text[16] = "";
    unsigned priority = 0;
    atomic_fetch_add(&s_waits, 1);
    ssize_t const size = mq_receive(s_posix, text, sizeof text, &priority);
    return size == 3 && priority == 5 && strcmp(text, "hi") == 0 ? argument : NULL;
}
static void* sends_posix(void* argument) {
    atomic_fetch_add(&s_waits, 1);
    return mq_send(s_posix, "late", 5, 1) == 0 ? argument : NULL;
}
static void* is_cancelled_at_queue(void* argument) {
    char text[16];
    atomic_fetch_add(&s_waits, 1);
    mq_receive(s_posix, text, sizeof text, NULL);
    return argument;
}

static void* uses_posix_queue(void* argument) {
    pthread_t t;
    char name[32], text[16] = "";
    struct mq_attr const how = {.mq_maxmsg = 2, .mq_msgsize = sizeof text};
    struct timespec const soon = after_ms(20), wrong = {0, -1};
    snprintf(name, sizeof name, "/pthread-cases-%d", (int)getpid());
    s_posix = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &how);
    mq_unlink(name);
    SHOW(mq_timedreceive(s_posix, text, sizeof text, NULL, &soon) == -1 && errno == ETIMEDOUT);
    SHOW(mq_timedreceive(s_posix, text, sizeof text, NULL, &wrong) == -1 && errno == EINVAL);
    SHOW(mq_receive(s_posix, text, 1, NULL) == -1 && errno == EMSGSIZE);
    s_waits = 0;
    pthread_create(&t, NULL, receives_posix, argument);
    let_wait(1);
    SHOW(mq_send(s_posix, "hi", 3, 5));
    show_result("received", t, argument);
    pthread_create(&t, NULL, is_cancelled_at_queue, argument);
    let_wait(2);
    pthread_cancel(t);
    show_result("cancelled", t, PTHREAD_CANCELED);
    SHOW(mq_send(s_posix, "a", 2, 3));
    SHOW(mq_send(s_posix, "b", 2, 2));
    SHOW(mq_timedsend(s_posix, "c", 2, 1, &soon) == -1 && errno == ETIMEDOUT);
    pthread_create(&t, NULL, sends_posix, argument);
    let_wait(3);
    SHOW(mq_receive(s_posix, text, sizeof text, NULL));
    show_result("sent", t, argument);
    SHOW(mq_receive(s_posix, text, sizeof text, NULL));
    SHOW(mq_receive(s_posix, text, sizeof text, NULL));
    puts(text);
    struct mq_attr const tries = {.mq_flags = O_NONBLOCK};
    SHOW(mq_setattr(s_posix, &tries, NULL));
    SHOW(mq_receive(s_posix, text, sizeof text, NULL) == -1 && errno == EAGAIN);
    SHOW(mq_close(s_posix));
    return argument;
}

void queues(void) {
    in_thread(uses_queue, s_path);
    in_thread(uses_set, s_path);
    in_thread(uses_posix_queue, s_path);
}

// --- transfers -----------------------------------------------------------------------------------

enum { k_size = 1 << 20 };
static int s_ends[2], s_others[2];
static unsigned char s_data[k_size];

static unsigned char byte_at(size_t k) { return (unsigned char)(k * 7 + k / 251); }

// How many bytes come until the end, if they are right.
static void* reads_all(void* number) {
    unsigned char some[5000];
    size_t sum = 0;
    for (;;) {
        ssize_t const size = read((int)(intptr_t)number, some, sizeof some);
        if (size <= 0) return (void*)(intptr_t)(size == 0 ? (ssize_t)sum : -1);
        for (ssize_t k = 0; k != size; ++k, ++sum)
            if (some[k] != byte_at(sum)) return (void*)-2;
        if (sum % 3 == 0) sched_yield();
    }
}

static void begin_stream(pthread_t* reader) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, s_ends) != 0) abort();
    pthread_create(reader, NULL, reads_all, (void*)(intptr_t)s_ends[1]);
}
static void end_stream(char const* name, pthread_t reader) {
    void* sum = NULL;
    close(s_ends[0]);
    pthread_join(reader, &sum);
    printf("%s: %d\n", name, (int)(intptr_t)sum);
    close(s_ends[1]);
}

static void* receives_messages(void* argument) {
    char text[3][8] = {"", "", ""};
    struct iovec parts[3];
    struct mmsghdr all[3];
    memset(all, 0, sizeof all);
    for (int k = 0; k != 3; ++k) {
        parts[k] = (struct iovec){text[k], sizeof text[k]};
        all[k].msg_hdr.msg_iov = &parts[k];
        all[k].msg_hdr.msg_iovlen = 1;
    }
    atomic_fetch_add(&s_waits, 1);
    int const count = recvmmsg(s_ends[1], all, 3, 0, NULL);
    return count == 3 && all[2].msg_len == 6 && strcmp(text[2], "three") == 0 ? argument : NULL;
}

static void send_three(int apart) {
    char const* const text[3] = {"one", "two", "three"};
    struct iovec parts[3];
    struct mmsghdr all[3];
    memset(all, 0, sizeof all);
    for (int k = 0; k != 3; ++k) {
        parts[k] = (struct iovec){(void*)text[k], strlen(text[k]) + 1};
        all[k].msg_hdr.msg_iov = &parts[k];
        all[k].msg_hdr.msg_iovlen = 1;
    }
    if (!apart) SHOW(sendmmsg(s_ends[0], all, 3, 0));
    for (int k = 0; apart && k != 3; ++k) {
        SHOW(sendmmsg(s_ends[0], all + k, 1, 0));
        usleep(5000);
    }
}

static void* uses_messages(void* argument) {
    pthread_t t;
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, s_ends) != 0) abort();
    for (int apart = 0; apart != 2; ++apart) {
        s_waits = 0;
        pthread_create(&t, NULL, receives_messages, argument);
        let_wait(1);
        send_three(apart);
        show_result("messages", t, argument);
    }
    struct mmsghdr one;
    memset(&one, 0, sizeof one);
    SHOW(recvmmsg(s_ends[1], &one, 1, MSG_DONTWAIT, NULL) == -1 && errno == EAGAIN);
    close(s_ends[0]);
    close(s_ends[1]);

    enum { k_parts = 4 };
    struct iovec parts[k_parts];
    struct mmsghdr all[k_parts];
    memset(all, 0, sizeof all);
    for (size_t k = 0; k != k_parts; ++k) {
        parts[k] = (struct iovec){s_data + k * (k_size / k_parts), k_size / k_parts};
        all[k].msg_hdr.msg_iov = &parts[k];
        all[k].msg_hdr.msg_iovlen = 1;
    }
    begin_stream(&t);
    SHOW(sendmmsg(s_ends[0], all, k_parts, 0));
    SHOW(all[k_parts - 1].msg_len == k_size / k_parts);
    end_stream("sendmmsg", t);
    return argument;
}

static void* splices(void* argument) {
    atomic_fetch_add(&s_waits, 1);
    ssize_t sum = 0;
    while (sum != k_size) {
        ssize_t const moved = splice(s_others[0], NULL, s_ends[0], NULL, (size_t)(k_size - sum), 0);
        if (moved <= 0) return NULL;
        sum += moved;
    }
    return argument;
}

static void* uses_splice(void* argument) {
    pthread_t reader, t;
    begin_stream(&reader);
    if (pipe(s_others) != 0) abort();
    s_waits = 0;
    pthread_create(&t, NULL, splices, argument);
    let_wait(1);
    for (size_t done = 0; done != k_size;) {
        struct iovec const part = {s_data + done, k_size - done};
        ssize_t const now = vmsplice(s_others[1], &part, 1, 0);
        if (now <= 0) abort();
        done += (size_t)now;
    }
    show_result("spliced", t, argument);
    end_stream("splice", reader);
    SHOW(splice(s_others[0], NULL, s_others[1], NULL, 5, SPLICE_F_NONBLOCK) == -1);
    return argument;
}

static void* tees(void* argument) {
    atomic_fetch_add(&s_waits, 1);
    return tee(s_others[0], s_ends[1], 100, 0) == 4 ? argument : NULL;
}

static void* uses_tee(void* argument) {
    pthread_t t;
    char text[8] = "";
    if (pipe(s_ends) != 0) abort();
    s_waits = 0;
    pthread_create(&t, NULL, tees, argument);
    let_wait(1);
    SHOW(write(s_others[1], "tee", 4));
    show_result("teed", t, argument);
    SHOW(read(s_ends[0], text, sizeof text));
    SHOW(read(s_others[0], text, sizeof text));
    puts(text);
    return argument;
}

static void* uses_file(void* argument) {
    pthread_t reader;
    char path[] = "/tmp/pthread-queues-XXXXXX";
    int const number = mkstemp(path);
    off_t at = 0;
    char one[4] = "", two[8] = "";
    struct iovec const in[2] = {{s_data, k_size / 2}, {s_data + k_size / 2, k_size / 2}};
    struct iovec const out[2] = {{one, 3}, {two, 7}};
    unlink(path);
    SHOW(pwritev(number, in, 2, 0));
    begin_stream(&reader);
    SHOW(sendfile(s_ends[0], number, &at, 2 * k_size));
    SHOW(at);
    end_stream("sendfile", reader);
    SHOW(pwritev2(number, (struct iovec[]){{"0123456789", 10}}, 1, 100, 0));
    SHOW(preadv(number, out, 2, 100));
    printf("%s %s\n", one, two);
    SHOW(preadv2(number, out, 2, 100, 0));
    SHOW(preadv(number, out, 2, -1) == -1 && errno == EINVAL);
    SHOW(preadv(number, out, 2, k_size + 5));
    SHOW(preadv(number, out, 2, k_size - 2));
    SHOW(lseek(number, 102, SEEK_SET));
    SHOW(preadv2(number, out, 2, -1, 0));
    printf("%s %s\n", one, two);
    SHOW(fallocate(number, 0, 0, 2 * k_size));
    SHOW(posix_fallocate(number, 0, -1) == EINVAL);
    SHOW(copy_file_range(number, &(off_t){100}, number, &(off_t){k_size}, 10, 0));
    SHOW(syncfs(number));
    SHOW(sync_file_range(number, 0, 0, SYNC_FILE_RANGE_WRITE));
    void* const mapped = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, number, 0);
    SHOW(msync(mapped, 4096, MS_SYNC));
    SHOW(msync(mapped, 4096, MS_SYNC | MS_ASYNC) == -1 && errno == EINVAL);
    return argument;
}

static void* reads_parts(void* argument) {
    char text[8] = "";
    struct iovec const part = {text, sizeof text};
    atomic_fetch_add(&s_waits, 1);
    return preadv2(s_ends[1], &part, 1, -1, 0) == 3 ? argument : NULL;
}

static void* uses_parts(void* argument) {
    pthread_t t;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, s_ends) != 0) abort();
    s_waits = 0;
    pthread_create(&t, NULL, reads_parts, argument);
    let_wait(1);
    SHOW(pwritev2(s_ends[0], (struct iovec[]){{"abc", 3}}, 1, -1, 0));
    show_result("read", t, argument);
    return argument;
}

void transfers(void) {
    for (size_t k = 0; k != k_size; ++k) s_data[k] = byte_at(k);
    in_thread(uses_messages, s_path);
    in_thread(uses_splice, s_path);
    in_thread(uses_tee, s_path);
    in_thread(uses_parts, s_path);
    in_thread(uses_file, s_path);
}
