// SPDX-License-Identifier: Apache-2.0
// A program that forks while a thread shares work, calls other places and meets them for the first
// time; the child processes, which are no places, do so themselves. It is linked with
// slow_statics.c, so that each static variable of a function takes long to be made. Driven by
// offspring_test.py.
#include <tulle/tulle.hpp>

#include <array>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr int k_children = 12;
constexpr unsigned k_patience_s = 20; // rather than stand still for ever
constexpr useconds_t k_between_us = 30'000;
constexpr long k_leaves = 256;

long count_leaves(int depth) {
    if (depth == 0) return 1;
    auto older = tulle::global_fork<&count_leaves>(depth - 1);
    long const younger = count_leaves(depth - 1);
    return older.join() + younger;
}

bool tells_its_exception(tulle::place there) {
    try {
        tulle::at(there, [] { throw std::out_of_range("as it was thrown"); });
        return false;
    } catch (std::out_of_range const&) {
        return true;
    }
}

// Of the first place alone: the others serve.
bool works() {
    tulle::team const alone({tulle::here()});
    bool const meets = alone.allreduce(2, std::plus<>()) == 2;
    auto const last = tulle::place(tulle::place_count() - 1);
    bool const is_told = tells_its_exception(last);
    return meets && is_told && count_leaves(8) == k_leaves;
}

int end_of(pid_t child) {
    int status = -1;
    if (waitpid(child, &status, 0) != child) return -1;
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

} // namespace

int main() {
    tulle::initialize();
    std::array<pid_t, k_children> children{};
    auto other = tulle::spawn([] { return works(); });
    // An OS thread, which is there while the worker of main is busy with the other thread.
    std::thread([&children] {
        for (pid_t& child : children) {
            child = fork();
            if (child == 0) {
                alarm(k_patience_s);
                _exit(works() ? 5 : 3);
            }
            usleep(k_between_us);
        }
    }).join();
    int good = 0;
    for (pid_t const child : children) good += end_of(child) == 5 ? 1 : 0;
    std::printf("works: %d, good children: %d\n", static_cast<int>(other.join()), good);
    return 0;
}
