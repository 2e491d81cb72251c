// SPDX-License-Identifier: Apache-2.0
// Starting and ending. The thread that initialises becomes the native worker 0, as the first
// qthread of Qthreads.
#include "base/option.hpp"
#include "compat/qthread/blocking/blocking.hpp"
#include "compat/qthread/library/environment.hpp"
#include "compat/qthread/library/lateness.hpp"
#include "compat/qthread/library/library.hpp"
#include "compat/qthread/library/places.hpp"
#include "compat/qthread/library/process_fork.hpp"
#include "compat/qthread/library/result.hpp"
#include "compat/qthread/sync/locks.hpp"
#include "compat/qthread/threads/futures.hpp"
#include "compat/qthread/threads/task.hpp"

#include <tulle/detail/chosen_size.hpp>
#include <tulle/detail/stack_attachments.hpp>
#include <tulle/detail/worker_decisions.hpp>
#include <tulle/runtime.hpp>
#include <tulle/this_thread.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <unistd.h>

namespace tulle::compat {

library& the() noexcept {
    static constinit library s_the;
    return s_the;
}

namespace {

using namespace std::chrono_literals;

// Of finalise, with qthreads that are alive, while none ends and no worker computes.
constexpr auto k_patience_with_qthreads = 1s;
constexpr auto k_between_looks = 10ms; // a worker that has not come back meanwhile computes
constexpr std::size_t k_default_stack = 32768;
constexpr std::size_t k_usual_native_stack = std::size_t{256} << 10U;
constexpr std::size_t k_default_io_workers = 10;
constexpr std::size_t k_default_io_timeout_s = 8;
// What the variables may say: the largest native stack holds the first.
constexpr std::size_t k_most_stack = (std::size_t{1} << 30U) - k_stack_overhead;
constexpr std::size_t k_most_local = std::size_t{1} << 30U;
constexpr std::size_t k_most_io_workers = 1000;
constexpr std::size_t k_most_seconds = 1'000'000;

std::mutex s_lifecycle;
task* s_main = nullptr;
pid_t s_process = 0;                             // which finalises when it exits; 0: none does yet
bool s_sets_shape = false, s_sets_stack = false; // options that were set for an earlier start

void set_number(char const* option, std::size_t value) {
    set_option(option, value == 0 ? "auto" : std::to_string(value));
}

// One for each, where there may be so many, and as many for those that are blocked, too; at least
// one for each shepherd.
std::size_t with_stand_ins(std::size_t workers) noexcept {
    return std::min(3 * workers, std::size_t{base::k_most_workers});
}

void set_shape(shape const& wanted) {
    if (wanted.shepherds == 0 && !s_sets_shape) return;
    s_sets_shape = wanted.shepherds != 0;
    set_number("workers", 0); // it is at most the next one
    set_number("max_workers", s_sets_shape ? with_stand_ins(wanted.most) : 0);
    set_number("workers", wanted.most);
    set_number("shepherds", wanted.shepherds);
}

void set_stacks() {
    std::size_t const wanted = number_of("STACK_SIZE", 0, k_most_stack);
    if (wanted != 0) {
        std::size_t const bytes = std::max(wanted, k_default_stack) + k_stack_overhead;
        set_option("stack_size", std::to_string(bytes));
    } else if (s_sets_stack) {
        set_option("stack_size", std::to_string(k_usual_native_stack));
    }
    s_sets_stack = wanted != 0;
}

// What a qthread may use of a stack of the run time, whoever has started that. Who has asked for
// stacks of a size needs them; the usual ones are larger than the default of Qthreads.
std::size_t promised_stack() noexcept {
    std::size_t const native = detail::chosen_size(detail::size_option::stack_size);
    if (native == k_usual_native_stack) return k_default_stack;
    return native - std::min(k_stack_overhead, native / 2);
}

// Programs keep data for each number of qthread_worker(), as only one qthread at a time has it: no
// worker runs in place of another unasked.
void keep_workers_apart() {
    if (::secure_getenv("TULLE_MAX_SUBSTITUTES") == nullptr) set_option("max_substitutes", "off");
}

// How many workers are enabled at the start, of as many for each shepherd; 0: all.
std::size_t read_environment() {
    the().most_io_workers = number_of("MAX_IO_WORKERS", k_default_io_workers, k_most_io_workers);
    the().io_timeout_s = number_of("IO_TIMEOUT", k_default_io_timeout_s, k_most_seconds);
    the().tasklocal_size =
        std::max(number_of("TASKLOCAL_SIZE", sizeof(void*), k_most_local), sizeof(void*));
    if (is_initialized()) return 0;
    shape const wanted = wanted_shape(static_cast<std::size_t>(detail::default_worker_count()));
    set_shape(wanted);
    set_stacks();
    keep_workers_apart();
    return wanted.workers;
}

void start_library() {
    std::size_t const enabled = read_environment();
    if (!is_initialized()) {
        initialize();
        the().has_started_tulle = true;
    }
    // After Tulle, which then is told later of a fork, and whose locks are taken within ours.
    expect_process_forks();
    // Makes the caller known where others have started Tulle.
    static_cast<void>(this_thread::get_id());
    the().shepherds = static_cast<std::size_t>(shepherd_count());
    the().workers = static_cast<std::size_t>(worker_count());
    the().workers_each = (the().workers + the().shepherds - 1) / the().shepherds;
    the().stack_size = promised_stack();
    if (enabled != 0) disable_workers_from(enabled);
    the().next_task_id.store(1, std::memory_order_relaxed); // relaxed, both: published by `running`
    the().next_team_id.store(QTHREAD_DEFAULT_TEAM_ID + 1, std::memory_order_relaxed);
    s_main = new task;
    s_main->is_main = true;
    s_main->local_size = static_cast<unsigned>(the().tasklocal_size);
    set_self(s_main);
}

// Programs that do not look at the result would wait for ever for qthreads that they never forked.
void start_or_tell() try { start_library(); } catch (std::exception const& e) {
    std::fprintf(stderr, "qthreads: cannot start: %s\n", e.what());
    throw;
}

void tell() {
    if (number_of("INFO", 0, std::numeric_limits<std::size_t>::max()) == 0) return;
    std::fprintf(stderr,
                 "qthreads: %zu shepherds, %zu workers each, stacks of %zu bytes, %zu bytes of "
                 "local memory\n",
                 the().shepherds, the().workers_each, the().stack_size, the().tasklocal_size);
}

// Whether something has got on between two calls, of which the second comes k_between_looks after
// the first or later.
class progress {
public:
    [[nodiscard]] bool look() {
        bool const has_ended = std::exchange(m_ended, the().live_tasks.ended_so_far()) != m_ended;
        bool computes = false;
        int const own = this_thread::worker_index();
        for (std::size_t k = 0; k != m_decisions.size(); ++k) {
            std::int64_t const now = detail::decisions_of_worker(static_cast<int>(k));
            bool const is_same = std::exchange(m_decisions[k], now) == now;
            computes = computes || (is_same && now >= 0 && static_cast<int>(k) != own);
        }
        return has_ended || computes;
    }

private:
    std::size_t m_ended = 0;
    std::vector<std::int64_t> m_decisions =
        std::vector<std::int64_t>(static_cast<std::size_t>(worker_slot_count()), -1);
};

struct own_worker {
    static std::chrono::steady_clock::time_point now() noexcept {
        return std::chrono::steady_clock::now();
    }
    static std::chrono::nanoseconds computed() noexcept {
        timespec used{};
        ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
        return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
    }
    static int worker() noexcept { return this_thread::worker_index(); }
};

// Workers that belong to somebody else may compute for ever.
void wait_for_tasks() noexcept try {
    using clock = std::chrono::steady_clock;
    progress seen;
    lateness<own_worker> late(k_between_looks);
    auto looked = clock::now();
    auto until = looked + k_patience_with_qthreads;
    // Looked at again and again, so that the end of a task, millions of times, need not ask whether
    // somebody waits for the last.
    while (the().live_tasks.now() != 0 && clock::now() < until) {
        late.begin();
        this_thread::sleep_for(100us);
        auto const now = clock::now();
        if (!the().has_started_tulle || now < looked + k_between_looks) continue;
        looked = now;
        bool const got_on = seen.look();
        if (got_on) late.something_gets_on();
        if (got_on || late.is_telling()) until = now + k_patience_with_qthreads;
    }
} catch (std::exception const&) {} // no memory

// Unless it belongs to somebody else. Threads that wait for ever go on doing so, and the next
// initialise takes up what runs.
void end_tulle() noexcept {
    if (!the().has_started_tulle) return;
    try {
        finalize();
    } catch (std::system_error const&) {
        return;
    }
    the().has_started_tulle = false;
}

// In a child that the program has forked there are no other workers.
void finalize_at_exit() {
    if (::getpid() == s_process) qthread_finalize();
}
void finalize_at_exit_once() {
    if (std::exchange(s_process, ::getpid()) == 0 && std::atexit(&finalize_at_exit) != 0)
        s_process = 0;
}

} // namespace

} // namespace tulle::compat

using namespace tulle::compat;
namespace detail = tulle::detail;

int qthread_initialize() {
    std::lock_guard const held(s_lifecycle);
    if (the().is_running()) return QTHREAD_SUCCESS;
    int const error = guarded(&start_or_tell);
    if (error != QTHREAD_SUCCESS) return error;
    finalize_at_exit_once();
    tell();
    the().running.store(true, std::memory_order_release); // pairs with is_running
    return QTHREAD_SUCCESS;
}

int qthread_init(qthread_shepherd_id_t nshepherds) {
    if (nshepherds == 0) return qthread_initialize();
    char number[8]; // of five digits at most
    static_cast<void>(std::snprintf(number, sizeof number, "%hu", nshepherds));
    if (::setenv("QT_NUM_SHEPHERDS", number, 1) != 0) return QTHREAD_MALLOC_ERROR;
    if (::setenv("QT_NUM_WORKERS_PER_SHEPHERD", "1", 1) != 0) return QTHREAD_MALLOC_ERROR;
    return qthread_initialize();
}

void qthread_finalize() {
    task* const me = self();
    if (!the().is_running() || me == nullptr || !me->is_main) return;
    wait_for_tasks();
    end_io_workers();
    end_futures();
    set_self(nullptr);
    end_tulle();
    forget_places();
    forget_locks();
    delete s_main;
    s_main = nullptr;
    the().running.store(false, std::memory_order_release); // pairs with is_running
}
