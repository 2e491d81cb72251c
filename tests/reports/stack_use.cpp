// SPDX-License-Identifier: Apache-2.0
// Threads that use known amounts of their stacks. Driven by stack_use_test.py.
#include "sanitizer_name.hpp"

#include <tulle/tulle.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace {

// What a sanitizer does at the exit takes more.
constexpr std::size_t k_small_stack = sizeof k_sanitizer == 1 ? 16384 : 262144;

template <std::size_t bytes> TULLE_NOINLINE void use() {
    volatile char local[bytes];
    for (std::size_t k = 0; k < bytes; k += 64) local[k] = 1;
    static_cast<void>(local[0]);
}

// So that it is started by the loop, not by its joiner.
template <class F> void run_on_own_stack(F&& start) {
    tulle::latch done(1);
    start(done);
    done.wait();
}

TULLE_NOINLINE void spawn_deep() {
    run_on_own_stack([](tulle::latch& done) {
        tulle::spawn_detached([&done] { // line: deep
            use<100'000>();
            done.count_down();
        });
    });
}

TULLE_NOINLINE void spawn_shallow() {
    run_on_own_stack([](tulle::latch& done) {
        tulle::spawn_detached([&done] { // line: shallow
            use<20'000>();
            done.count_down();
        });
    });
}

void two_sites() {
    spawn_shallow();
    spawn_deep();
    spawn_shallow(); // on the same stack, very likely
}

void thousand() {
    tulle::latch done(1000);
    for (int k = 0; k < 1000; ++k) {
        tulle::spawn_detached([&done, k] { // line: thousand
            k == 500 ? use<50'000>() : use<10'000>();
            done.count_down();
        });
    }
    done.wait();
}

void after_a_wait() {
    run_on_own_stack([](tulle::latch& done) {
        tulle::spawn_detached([&done] {
            tulle::this_thread::sleep_for(std::chrono::milliseconds(2));
            use<30'000>();
            done.count_down();
        });
    });
}

void forked() {
    std::atomic<bool> stolen{false};
    auto child = tulle::fork([&] {
        stolen = true;
        use<40'000>();
    });
    while (!stolen) tulle::detail::cpu_pause(); // by the other worker
    child.join();
}

void own_stack() {
    run_on_own_stack([](tulle::latch& done) {
        tulle::spawn_detached({.stack_size = std::size_t{1} << 20U}, [&done] {
            use<600'000>();
            done.count_down();
        });
    });
}

void compact() {
    run_on_own_stack([](tulle::latch& done) {
        tulle::spawn_detached({.stack_size = 1024}, [&done] { done.count_down(); });
    });
}

void twice() {
    spawn_deep();
    tulle::finalize();
    std::fputs("between\n", stderr);
    spawn_shallow();
}

// Leaves by exit, from a thread on a small stack, with another thread alive.
void exit_from_thread() {
    spawn_deep();
    tulle::latch never(1);
    tulle::spawn_detached([&never] { never.wait(); });
    tulle::spawn_detached({.stack_size = k_small_stack}, [] { std::exit(3); });
    never.wait();
}

void child_process() {
    spawn_deep();
    pid_t const child = ::fork();
    if (child == 0) {
        spawn_shallow();
        std::exit(0);
    }
    ::waitpid(child, nullptr, 0);
}

// With TULLE_GUARD=none: into what would be the guard.
void beyond_the_end() {
    run_on_own_stack([](tulle::latch& done) {
        tulle::spawn_detached({.stack_size = 65536}, [&done] { // line: beyond
            auto* const here = static_cast<volatile char*>(__builtin_frame_address(0));
            for (int down = 0; down < 65536; down += 64) here[-256 - down] = 1;
            done.count_down();
        });
    });
    // It ends meanwhile.
    for (int k = 0; k < 1000; ++k) tulle::this_thread::sleep_for(std::chrono::milliseconds(10));
}

void nothing() {}

std::map<std::string, void (*)()> const k_ways{{"two_sites", &two_sites},
                                               {"thousand", &thousand},
                                               {"after_a_wait", &after_a_wait},
                                               {"forked", &forked},
                                               {"own_stack", &own_stack},
                                               {"compact", &compact},
                                               {"twice", &twice},
                                               {"exit_from_thread", &exit_from_thread},
                                               {"nothing", &nothing},
                                               {"beyond", &beyond_the_end},
                                               {"child_process", &child_process}};

} // namespace

int main(int, char** arguments) {
    ::alarm(100);
    if (std::string_view(arguments[1]) == "sanitizer") return std::puts(k_sanitizer) < 0 ? 1 : 0;
    static_cast<void>(tulle::worker_count()); // starts the run time
    // Nothing of main's is on the heap when a thread calls exit.
    auto* const way = k_ways.at(arguments[1]);
    way();
    tulle::finalize(); // when all have been measured
    return 0;
}
