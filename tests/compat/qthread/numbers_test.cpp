// SPDX-License-Identifier: Apache-2.0
// A number of qthread_worker() belongs to one qthread at a time, between two waits: programs keep
// data for each without a lock. Here qthreads block their workers on purpose meanwhile, and others
// run in their place.
#include "running_qthreads.hpp"

#include <qthread/io.h>
#include <qthread/qthread.h>

#include <tulle/runtime.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using library = tulle::testing::running_qthreads;
using namespace std::chrono_literals;

// The library with several workers for each shepherd.
class running_shape {
public:
    running_shape(char const* shepherds, char const* workers_each) {
        ::setenv("QT_NUM_SHEPHERDS", shepherds, 1);
        ::setenv("QT_NUM_WORKERS_PER_SHEPHERD", workers_each, 1);
        EXPECT_EQ(qthread_initialize(), QTHREAD_SUCCESS);
    }
    ~running_shape() {
        qthread_finalize();
        ::unsetenv("QT_NUM_SHEPHERDS");
        ::unsetenv("QT_NUM_WORKERS_PER_SHEPHERD");
    }
    running_shape(running_shape const&) = delete;
    running_shape& operator=(running_shape const&) = delete;
};

// A qthread of a function; the destructor waits for its end.
class started {
public:
    started(std::function<void()> body, qthread_shepherd_id_t where = NO_SHEPHERD)
        : m_body(std::move(body)) {
        EXPECT_EQ(qthread_fork_to(&run, this, &m_done, where), QTHREAD_SUCCESS);
    }
    ~started() { qthread_readFF(nullptr, &m_done); }
    started(started const&) = delete;
    started& operator=(started const&) = delete;

private:
    static aligned_t run(void* self) {
        static_cast<started*>(self)->m_body();
        return 0;
    }
    std::function<void()> m_body;
    aligned_t m_done = 0;
};

class pipe_ends {
public:
    pipe_ends() { EXPECT_EQ(::pipe(m_ends), 0); }
    ~pipe_ends() {
        ::close(m_ends[0]);
        ::close(m_ends[1]);
    }
    pipe_ends(pipe_ends const&) = delete;
    pipe_ends& operator=(pipe_ends const&) = delete;

    void read() const {
        char c = 0;
        EXPECT_EQ(::read(m_ends[0], &c, 1), 1);
    }
    void write() const { EXPECT_EQ(::write(m_ends[1], "x", 1), 1); }

private:
    int m_ends[2]{};
};

// The data of a program, one for each number.
class numbered {
public:
    // The caller does not wait between these. Returns its number.
    std::size_t enter() {
        qthread_worker_id_t const number = qthread_worker(nullptr);
        if (number >= m_inside.size()) {
            ADD_FAILURE() << "worker " << number << " in a qthread";
            return 0;
        }
        if (m_inside[number].exchange(true)) ++m_met;
        return number;
    }
    void leave(std::size_t number) { m_inside[number] = false; }
    [[nodiscard]] int met() const { return m_met; }

private:
    std::array<std::atomic<bool>, 4> m_inside{};
    std::atomic<int> m_met{0};
};

// What a qthread does while it uses data of its worker, and others might come.
void use_for_a_while() { std::this_thread::sleep_for(20ms); }

// The system's: no variable of the C library, whose address a compiler may remember.
long os_thread() { return ::syscall(SYS_gettid); }
[[gnu::noinline]] int current_errno() {
    __asm__ __volatile__("");
    return errno;
}
[[gnu::noinline]] void set_errno_of_caller(int value) {
    __asm__ __volatile__("");
    errno = value;
}

TEST(numbers, are_not_those_of_a_qthread_that_comes_back_too_early) {
    library const running(1);
    numbered data;
    pipe_ends const p;
    std::atomic<bool> blocks{false};
    {
        started const blocked([&] {
            qt_begin_blocking_action();
            blocks = true;
            p.read();
            qt_end_blocking_action();
            data.leave(data.enter());
        });
        started const other([&] {
            while (!blocks) qthread_yield();
            std::size_t const number = data.enter();
            p.write();
            use_for_a_while();
            data.leave(number);
        });
    }
    EXPECT_EQ(data.met(), 0);
}

TEST(numbers, of_the_first_qthread) {
    library const running(1);
    numbered data;
    pipe_ends const p;
    long const own = os_thread();
    std::atomic<bool> is_back{false};
    started const other([&] {
        std::size_t const number = data.enter();
        p.write();
        use_for_a_while();
        data.leave(number);
        while (!is_back) qthread_yield();
    });
    qt_begin_blocking_action();
    p.read();
    qt_end_blocking_action();
    data.leave(data.enter());
    is_back = true;
    EXPECT_EQ(data.met(), 0);
    EXPECT_EQ(os_thread(), own);
}

// It was made ready by the worker that then waits for its number, and only that one may run it.
TEST(numbers, the_first_qthread_stays_on_its_os_thread) {
    library const running(2); // the other worker is free
    numbered data;
    pipe_ends const p;
    aligned_t word = 0;
    qthread_empty(&word);
    std::atomic<bool> blocks{false};
    long const own = os_thread();
    started const blocked(
        [&] {
            qthread_fill(&word);
            qt_begin_blocking_action();
            blocks = true;
            p.read();
            qt_end_blocking_action();
            data.leave(data.enter());
        },
        0);
    started const other(
        [&] {
            while (!blocks) qthread_yield();
            std::size_t const number = data.enter();
            p.write();
            use_for_a_while();
            data.leave(number);
        },
        0);
    qthread_readFF(nullptr, &word);
    EXPECT_EQ(os_thread(), own);
    EXPECT_EQ(data.met(), 0);
}

// In a blocking action a qthread has no number, on a stand-in neither.
TEST(numbers, both_block_one_after_the_other) {
    library const running(1);
    pipe_ends const there, back;
    std::atomic<bool> blocks{false};
    started const blocked([&] {
        qt_begin_blocking_action();
        blocks = true;
        there.read();
        qt_end_blocking_action();
        EXPECT_EQ(qthread_worker(nullptr), 0);
        back.write();
    });
    started const other([&] {
        while (!blocks) qthread_yield();
        EXPECT_EQ(qthread_worker(nullptr), 0);
        qt_begin_blocking_action();
        EXPECT_EQ(qthread_worker(nullptr), NO_WORKER);
        there.write();
        back.read();
        qt_end_blocking_action();
        EXPECT_EQ(qthread_worker(nullptr), 0);
    });
}

// The one is blocked anew while what stood in for it is, too. There is no other worker.
TEST(numbers, one_blocks_again_while_its_stand_in_is_blocked) {
    library const running(1);
    pipe_ends const there, back, again;
    std::atomic<bool> blocks{false};
    started const blocked([&] {
        qt_begin_blocking_action();
        blocks = true;
        there.read();
        qt_end_blocking_action();
        EXPECT_EQ(qthread_worker(nullptr), 0);
        qt_begin_blocking_action();
        back.write();
        again.read();
        qt_end_blocking_action();
        EXPECT_EQ(qthread_worker(nullptr), 0);
    });
    started const other([&] {
        while (!blocks) qthread_yield();
        EXPECT_EQ(qthread_worker(nullptr), 0);
        qt_begin_blocking_action();
        there.write();
        back.read();
        qt_end_blocking_action();
        EXPECT_EQ(qthread_worker(nullptr), 0);
        again.write();
    });
}

// And the first one is blocked still.
TEST(numbers, a_stand_in_that_was_blocked_has_its_number_again) {
    library const running(1);
    pipe_ends const p;
    std::atomic<bool> blocks{false};
    started const blocked([&] {
        qt_begin_blocking_action();
        blocks = true;
        p.read();
        qt_end_blocking_action();
        EXPECT_EQ(qthread_worker(nullptr), 0);
    });
    started const other([&] {
        while (!blocks) qthread_yield();
        for (int k = 0; k < 3; ++k) {
            qt_begin_blocking_action();
            ::usleep(100);
            qt_end_blocking_action();
            EXPECT_EQ(qthread_worker(nullptr), 0);
            qthread_yield();
        }
        p.write();
    });
}

// Another worker is free. What the qthread has left on its OS thread it finds there.
TEST(numbers, who_comes_back_is_ready_for_any_worker) {
    library const running(2);
    pipe_ends const p;
    std::atomic<bool> blocks{false}, is_back{false};
    started const blocked(
        [&] {
            qthread_migrate_to(NO_SHEPHERD);
            qt_begin_blocking_action();
            blocks = true;
            p.read();
            set_errno_of_caller(EXDEV);
            qt_end_blocking_action();
            EXPECT_EQ(current_errno(), EXDEV);
            EXPECT_EQ(qthread_worker(nullptr), 0);
            is_back = true;
        },
        1);
    while (!blocks) qthread_yield();
    started const other(
        [&] {
            EXPECT_EQ(qthread_worker(nullptr), 1);
            p.write();
            while (!is_back) std::this_thread::yield(); // the OS thread does, the qthread does not
        },
        1);
}

// The OS thread of a worker that is not wanted for so long ends; that of one that waits for its
// number does not, as nobody would start another one.
TEST(numbers, one_is_in_use_for_long) {
    library const running(2);
    numbered data;
    pipe_ends const p;
    std::atomic<bool> blocks{false};
    {
        started const blocked(
            [&] {
                qt_begin_blocking_action();
                blocks = true;
                p.read();
                qt_end_blocking_action();
                data.leave(data.enter());
            },
            1);
        while (!blocks) qthread_yield();
        started const other(
            [&] {
                std::size_t const number = data.enter();
                p.write();
                std::this_thread::sleep_for(1200ms);
                data.leave(number);
            },
            1);
    }
    EXPECT_EQ(data.met(), 0);
}

TEST(numbers, a_lock_is_held_over_an_action) {
    library const running(1);
    numbered data;
    pipe_ends const p;
    aligned_t lock = 0;
    std::atomic<bool> blocks{false};
    {
        started const blocked([&] {
            qthread_lock(&lock);
            qt_begin_blocking_action();
            blocks = true;
            p.read();
            qt_end_blocking_action();
            data.leave(data.enter());
            qthread_unlock(&lock);
        });
        started const other([&] {
            while (!blocks) qthread_yield();
            std::size_t const number = data.enter();
            p.write();
            use_for_a_while();
            data.leave(number);
            qthread_lock(&lock);
            qthread_unlock(&lock);
        });
    }
    EXPECT_EQ(data.met(), 0);
}

// The two do not get on without each other.
TEST(numbers, each_worker_that_is_blocked_has_a_stand_in) {
    running_shape const running("1", "2");
    pipe_ends const p;
    std::atomic<int> blocking{0}, met{0};
    std::atomic<unsigned> numbers{0};
    auto const block = [&] {
        qt_begin_blocking_action();
        ++blocking;
        p.read();
        qt_end_blocking_action();
    };
    auto const meet = [&] {
        while (blocking != 2) qthread_yield();
        numbers |= 1U << qthread_worker(nullptr);
        for (++met; met != 2;) std::this_thread::yield();
        p.write();
    };
    { started const a(block), b(block), c(meet), d(meet); }
    EXPECT_EQ(numbers, 3U);
}

// The only worker of the shepherd is blocked, and what stands in for it is, too.
TEST(numbers, a_stand_in_that_is_blocked_has_another_one) {
    library const running(2);
    pipe_ends const p;
    std::atomic<int> blocking{0};
    auto const block = [&] {
        EXPECT_EQ(qthread_worker(nullptr), 1);
        qt_begin_blocking_action();
        ++blocking;
        p.read();
        qt_end_blocking_action();
        EXPECT_EQ(qthread_worker(nullptr), 1);
    };
    started const first(block, 1), second(block, 1);
    while (blocking != 2) qthread_yield();
    started const third(
        [&] {
            EXPECT_EQ(qthread_worker(nullptr), 1);
            p.write();
            p.write();
        },
        1);
}

// However many are blocked on one shepherd, a worker of another one that is blocked has a stand-in.
TEST(numbers, those_of_one_shepherd_leave_stand_ins_to_the_other) {
    library const running(2);
    pipe_ends const p;
    std::atomic<int> blocking{0};
    auto const block = [&] {
        qt_begin_blocking_action();
        ++blocking;
        p.read();
        qt_end_blocking_action();
    };
    std::vector<std::unique_ptr<started>> all;
    constexpr int k_blocked = 4; // beyond these there is no more worker for that shepherd
    for (int k = 0; k < k_blocked; ++k) all.push_back(std::make_unique<started>(block, 1));
    while (blocking != k_blocked) qthread_yield();
    started const here(block, 0);
    started const frees(
        [&] {
            while (blocking != k_blocked + 1) qthread_yield();
            for (int k = 0; k <= k_blocked; ++k) p.write();
        },
        0);
}

TEST(numbers, a_shepherd_is_disabled_while_one_is_blocked) {
    library const running(2);
    numbered data;
    for (int round = 0; round < 20; ++round) {
        pipe_ends const p;
        std::atomic<bool> blocks{false};
        started const blocked(
            [&] {
                qt_begin_blocking_action();
                blocks = true;
                p.read();
                qt_end_blocking_action();
                data.leave(data.enter());
            },
            1);
        while (!blocks) qthread_yield();
        started const other([&] { data.leave(data.enter()); }, 1);
        EXPECT_EQ(qthread_disable_shepherd(1), QTHREAD_SUCCESS);
        started const third([&] { data.leave(data.enter()); }, 1);
        if (round % 2 == 0) qthread_enable_shepherd(1);
        p.write();
        if (round % 3 == 0) qthread_yield();
        qthread_enable_shepherd(1);
    }
    EXPECT_EQ(data.met(), 0);
}

TEST(numbers, a_child_of_fork_ends_the_action) {
    library const running(1);
    started const forks([] {
        qt_begin_blocking_action();
        pid_t const child = ::fork();
        if (child == 0) {
            ::alarm(20); // in the place of a child that waits for ever
            qt_end_blocking_action();
            qt_begin_blocking_action();
            qt_end_blocking_action();
            ::_exit(5);
        }
        int status = 0;
        EXPECT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 5) << status;
        qt_end_blocking_action();
    });
    started const other([] { qthread_yield(); });
}

// --- many of them --------------------------------------------------------------------------------

void do_something(numbered& data, unsigned choice) {
    unsigned const pause_us = choice / 5 % 4 * 50;
    switch (choice % 5) {
        case 0:
            qt_begin_blocking_action();
            ::usleep(pause_us);
            qt_end_blocking_action();
            break;
        case 1: qthread_yield(); break;
        default:
            std::size_t const number = data.enter();
            if (choice % 5 == 2) ::usleep(pause_us);
            data.leave(number);
    }
}

void work(numbered& data, unsigned seed) {
    unsigned random = seed;
    for (int k = 0; k < 100; ++k) {
        random = random * 1664525 + 1013904223;
        do_something(data, random >> 8U);
    }
}

class numbers_of : public testing::TestWithParam<std::array<char const*, 2>> {};

TEST_P(numbers_of, many_qthreads_that_block) {
    running_shape const running(GetParam()[0], GetParam()[1]);
    numbered data;
    {
        std::vector<std::unique_ptr<started>> all;
        for (unsigned k = 0; k < 16; ++k) {
            auto const where = k % 2 == 0 ? NO_SHEPHERD : static_cast<qthread_shepherd_id_t>(k / 2);
            all.push_back(std::make_unique<started>([&data, k] { work(data, k); }, where));
        }
        work(data, 16); // the first one, too
    }
    EXPECT_EQ(data.met(), 0);
}

INSTANTIATE_TEST_SUITE_P(shapes, numbers_of,
                         testing::Values(std::array{"1", "1"}, std::array{"2", "1"},
                                         std::array{"1", "2"}, std::array{"2", "2"},
                                         std::array{"3", "1"}));

} // namespace
