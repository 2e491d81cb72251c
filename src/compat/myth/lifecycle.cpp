// SPDX-License-Identifier: Apache-2.0
// Starting, by the first call or by myth_init, and ending.
#include "compat/myth/environment.hpp"
#include "compat/myth/library.hpp"
#include "compat/myth/run_queue.hpp"

#include <tulle/detail/chosen_size.hpp>
#include <tulle/detail/stack_attachments.hpp>
#include <tulle/runtime.hpp>
#include <tulle/this_thread.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <string>

#include <sys/syscall.h>
#include <unistd.h>

namespace tulle::myth {

myth_globalattr_t& chosen() noexcept {
    static myth_globalattr_t s_chosen = attributes_of_environment();
    return s_chosen;
}

namespace {

using namespace std::chrono_literals;

constexpr auto k_patience = 1s; // of myth_fini, with threads that are alive

// Of OS threads: who holds it does not wait for threads of Tulle, which the same worker may have to
// run.
std::mutex s_lifecycle;
// Options that were set for an earlier start.
bool s_sets_workers = false, s_sets_stack = false;

void set_workers(int wanted) {
    if (wanted == 0 && !s_sets_workers) return;
    s_sets_workers = wanted != 0;
    set_option("workers", "auto"); // it is at most the next one
    set_option("max_workers",
               wanted == 0 ? "auto"
                           : std::to_string(std::max(wanted, detail::default_worker_count())));
    set_option("workers", wanted == 0 ? "auto" : std::to_string(wanted));
}

// The native default has room for that of MassiveThreads. Where nobody asks for another one it is
// the user's to choose.
void set_stack(std::size_t wanted) {
    bool const is_asked_for =
        wanted != k_default_stack || ::secure_getenv("MYTH_DEF_STKSIZE") != nullptr;
    if (!is_asked_for && !s_sets_stack) return;
    s_sets_stack = is_asked_for;
    set_option("stack_size", s_sets_stack ? std::to_string(wanted + k_stack_overhead) : "256K");
}

// Programs keep data for each number of myth_get_worker_num(), which is below that of the workers:
// no other worker runs in place of one unasked.
void keep_workers_apart() {
    if (::secure_getenv("TULLE_MAX_SUBSTITUTES") == nullptr) set_option("max_substitutes", "off");
}

void start_tulle(myth_globalattr_t const& wanted) {
    set_workers(wanted.n_workers);
    set_stack(wanted.stacksize);
    keep_workers_apart();
    // Another thread must not become worker 0, as it may end before the program does.
    if (::syscall(SYS_gettid) == ::getpid())
        initialize();
    else
        static_cast<void>(worker_count());
    // Main is a thread like any other: while what it has created runs, it goes on elsewhere.
    detail::let_main_move();
}

// Of a thread without attributes: Tulle may have been started with a size of its own.
std::size_t usable_by_default() noexcept {
    std::size_t const bytes = detail::chosen_size(detail::size_option::stack_size);
    return bytes > k_stack_overhead ? bytes - k_stack_overhead : 1;
}

void start_as(myth_globalattr_t const& wanted) {
    if (!is_initialized()) {
        start_tulle(wanted);
        the().has_started_tulle = true;
    }
    static_cast<void>(this_thread::get_id()); // makes the caller known where others have started
    open_run_queues();
    the().stack_size = std::min(wanted.stacksize, usable_by_default());
    the().child_first = wanted.child_first != 0;
}

// False: Tulle is somebody else's, or nothing runs.
bool has_tulle_to_end() noexcept {
    std::lock_guard const held(s_lifecycle);
    // relaxed, all of this and the next function: written under the lock
    if (!the().running.load(std::memory_order_relaxed)) return false;
    if (!the().has_started_tulle) the().running.store(false, std::memory_order_relaxed);
    return the().has_started_tulle;
}
void forget_tulle() noexcept {
    std::lock_guard const held(s_lifecycle);
    the().has_started_tulle = false;
    close_run_queues();
    the().running.store(false, std::memory_order_relaxed);
}

// Without the lock, as it waits for threads, which may ask whether all is up: it is, until they
// have ended. 0: it runs no more. EBUSY: threads are alive.
int try_to_end() noexcept {
    if (!has_tulle_to_end()) return 0;
    int const error = guarded([] { finalize(); });
    if (error == 0) forget_tulle();
    return error;
}

bool makes_sense(myth_globalattr_t const& a) noexcept {
    return a.n_workers >= 0 && a.stacksize != 0;
}

} // namespace

int start(myth_globalattr_t const* attr) noexcept {
    std::lock_guard const held(s_lifecycle);
    if (the().running.load(std::memory_order_relaxed)) return 0; // relaxed: written under the lock
    if (attr != nullptr && !makes_sense(*attr)) return EINVAL;
    if (attr != nullptr) chosen() = *attr;
    int const error = guarded([] { start_as(chosen()); });
    if (error == 0) the().running.store(true, std::memory_order_release); // pairs with running
    return error;
}

} // namespace tulle::myth

using namespace tulle::myth;

namespace {

int as_init_result(int error) noexcept {
    if (error != 0) errno = error;
    return error == 0 ? 1 : 0;
}

} // namespace

int myth_init(void) { return as_init_result(start(nullptr)); }
int myth_init_ex(myth_globalattr_t* attr) { return as_init_result(start(attr)); }

void myth_fini(void) {
    // Threads that end may be at their last steps still.
    auto const until = std::chrono::steady_clock::now() + k_patience;
    while (try_to_end() == EBUSY && std::chrono::steady_clock::now() < until)
        tulle::this_thread::sleep_for(100us);
}
