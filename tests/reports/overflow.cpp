// SPDX-License-Identifier: Apache-2.0
// Ends by a fault, in the way that its first argument names. Driven by overflow_test.py. Built with
// -fstack-clash-protection, but for what is in overflow_unprobed.cpp.
#include "sanitizer_name.hpp"

#include <tulle.h>
#include <tulle/tulle.hpp>

#include "overflow.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>

#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr std::size_t k_small = std::size_t{64} << 10U;

// Frames are a kilobyte each, or a little more.
TULLE_NOINLINE int recurse(int depth) { // NOLINT(misc-no-recursion)
    volatile char local[1000];
    local[0] = static_cast<char>(depth);
    keep(local);
    int (*volatile again)(int) = &recurse; // not to become a loop
    return depth == 0 ? 0 : again(depth - 1) + local[0] - static_cast<char>(depth) + 1;
}

std::atomic<bool> g_has_returned{false};

void recurse_deep() {
    if (recurse(200) != 200) std::abort(); // 200 KiB or more
    g_has_returned = true;
}

// Its own stack is what a thread overflows, or faults on: nobody joins it before it returns, who
// might run it in its own place.
void wait_for_the_end() {
    while (!g_has_returned) tulle::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TULLE_NOINLINE void huge_frame() {
    volatile char local[std::size_t{4} << 20U];
    local[0] = 1;
    local[sizeof local - 1] = 1;
    keep(local);
    g_has_returned = true;
}

void recurse_deeper() {
    if (recurse(30'000) != 30'000) std::abort(); // 30 MiB: more than an OS thread has
}

void of_main() { recurse_deeper(); }

// Nobody else has taken it, so it runs as a call of main's.
void joined_by_main() {
    auto t = tulle::spawn({.name = "deep one"}, [] { recurse_deeper(); });
    t.join();
}

void forked_by_main() {
    auto child = tulle::fork([] { recurse_deeper(); });
    child.join();
}

void of_foreign_thread() {
    std::thread([] {
        tulle::spawn([] {}).join(); // it uses the library
        recurse_deeper();
    }).join();
}

void spawned() {
    auto t = tulle::spawn({.name = "deep one"}, [] { recurse_deep(); }); // line: spawned
    wait_for_the_end();
    t.join();
}

void own_stack() {
    auto t = tulle::spawn({.stack_size = k_small}, [] { recurse_deep(); }); // line: own_stack
    wait_for_the_end();
    t.join();
}

void detached() {
    tulle::latch done(1);
    tulle::spawn_detached([&done] {
        recurse_deep();
        done.count_down();
    });
    done.wait();
}

void forked() {
    std::atomic<bool> stolen{false};
    auto child = tulle::fork([&] {
        stolen = true;
        recurse_deep();
    });
    while (!stolen) tulle::detail::cpu_pause(); // by the other worker
    child.join();
}

// The innermost thread runs as a call of the one that joins it.
void in_place() {
    auto outer = tulle::spawn([] {
        auto inner = tulle::spawn({.name = "inner"}, [] { recurse_deep(); });
        inner.join();
    });
    wait_for_the_end();
    outer.join();
}

void huge() {
    auto t = tulle::spawn([] { huge_frame(); });
    wait_for_the_end();
    t.join();
}

void unprobed() {
    auto t = tulle::spawn([] { step_over_the_guard(); });
    wait_for_the_end();
    t.join();
}

void by_c() {
    tulle_thread* t = nullptr;
    auto const body = [](void*) -> void* {
        recurse_deep();
        return nullptr;
    };
    if (tulle_spawn(&t, nullptr, body, nullptr) != 0) std::abort(); // line: by_c
    wait_for_the_end();
    tulle_thread_join(t, nullptr);
}

// After a wait the thread goes on wherever it is taken to.
void after_a_wait() {
    auto t = tulle::spawn([] {
        tulle::this_thread::sleep_for(std::chrono::milliseconds(5));
        recurse_deep();
    });
    wait_for_the_end();
    t.join();
}

void child_process() {
    pid_t const child = ::fork();
    if (child == 0) {
        spawned();
        std::_Exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) ::raise(WTERMSIG(status));
}

void two_at_once() {
    std::atomic<int> ready{0};
    auto const body = [&ready] {
        ready.fetch_add(1);
        while (ready.load() != 2) tulle::detail::cpu_pause(); // each on a worker of its own
        recurse_deep();
    };
    auto one = tulle::spawn(body), other = tulle::spawn(body);
    wait_for_the_end();
    one.join();
    other.join();
}

// --- no overflows --------------------------------------------------------------------------------

void wild_write(std::uintptr_t address) {
    auto t = tulle::spawn([address] { *reinterpret_cast<volatile char*>(address) = 1; });
    wait_for_the_end();
    t.join();
}

void null_pointer() { wild_write(0x10); }

void wild_write_on_main() {
    // volatile: the compiler does not see that nothing can be there
    volatile std::uintptr_t address = 0x10;
    *reinterpret_cast<volatile char*>(address) = 1;
}

// Writes down to the thread's own guard, with nearly all of the stack left.
void wild_write_into_guard() {
    auto t = tulle::spawn([] {
        // Below what it needs itself.
        for (auto* at = static_cast<volatile char*>(__builtin_frame_address(0)) - 256;; at -= 64)
            *at = 1;
    });
    wait_for_the_end();
    t.join();
}

void raised() { ::raise(SIGSEGV); }

void raised_by_thread() {
    auto t = tulle::spawn([] { ::raise(SIGSEGV); });
    wait_for_the_end();
    t.join();
}

// What the signal was that ended a process which ran `way`, as its parent, who debugs it, sees it.
void look_at_end_of(void (*way)()) {
    pid_t const child = ::fork();
    if (child == 0) {
        ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
        way();
        std::_Exit(0);
    }
    siginfo_t last{};
    for (int status = 0; ::waitpid(-1, &status, __WALL) > 0 && !WIFSIGNALED(status);) {
        if (!WIFSTOPPED(status)) continue;
        if (WSTOPSIG(status) == SIGSEGV) ::ptrace(PTRACE_GETSIGINFO, child, nullptr, &last);
        ::ptrace(PTRACE_CONT, child, nullptr, WSTOPSIG(status));
    }
    if (last.si_code == SEGV_MAPERR)
        std::printf("SEGV_MAPERR %p\n", last.si_addr);
    else
        std::printf("%s 0\n", last.si_code == SI_TKILL ? "SI_TKILL" : "other");
    std::fflush(stdout);
    std::_Exit(0);
}

void end_by_null_pointer() {
    tulle::this_thread::yield(); // the run time starts in the child
    std::signal(SIGALRM, SIG_DFL);
    std::uintptr_t volatile const address = 16;
    *reinterpret_cast<volatile char*>(address) = 1;
}

void look_at_end_of_null_pointer() { look_at_end_of(&end_by_null_pointer); }
void look_at_end_of_raised_by_thread() { look_at_end_of(&raised); }

void own_handler() {
    std::signal(SIGSEGV, [](int) { std::_Exit(9); });
    null_pointer();
}

// Its handler stands before the run time starts.
void own_handler_before() { null_pointer(); }

void after_the_end() {
    tulle::finalize();
    struct sigaction present {};
    ::sigaction(SIGSEGV, nullptr, &present);
    std::_Exit(present.sa_handler == SIG_DFL ? 8 : 1);
}

std::map<std::string, void (*)()> const k_ways{
    {"spawned", &spawned},
    {"of_main", &of_main},
    {"joined_by_main", &joined_by_main},
    {"forked_by_main", &forked_by_main},
    {"of_foreign_thread", &of_foreign_thread},
    {"wild_write_on_main", &wild_write_on_main},
    {"own_stack", &own_stack},
    {"detached", &detached},
    {"forked", &forked},
    {"in_place", &in_place},
    {"huge", &huge},
    {"unprobed", &unprobed},
    {"by_c", &by_c},
    {"child_process", &child_process},
    {"two_at_once", &two_at_once},
    {"look_at_end_of_null_pointer", &look_at_end_of_null_pointer},
    {"look_at_end_of_raised_by_thread", &look_at_end_of_raised_by_thread},
    {"after_a_wait", &after_a_wait},
    {"null_pointer", &null_pointer},
    {"wild_write_into_guard", &wild_write_into_guard},
    {"raised", &raised},
    {"raised_by_thread", &raised_by_thread},
    {"own_handler", &own_handler},
    {"own_handler_before", &own_handler_before},
    {"after_the_end", &after_the_end}};

} // namespace

int main(int, char** arguments) {
    ::alarm(100);
    std::string const way = arguments[1];
    if (way == "sanitizer") return std::puts(k_sanitizer) < 0 ? 1 : 0;
    if (way == "own_handler_before") std::signal(SIGSEGV, [](int) { std::_Exit(9); });
    static_cast<void>(tulle::worker_count()); // starts the run time
    k_ways.at(way)();
    std::puts("done");
    return 0;
}
