// SPDX-License-Identifier: Apache-2.0
//
// Threads with names, stacks of their own sizes, a shepherd, a child that goes first, large
// closures; detached ones.
#include "inject.hpp"

#include <tulle/tulle.hpp>

#include <array>
#include <atomic>
#include <cstring>

namespace {

std::atomic<int> g_ran{0};
int g_started = 0;

void work() {
    char frame[8000];
    std::memset(frame, 1, sizeof frame);
    tulle::this_thread::yield();
    g_ran.fetch_add(frame[17], std::memory_order_relaxed);
}

void start(tulle::attributes const& how) {
    tulle::thread<void> thread;
    g_started += fault::attempt([&] { thread = tulle::spawn(how, &work); });
    if (thread.joinable()) thread.join();
}

void start_several() {
    start({.stack_size = std::size_t{64} << 10U});
    start({.stack_size = std::size_t{1} << 20U});
    start({.shepherd = 0});
    start({.child_first = true});
    start({.name = "a name that is too long to lie in the string itself"});
    start({.stack_size = 16384, .shepherd = 0, .child_first = true, .name = "all of it"});
}

// The closure lies on the heap.
FAULT_LIBRARY_PART void start_large() {
    std::array<int, 32> values{};
    values[5] = 1;
    tulle::thread<int> thread;
    g_started += fault::attempt([&] { thread = tulle::spawn([values] { return values[5]; }); },
                                fault::allows::bad_alloc_too);
    if (thread.joinable()) g_ran.fetch_add(thread.join(), std::memory_order_relaxed);
}

void start_detached() {
    g_started += fault::attempt(
        [&] { tulle::spawn_detached(tulle::attributes{.name = "detached"}, &work); });
}

void rename() {
    fault::attempt([] { tulle::this_thread::set_name("the name of the thread that began it all"); },
                   fault::allows::bad_alloc_too);
    fault::attempt([] { static_cast<void>(tulle::this_thread::name()); },
                   fault::allows::bad_alloc_too);
}

void body() {
    g_ran = 0;
    g_started = 0;
    fault::run_time const running(2);
    start_several();
    start_large();
    start_detached();
    rename();
    while (g_ran != g_started) tulle::this_thread::yield();
}

} // namespace

int main() { return fault::run(&body); }
