// SPDX-License-Identifier: Apache-2.0
// A program that is compiled with -fno-exceptions: all headers, threads of each kind, and what
// happens where something would be thrown.
#include <tulle/tulle.hpp>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __cpp_exceptions
#error "this is about programs without exceptions"
#endif

namespace {

int failures = 0;
void check(bool holds, char const* text) {
    if (holds) return;
    std::fprintf(stderr, "not so: %s\n", text);
    ++failures;
}

long fib(int n) {
    if (n < 2) return n;
    auto older = tulle::fork([n] { return fib(n - 1); });
    long const younger = fib(n - 2);
    return older.join() + younger;
}

void threads() {
    check(fib(20) == 6765, "fork and join");
    check(tulle::spawn([](int a, int b) { return a + b; }, 1, 2).join() == 3, "spawn");
    std::atomic<int> ran{0};
    {
        tulle::scope all;
        for (int k = 0; k < 10; ++k) all.spawn([&ran] { ++ran; });
        auto const dropped = tulle::fork([&ran] { ++ran; });
    }
    tulle::spawn_group group(2);
    for (int k = 0; k < 10; ++k) group.spawn([&ran] { ++ran; });
    group.join();
    tulle::parallel_for(0, 10, [&ran](int) { ++ran; });
    tulle::finish([&ran](tulle::activities& here) { here.async([&ran] { ++ran; }); });
    check(ran == 32, "scope, spawn_group, parallel_for, finish");
}

void waits() {
    tulle::mutex m;
    tulle::condition_variable changed;
    tulle::channel<int> numbers(1);
    tulle::promise<int> promise;
    bool is_set = false;
    auto other = tulle::spawn([&] {
        numbers.send(1);
        promise.set_value(2);
        std::lock_guard const held(m);
        is_set = true;
        changed.notify_all();
    });
    check(numbers.receive() == 1, "channel");
    check(promise.get_future().then([](tulle::future<int> f) { return f.get() + 1; }).get() == 3,
          "future");
    std::unique_lock held(m);
    changed.wait(held, [&is_set] { return is_set; });
    check(!changed.wait(held, tulle::wait_limit(std::chrono::milliseconds(1))),
          "a wait with a limit");
    held.unlock();
    other.join();
}

// The message of what would be thrown, by a header, or by the library.
void ends_with(char const* message, void (*action)()) {
    int ends[2];
    if (::pipe(ends) != 0) return check(false, "pipe");
    pid_t const child = ::fork();
    if (child == 0) {
        rlimit const none{0, 0};
        ::setrlimit(RLIMIT_CORE, &none);
        ::dup2(ends[1], STDERR_FILENO);
        action();
        std::_Exit(0);
    }
    ::close(ends[1]);
    std::string text;
    char part[512];
    for (ssize_t got = 0; (got = ::read(ends[0], part, sizeof part)) > 0;)
        text.append(part, static_cast<std::size_t>(got));
    ::close(ends[0]);
    int status = 0;
    check(::waitpid(child, &status, 0) == child && WIFSIGNALED(status) &&
              WTERMSIG(status) == SIGABRT,
          "it aborts");
    check(text.find(message) != std::string::npos, message);
    if (text.find(message) == std::string::npos) std::fprintf(stderr, "%s\n", text.c_str());
}

void throw_in_header() {
    tulle::thread<void> const none;
    static_cast<void>(none.try_join());
}
void throw_in_library() {
    tulle::attributes how;
    how.shepherd = 1'000'000;
    tulle::spawn_detached(how, [] {});
}

} // namespace

int main() {
    ends_with("tulle::thread: not joinable", &throw_in_header); // before there are threads
    ends_with("terminate called", &throw_in_library);
    threads();
    waits();
    return failures;
}
