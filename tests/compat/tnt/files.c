/* SPDX-License-Identifier: Apache-2.0 */
/* Output, input and files of node 0, used by threads of all nodes. Without an argument the program
 * checks itself; with one it does what io_test.py then looks at. */
#define _GNU_SOURCE
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <wchar.h>

#include <tnt.h>

enum { BIG = 5 << 20, RECORDS = 50, RECORD = 100, MOST_NODES = 16 };

/* What main tells the threads, in shared memory. */
typedef struct {
    char folder[64];
    int common; /* a file that main has opened */
} setting;

static setting own_setting(void const* shared) {
    setting own;
    CHECK(tnt_read(&own, shared, sizeof own) == 0);
    return own;
}

static void path_of(char* path, size_t size, setting const* own, char const* name) {
    snprintf(path, size, "%s/%s.%d", own->folder, name, tnt_node());
}

static unsigned char byte_at(size_t k) { return (unsigned char)(k * 7 + k / 251); }

/* More than any message takes, there and back. */
static void check_big(setting const* own) {
    char path[100];
    path_of(path, sizeof path, own, "big");
    unsigned char* const bytes = malloc(BIG);
    CHECK(bytes != NULL);
    for (size_t k = 0; k < BIG; ++k) bytes[k] = byte_at(k);
    int const file = tnt_io_open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    CHECK(file >= TNT_IO_FIRST);
    CHECK(tnt_io_write(file, bytes, BIG) == BIG);
    memset(bytes, 0, BIG);
    CHECK(tnt_io_lseek(file, 0, SEEK_SET) == 0);
    CHECK(tnt_io_read(file, bytes, BIG) == BIG);
    for (size_t k = 0; k < BIG; ++k) CHECK(bytes[k] == byte_at(k));
    CHECK(tnt_io_read(file, bytes, BIG) == 0); /* the end */
    CHECK(tnt_io_lseek(file, -10, SEEK_END) == BIG - 10);
    CHECK(tnt_io_read(file, bytes, BIG) == 10); /* a short count */
    CHECK(bytes[0] == byte_at(BIG - 10));
    CHECK(tnt_io_close(file) == 0);
    free(bytes);
}

static void check_calls(setting const* own) {
    char path[100];
    char other[100];
    char text[20] = "";
    struct stat found;
    path_of(path, sizeof path, own, "calls");
    path_of(other, sizeof other, own, "renamed");
    int const file = tnt_io_open(path, O_RDWR | O_CREAT, 0640);
    CHECK(file >= TNT_IO_FIRST);
    CHECK(tnt_io_write(file, "one\ntwo\nthree", 13) == 13);
    CHECK(tnt_io_pwrite(file, "TWO", 3, 4) == 3);
    CHECK(tnt_io_pread(file, text, 3, 4) == 3 && memcmp(text, "TWO", 3) == 0);
    CHECK(tnt_io_lseek(file, 0, SEEK_CUR) == 13);
    CHECK(tnt_io_lseek(file, 0, SEEK_SET) == 0);
    CHECK(tnt_io_gets(file, text, sizeof text) == 4 && strcmp(text, "one\n") == 0);
    CHECK(tnt_io_lseek(file, 0, SEEK_CUR) == 4); /* nothing is read ahead */
    CHECK(tnt_io_gets(file, text, 3) == 2 && strcmp(text, "TW") == 0);
    CHECK(tnt_io_gets(file, text, sizeof text) == 2 && strcmp(text, "O\n") == 0);
    CHECK(tnt_io_gets(file, text, sizeof text) == 5 && strcmp(text, "three") == 0);
    CHECK(tnt_io_gets(file, text, sizeof text) == 0 && text[0] == '\0');
    CHECK(tnt_io_fstat(file, &found) == 0 && found.st_size == 13 && S_ISREG(found.st_mode));
    CHECK(tnt_io_ftruncate(file, 5) == 0 && tnt_io_fsync(file) == 0);
    CHECK(tnt_io_stat(path, &found) == 0 && found.st_size == 5);
    CHECK(tnt_io_rename(path, other) == 0 && tnt_io_stat(path, &found) == -ENOENT);
    CHECK(tnt_io_read(file, text, 0) == 0 && tnt_io_write(file, NULL, 0) == 0);
    CHECK(tnt_io_close(file) == 0);
    CHECK(tnt_io_unlink(other) == 0 && tnt_io_unlink(other) == -ENOENT);
    path_of(path, sizeof path, own, "folder");
    CHECK(tnt_io_mkdir(path, 0700) == 0 && tnt_io_mkdir(path, 0700) == -EEXIST);
    CHECK(tnt_io_stat(path, &found) == 0 && S_ISDIR(found.st_mode));
}

/* Numbers of node 0's files are none of a node's own, and the other way round. */
static void check_mistakes(setting const* own) {
    char path[100];
    char text[4];
    struct stat found;
    path_of(path, sizeof path, own, "mistakes");
    int const here = open("/dev/null", O_RDWR | O_CLOEXEC);
    CHECK(here >= 0);
    CHECK(tnt_io_read(here, text, 1) == -EBADF && tnt_io_write(here, text, 1) == -EBADF);
    CHECK(tnt_io_close(here) == -EBADF && close(here) == 0);
    CHECK(tnt_io_read(-1, text, 1) == -EBADF && tnt_io_fsync(0) == -EBADF);
    int const file = tnt_io_open(path, O_WRONLY | O_CREAT, 0600);
    CHECK(file >= TNT_IO_FIRST);
    CHECK(write(file, "x", 1) == -1 && errno == EBADF);
    CHECK(tnt_io_read(file, text, 1) == -EBADF); /* it is open for writing only */
    CHECK(tnt_io_write(file, NULL, 1) == -EFAULT && tnt_io_pwrite(file, "x", 1, -1) == -EINVAL);
    CHECK(tnt_io_pread(file, NULL, 1, 0) == -EFAULT && tnt_io_gets(file, NULL, 1) == -EFAULT);
    CHECK(tnt_io_gets(file, text, 0) == -EINVAL && tnt_io_fstat(file, NULL) == -EFAULT);
    CHECK(tnt_io_lseek(file, -1, SEEK_SET) == -EINVAL);
    CHECK(tnt_io_close(file) == 0 && tnt_io_close(file) == -EBADF);
    int const next = tnt_io_open(path, O_RDONLY); /* the old number stays dead */
    CHECK(next >= TNT_IO_FIRST && next != file && tnt_io_write(file, "x", 1) == -EBADF);
    CHECK(tnt_io_write(next, "x", 1) == -EBADF && tnt_io_close(next) == 0);
    CHECK(tnt_io_open(NULL, O_RDONLY) == -EFAULT && tnt_io_stat(NULL, &found) == -EFAULT);
    CHECK(tnt_io_open("/nowhere/to/be/found", O_RDONLY) == -ENOENT);
    CHECK(tnt_io_rename(NULL, path) == -EFAULT && tnt_io_rename(path, NULL) == -EFAULT);
    CHECK(tnt_io_unlink(NULL) == -EFAULT && tnt_io_mkdir(NULL, 0) == -EFAULT);
}

/* What printf refuses is refused. */
static void check_texts(void) {
    wchar_t const no_character[] = {0xD800, 0};
    CHECK(tnt_io_printf("%ls", no_character) == -EILSEQ);
    CHECK(tnt_io_printf("%s", "") == 0);
}

/* All threads write records into one file, which are whole afterwards. */
static void add_records(setting const* own) {
    char record[RECORD];
    memset(record, 'a' + tnt_node() % 26, sizeof record);
    record[RECORD - 1] = '\n';
    for (int k = 0; k < RECORDS; ++k)
        CHECK(tnt_io_write(own->common, record, sizeof record) == sizeof record);
}

static void* work(void* argument) {
    setting const own = own_setting(argument);
    check_big(&own);
    check_calls(&own);
    check_mistakes(&own);
    check_texts();
    add_records(&own);
    return NULL;
}

/* One thread at each node. */
static void run_everywhere(void* (*function)(void*), void* argument) {
    tnt_t threads[MOST_NODES];
    CHECK(tnt_nodes() <= MOST_NODES);
    for (int k = 0; k < tnt_nodes(); ++k)
        CHECK(tnt_create_at(&threads[k], k, function, argument) == 0);
    for (int k = 0; k < tnt_nodes(); ++k) CHECK(tnt_join(threads[k], NULL) == 0);
}

static void check_records(int file) {
    char record[RECORD + 1];
    int count = 0;
    CHECK(tnt_io_lseek(file, 0, SEEK_SET) == 0);
    for (; tnt_io_gets(file, record, sizeof record) > 0; ++count) {
        CHECK(strlen(record) == RECORD);
        for (int k = 1; k < RECORD - 1; ++k) CHECK(record[k] == record[0]);
    }
    CHECK(count == RECORDS * tnt_nodes());
}

/* One thread of each node takes lines, another one asks for the position and writes a line there,
 * which is that of a line at all times. */
enum { LINE = 14, LINES = 2000, TURNS = 3000 };
static char const a_line[] = "line of bytes\n";
static void* take_lines(void* argument) {
    setting const own = own_setting(argument);
    for (int k = 0; k < TURNS; ++k) {
        char line[2 * LINE];
        ssize_t const length = tnt_io_gets(own.common, line, sizeof line);
        CHECK(length == 0 || (length == LINE && memcmp(line, a_line, LINE) == 0));
        if (length == 0) CHECK(tnt_io_lseek(own.common, 0, SEEK_SET) == 0);
    }
    return NULL;
}
static void* write_lines(void* argument) {
    setting const own = own_setting(argument);
    for (int k = 0; k < TURNS; ++k) {
        CHECK(tnt_io_lseek(own.common, 0, SEEK_CUR) % LINE == 0);
        if (k % 4 == 0) CHECK(tnt_io_write(own.common, a_line, LINE) == LINE);
    }
    return NULL;
}
static void check_positions(setting* mine, setting* shared) {
    char path[100];
    tnt_t readers[MOST_NODES];
    tnt_t writer;
    snprintf(path, sizeof path, "%s/lines", mine->folder);
    mine->common = tnt_io_open(path, O_RDWR | O_CREAT, 0600);
    CHECK(mine->common >= TNT_IO_FIRST && tnt_write(shared, mine, sizeof *mine) == 0);
    for (int k = 0; k < LINES; ++k) CHECK(tnt_io_write(mine->common, a_line, LINE) == LINE);
    CHECK(tnt_io_lseek(mine->common, 0, SEEK_SET) == 0);
    for (int k = 0; k < tnt_nodes(); ++k)
        CHECK(tnt_create_at(&readers[k], k, &take_lines, shared) == 0);
    CHECK(tnt_create_at(&writer, 0, &write_lines, shared) == 0);
    for (int k = 0; k < tnt_nodes(); ++k) CHECK(tnt_join(readers[k], NULL) == 0);
    CHECK(tnt_join(writer, NULL) == 0 && tnt_io_close(mine->common) == 0);
}

/* A thread that waits for input of a socket keeps nobody from writing to it. */
static void* await_line(void* argument) {
    char line[2 * LINE];
    setting const own = own_setting(argument);
    CHECK(tnt_io_gets(own.common, line, sizeof line) == LINE);
    return NULL;
}
static void check_both_ways(setting* mine, setting* shared) {
    char line[LINE];
    int ends[2];
    int const input = dup(STDIN_FILENO);
    tnt_t reader;
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0 && dup2(ends[0], STDIN_FILENO) == 0);
    mine->common = TNT_STDIN_FILENO;
    CHECK(tnt_write(shared, mine, sizeof *mine) == 0);
    CHECK(tnt_create_at(&reader, tnt_nodes() - 1, &await_line, shared) == 0);
    for (int k = 0; k < 100; ++k) tnt_yield();
    CHECK(tnt_io_lseek(TNT_STDIN_FILENO, 0, SEEK_CUR) == -ESPIPE);
    CHECK(tnt_io_write(TNT_STDIN_FILENO, a_line, LINE) == LINE);
    CHECK(read(ends[1], line, LINE) == LINE && write(ends[1], line, LINE) == LINE);
    CHECK(tnt_join(reader, NULL) == 0);
    CHECK(input < 0 || dup2(input, STDIN_FILENO) == 0);
}

static void check_all(void) {
    setting mine = {"/tmp/tnt-files-XXXXXX", 0};
    CHECK(mkdtemp(mine.folder) != NULL);
    char path[100];
    snprintf(path, sizeof path, "%s/common", mine.folder);
    mine.common = tnt_io_open(path, O_RDWR | O_CREAT, 0600);
    CHECK(mine.common >= TNT_IO_FIRST);
    setting* const shared = tnt_malloc(sizeof *shared);
    CHECK(shared != NULL && tnt_write(shared, &mine, sizeof mine) == 0);
    run_everywhere(&work, shared);
    check_records(mine.common);
    CHECK(tnt_io_close(mine.common) == 0);
    check_positions(&mine, shared);
    check_both_ways(&mine, shared);
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", mine.folder);
    CHECK(system(command) == 0);
}

/* --- for io_test.py --------------------------------------------------------------------------- */

/* Each line of the input is said by whoever has got it. */
static void* say_input(void* unused) {
    char line[1000];
    while (tnt_io_gets(TNT_STDIN_FILENO, line, sizeof line) > 0) {
        line[strcspn(line, "\n")] = '\0';
        tnt_io_printf("%s at %d\n", line, tnt_node());
        tnt_yield();
    }
    return unused;
}
/* The same by streams. */
static void* say_input_of_streams(void* unused) {
    char word[1000];
    /* Node 0's beginnings of lines are passed on, as they may be questions. */
    if (tnt_node() == 0) CHECK(setvbuf(stdout, NULL, _IOLBF, 0) == 0);
    while (scanf("%999s", word) == 1) {
        printf("%s at %d\n", word, tnt_node());
        tnt_yield();
    }
    fflush(stdout);
    return unused;
}
static void* read_once(void* unused) {
    char text[100];
    ssize_t const got = read(STDIN_FILENO, text, sizeof text);
    printf("%d: %.*s", tnt_node(), (int)(got > 0 ? got : 0), text);
    fflush(stdout);
    return unused;
}
static void* say_lines(void* unused) {
    for (int k = 0; k < 1000; ++k) CHECK(tnt_io_printf("%d of %d: %050d\n", k, tnt_node(), k) > 0);
    return unused;
}
static void* kill_node_0(void* unused) {
    char text[1];
    if (tnt_node() == 0) kill(getpid(), SIGKILL);
    tnt_io_read(TNT_STDIN_FILENO, text, 1); /* which does not come */
    return unused;
}

static void run_at_last(void* (*function)(void*)) {
    tnt_t thread;
    CHECK(tnt_create_at(&thread, tnt_nodes() - 1, function, NULL) == 0);
    CHECK(tnt_join(thread, NULL) == 0);
}

static void do_as_told(char const* word) {
    if (strcmp(word, "lines") == 0) run_everywhere(&say_input, NULL);
    if (strcmp(word, "streams") == 0) run_everywhere(&say_input_of_streams, NULL);
    if (strcmp(word, "lines-at-last") == 0) run_at_last(&say_input);
    if (strcmp(word, "streams-at-last") == 0) run_at_last(&say_input_of_streams);
    if (strcmp(word, "reads") == 0) run_at_last(&read_once);
    if (strcmp(word, "prints") == 0) run_everywhere(&say_lines, NULL);
    if (strcmp(word, "dies") == 0) run_everywhere(&kill_node_0, NULL);
    if (strcmp(word, "redirects") == 0) { /* what node 0 has for its output, all have */
        printf("before\n");
        fflush(stdout);
        CHECK(dup2(open("redirected", O_WRONLY | O_CREAT | O_CLOEXEC, 0600), 1) == 1);
        printf("first, "); /* is in a buffer */
        run_everywhere(&say_lines, NULL);
    }
}

int main(int count, char** words) {
    if (count == 3 && strcmp(words[1], "starts") == 0) {
        printf("%s\n", strerror(tnt_init(strtoull(words[2], NULL, 10))));
        return 0;
    }
    CHECK(tnt_init(0) == 0);
    if (count > 1)
        do_as_told(words[1]);
    else
        check_all();
    return 0;
}
