// SPDX-License-Identifier: Apache-2.0
// Children that a program makes with fork(2) go on with the library.
#include "base/sanitize.hpp"
#include "running_qthreads.hpp"

#include <qthread/futurelib.h>
#include <qthread/qt_syscalls.h>
#include <qthread/qthread.h>

#include <gtest/gtest.h>

#include <functional>

#include <sys/wait.h>
#include <unistd.h>

namespace {

using library = tulle::testing::running_qthreads;

// The status of a child that ends with what `body` returns; one that hangs is ended.
int status_of_child(std::function<int()> const& body) {
    constexpr unsigned k_patience_s = 60;
    pid_t const child = ::fork();
    if (child == 0) {
        ::alarm(k_patience_s);
        ::_exit(body());
    }
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return status;
}

using job = std::function<void()>;
aligned_t run_job(void* j) {
    (*static_cast<job*>(j))();
    return 7;
}
aligned_t run(job what) {
    aligned_t done = 0, value = 0;
    if (qthread_fork(&run_job, &what, &done) != QTHREAD_SUCCESS) return 0;
    qthread_readFF(&value, &done);
    return value;
}

TEST(process_fork, a_child_makes_calls_that_block) {
    if (tulle::base::k_thread_sanitizer)
        GTEST_SKIP() << "it ends children of several threads that make another one";
    library const running(2);
    int ends[2]{};
    ASSERT_EQ(::pipe(ends), 0);
    auto const calls = [&ends] {
        char c = 0;
        return qt_write(ends[1], "x", 1) == 1 && qt_read(ends[0], &c, 1) == 1 && c == 'x';
    };
    int status = -1;
    EXPECT_EQ(run([&] {
                  EXPECT_TRUE(calls()); // an OS thread is there for calls, and has nothing to do
                  status = status_of_child([&calls] { return calls() ? 3 : 4; });
                  EXPECT_TRUE(calls());
              }),
              7U);
    EXPECT_EQ(status, 3 << 8);
    status = status_of_child([&] {
        bool made = false;
        return run([&] { made = calls(); }) == 7 && made && calls() ? 3 : 4;
    });
    EXPECT_EQ(status, 3 << 8);
    for (int const end : ends) ::close(end);
}

// The permits are held by qthreads of the parent.
TEST(process_fork, a_child_has_permits_for_futures) {
    static aligned_t s_hold;
    static auto* const holder = +[](void* at) -> aligned_t {
        static_cast<void>(qthread_fill(static_cast<aligned_t*>(at)));
        return qthread_readFF(nullptr, &s_hold) == QTHREAD_SUCCESS ? 1 : 0;
    };
    library const running(1);
    ASSERT_EQ(future_init(1), QTHREAD_SUCCESS);
    aligned_t begun = 0, held = 0;
    qthread_empty(&s_hold);
    qthread_empty(&begun);
    ASSERT_EQ(future_fork(holder, &begun, &held), QTHREAD_SUCCESS);
    qthread_readFF(nullptr, &begun);
    int const status = status_of_child([] {
        aligned_t result = 0, value = 0;
        for (int k = 0; k < 3; ++k) { // more than one, although there is one permit
            if (future_fork([](void*) -> aligned_t { return 3; }, nullptr, &result) != 0) return 4;
            qthread_readFF(&value, &result);
        }
        qthread_finalize(); // does not wait for the parent's
        return static_cast<int>(value);
    });
    EXPECT_EQ(status, 3 << 8);
    qthread_fill(&s_hold);
    qthread_readFF(nullptr, &held);
}

TEST(process_fork, a_child_counts_its_own_qthreads_and_has_all_shepherds) {
    library const running(3);
    aligned_t never = 0, done = 0;
    qthread_empty(&never);
    ASSERT_EQ(qthread_fork(
                  [](void* at) -> aligned_t {
                      qthread_readFF(nullptr, static_cast<aligned_t*>(at));
                      return 1;
                  },
                  &never, &done),
              QTHREAD_SUCCESS);
    ASSERT_EQ(qthread_disable_shepherd(1), QTHREAD_SUCCESS);
    int const status = status_of_child([] {
        if (qthread_readstate(NODE_BUSYNESS) != 1) return 4;
        return qthread_num_shepherds() == 3 && qthread_num_workers() == 3 ? 3 : 5;
    });
    EXPECT_EQ(status, 3 << 8);
    EXPECT_EQ(qthread_num_shepherds(), 2);
    qthread_enable_shepherd(1);
    qthread_fill(&never);
    qthread_readFF(nullptr, &done);
}

} // namespace
