/* SPDX-License-Identifier: Apache-2.0 */
/* Makes each call of a table in a child process: before the library is started, while it runs (by
 * the thread that started it, by a thread of its own, by a foreign OS thread), and after its end. A
 * call that ends the process, does not return, or gives another result than the table says is told;
 * the calls behind it are made by the next child.
 * Includes before it: what the calls need, begin_library(), end_library(), run_inside(),
 * give_way(), by which the starter lets others run, and reset_objects(), which is called before
 * each. */
#ifndef TULLE_TESTS_ARGUMENTS_RUNNER_H
#define TULLE_TESTS_ARGUMENTS_RUNNER_H

struct bad_call {
    char const* text;
    void (*run)(void);
    int alone;
};

enum moment { before_start, by_starter, by_thread, by_stranger, after_end, moment_count };
static char const* const moment_names[] = {"before the start", "while it runs",
                                           "by a thread of its own", "by a foreign thread",
                                           "after the end"};

enum { k_patience_s = 20, k_most_told = 40 };

/* Shared with the children. */
static struct progress {
    volatile int at;
    volatile int wrong; /* results, in all */
} * progress;
static enum moment now;
static struct bad_call const* calls_to_make;
static int call_count;
static volatile long long sink;

static inline int library_runs(void) { return now != before_start && now != after_end; }
static inline void keep(long long value) { sink = value; }

static inline void expect(int holds, long long result) {
    if (holds) return;
    ++progress->wrong;
    fprintf(stderr, "%s, %s: result %lld\n", calls_to_make[progress->at].text, moment_names[now],
            result);
}

struct span {
    int first, end;
};

/* Ends behind the first call that wants a process of its own. */
static void make_calls(void* span) {
    struct span const s = *(struct span*)span;
    for (int k = s.first; k != s.end; ++k) {
        progress->at = k;
        alarm(k_patience_s);
        reset_objects();
        calls_to_make[k].run();
    }
}

static volatile int stranger_has_ended;

static void* make_calls_of_stranger(void* span) {
    make_calls(span);
    stranger_has_ended = 1;
    return NULL;
}

static void be_child(struct span s) {
    if (now != before_start) begin_library();
    if (now == after_end) end_library();
    if (now == by_thread) {
        run_inside(make_calls, &s);
    } else if (now == by_stranger) {
        pthread_t stranger;
        pthread_create(&stranger, NULL, make_calls_of_stranger, &s);
        while (!stranger_has_ended) give_way();
        pthread_join(stranger, NULL);
    } else {
        make_calls(&s);
    }
    fflush(stderr);
    _exit(0);
}

/* Whether all calls have returned. */
static int run_child(struct span s) {
    int status = 0;
    pid_t const child = fork();
    if (child == 0) be_child(s);
    if (child < 0 || waitpid(child, &status, 0) != child) {
        perror("fork");
        exit(2);
    }
    if (status == 0) return 1;
    fprintf(stderr, "%s, %s: %s %d\n", calls_to_make[progress->at].text, moment_names[now],
            WIFSIGNALED(status) ? "signal" : "exit status",
            WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    return 0;
}

/* One child for as many as do not want one of their own. */
static struct span next_span(int first) {
    struct span s = {first, first + 1};
    if (calls_to_make[first].alone) return s;
    while (s.end != call_count && !calls_to_make[s.end].alone) ++s.end;
    return s;
}

static int run_moment(void) {
    int failed = 0;
    for (int first = 0; first < call_count && failed < k_most_told;) {
        struct span const s = next_span(first);
        progress->at = first;
        first = run_child(s) ? s.end : (++failed, progress->at + 1);
    }
    return failed;
}

static int run_all_calls(struct bad_call const* calls, int count) {
    int failed = 0;
    calls_to_make = calls;
    call_count = count;
    progress =
        mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (progress == MAP_FAILED) return 2;
    for (int m = before_start; m != moment_count; ++m) {
        now = (enum moment)m;
        failed += run_moment();
    }
    failed += progress->wrong;
    fprintf(stderr, "%d calls at %d moments, %d failures\n", call_count, (int)moment_count, failed);
    return failed == 0 ? 0 : 1;
}

#endif
