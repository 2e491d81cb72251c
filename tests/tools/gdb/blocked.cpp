// SPDX-License-Identifier: Apache-2.0
// Threads in all states, for the test of the debugger's commands. When they are there, a
// breakpoint waits in reached(). With the argument "stay" it says so and waits to be looked at.
#include <tulle/tulle.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

// Stays a function of its own that is called.
#if defined(__clang__)
#define TULLE_KEEP __attribute__((noinline))
#else
#define TULLE_KEEP __attribute__((noinline, noipa))
#endif

namespace {

tulle::mutex g_held;
tulle::latch g_never(1), g_soon(1);
std::atomic<int> g_arrived{0};
std::atomic<bool> g_taken{false}, g_stop{false}; // the second is never set

} // namespace

extern "C" TULLE_KEEP void reached() { __asm__ __volatile__(""); }

TULLE_KEEP void wants_the_mutex() {
    g_arrived.fetch_add(1);
    std::lock_guard const held(g_held);
    __asm__ __volatile__("");
}

TULLE_KEEP void waits_for_the_latch(int depth) {
    if (depth > 0) {
        waits_for_the_latch(depth - 1);
        __asm__ __volatile__("");
        return;
    }
    g_arrived.fetch_add(1);
    g_never.wait();
    __asm__ __volatile__("");
}

TULLE_KEEP void foreign_waits() {
    g_arrived.fetch_add(1);
    g_never.wait();
    __asm__ __volatile__("");
}

TULLE_KEEP void computes() {
    g_arrived.fetch_add(1);
    while (!g_stop.load()) __asm__ __volatile__("");
}

TULLE_KEEP void waits_for_a_moment() {
    g_arrived.fetch_add(1);
    g_soon.wait();
    __asm__ __volatile__("");
}

namespace {

tulle::attributes how(char const* name, int shepherd = -1, std::size_t stack_size = 0) {
    tulle::attributes a;
    a.name = name;
    a.shepherd = shepherd;
    a.stack_size = stack_size;
    return a;
}

// Waits for a forked child that another worker has taken; the child waits for ever.
void forks() {
    auto const child = tulle::fork([] {
        g_taken.store(true);
        waits_for_the_latch(0);
    });
    g_arrived.fetch_add(1);
    while (!g_taken.load()) tulle::this_thread::yield();
}

void wait_for_arrivals(int count) {
    while (g_arrived.load() < count) tulle::this_thread::yield();
}

} // namespace

int main(int argc, char** argv) {
    // One worker each, so that the second one can be kept busy.
    tulle::set_option("shepherds", "2");
    // The worker that is kept busy stays the only one of its shepherd.
    tulle::set_option("max_substitutes", "0");
    tulle::initialize({.workers = 2});
    g_held.lock();
    auto const weaver = tulle::spawn(how("weaver"), &wants_the_mutex);
    auto const deep =
        tulle::spawn(how("deep", -1, std::size_t{1} << 20U), [] { waits_for_the_latch(3); });
    auto const forking = tulle::spawn(how("forking"), &forks);
    auto const soon = tulle::spawn(how("soon", 1), &waits_for_a_moment);
    std::thread foreign(&foreign_waits);
    wait_for_arrivals(6);
    // They announce themselves before they wait.
    tulle::this_thread::sleep_for(std::chrono::milliseconds(100));
    auto const busy = tulle::spawn(how("busy", 1), &computes);
    wait_for_arrivals(7);
    g_soon.count_down();
    auto const later = tulle::spawn(how("later", 1), &computes);
    reached();
    if (argc > 1 && std::strcmp(argv[1], "stay") == 0) {
        std::puts("ready");
        std::fflush(stdout);
        for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
    }
    std::_Exit(0);
}
