// SPDX-License-Identifier: Apache-2.0
// Ties the option table to the scheduler, and starts and stops both.
#include "runtime/runtime.hpp"

#include "arch/fiber_annotations.hpp"
#include "base/error.hpp"
#include "base/foreign_sanitizer.hpp"
#include "base/misspelt_option.hpp"
#include "base/sanitize.hpp"
#include "diag/answer.hpp"
#include "diag/explain_report.hpp"
#include "diag/fault_handler.hpp"
#include "diag/stack_use_report.hpp"
#include "diag/watch.hpp"
#include "io/reactor.hpp"
#include "membership/membership.hpp"
#include "membership/mpi_job.hpp"
#include "os/memory.hpp"
#include "os/private_descriptor.hpp"
#include "sched/first_use.hpp"
#include "sched/scheduler.hpp"
#include "sched/watch/live_threads.hpp"

#include <tulle/detail/chosen_size.hpp>
#include <tulle/runtime.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <sys/syscall.h>
#include <unistd.h>

namespace tulle::runtime {

namespace {

using base::option_id;

constexpr std::uint64_t k_patience_ns = 100'000'000; // of stop(), with threads that are alive

bool is_main_thread() noexcept { return syscall(SYS_gettid) == getpid(); }

stack::guard_choice guard_choice_of(std::uint64_t word) noexcept {
    switch (word) {
        case base::k_guard_install: return stack::guard_choice::install;
        case base::k_guard_mprotect: return stack::guard_choice::mprotect;
        case base::k_guard_none: return stack::guard_choice::none;
        default: return stack::guard_choice::automatic;
    }
}

void warn_of_refused(std::vector<base::refused_variable> const& variables) {
    for (base::refused_variable const& each : variables)
        base::warn("%s; taken is %s", each.error.c_str(), each.taken.c_str());
}

void warn_of_misspelt() {
    for (std::string const& sentence : base::misspelt_options(environ))
        base::warn("%s", sentence.c_str());
}

void warn_of_sanitizer() noexcept {
    if (char const* const sentence = base::warning_of_foreign_sanitizer())
        base::warn("%s", sentence);
}

// What `start` returns, or ENOMEM.
template <class Start> start_result result_of(Start start) noexcept {
    try {
        return start();
    } catch (std::bad_alloc const&) {
        return {ENOMEM};
    }
}

diag::deadlock_action deadlock_action_of(std::uint64_t word) noexcept {
    switch (word) {
        case base::k_deadlock_off: return diag::deadlock_action::off;
        case base::k_deadlock_warn: return diag::deadlock_action::warn;
        default: return diag::deadlock_action::abort;
    }
}

// Merges the groups of the machine into as many as were asked for, or cuts the one group into that
// many.
void regroup(os::topology& machine, std::size_t wanted) {
    if (wanted == 0 || wanted == machine.groups.size()) return;
    std::vector<int> cpus;
    for (auto const& group : machine.groups)
        cpus.insert(cpus.end(), group.cpus.begin(), group.cpus.end());
    machine.groups.assign(wanted, {});
    for (std::size_t k = 0; k < std::max(cpus.size(), wanted); ++k) {
        machine.groups[k * wanted / std::max(cpus.size(), wanted)].cpus.push_back(
            cpus[k % cpus.size()]);
    }
}

// `number`: counted from 1; 0: none.
void reserve_cpu(os::topology& machine, std::uint64_t number) {
    if (number != 0 && !os::set_aside(machine, static_cast<std::size_t>(number - 1)))
        base::warn("the option reserve_cpu is %llu, but there are %d CPUs: none is kept",
                   static_cast<unsigned long long>(number), machine.allowed_cpus);
}

} // namespace

std::optional<worker_limits> limits_of(base::option_table const& options,
                                       os::topology const& machine) {
    bool const is_deterministic = options.number(option_id::seed) != 0;
    auto const asked = is_deterministic ? 1 : static_cast<int>(options.number(option_id::workers));
    auto const most = static_cast<int>(options.number(option_id::max_workers));
    if (most != 0 && asked > most) return std::nullopt;
    if (most != 0)
        return worker_limits{asked != 0 ? asked : std::min(machine.default_workers, most), most};
    int const workers = asked != 0 ? asked : machine.default_workers;
    return worker_limits{workers, std::max(workers, machine.machine_cpus)};
}

// The default, unless the user has set it, is longer with several places: an answer over a network
// takes longer than a worker that is alone searches for work, and waking one as long again.
std::uint64_t spin_us(base::option_table const& options) {
    constexpr std::uint64_t k_round_trip_us = 100;
    auto const said = options.get(option_id::spin_us);
    return said.source == base::option_source::built_in && membership::is_in_mpi_job()
               ? k_round_trip_us
               : said.number;
}

std::optional<sched::settings> settings_of(base::option_table const& options, bool adopt_caller) {
    sched::settings s;
    s.seed = options.number(option_id::seed);
    // A deterministic run has one worker.
    s.machine = s.seed == 0 ? os::discover() : os::undivided();
    reserve_cpu(s.machine, s.seed == 0 ? options.number(option_id::reserve_cpu) : 0);
    int const share = std::max(1, (s.machine.machine_cpus - (s.machine.reserved_cpu >= 0 ? 1 : 0)) /
                                      membership::places_of_host());
    s.machine.default_workers = std::min(s.machine.default_workers, share);
    auto const limits = limits_of(options, s.machine);
    if (!limits) return std::nullopt;
    s.workers = limits->workers;
    s.max_workers = limits->most;
    s.max_substitutes = static_cast<int>(options.number(option_id::max_substitutes));
    s.main_may_move = options.number(option_id::main_moves) != 0;
    s.stack_size = options.number(option_id::stack_size);
    s.guard = guard_choice_of(options.number(option_id::guard));
    s.spin_ns = spin_us(options) * 1000;
    s.most_stacks = options.number(option_id::max_stacks);
    s.most_unstarted = static_cast<std::uint32_t>(options.number(option_id::max_unstarted));
    s.adopt_caller = adopt_caller;
    s.explains = options.number(option_id::explain) != 0;
    s.measures_stacks =
        options.number(option_id::stack_report) != 0 && arch::may_read_unused_stack();
    s.on_late_overflow = s.measures_stacks ? &diag::end_for_overflow : nullptr;
    s.on_deadlock = diag::watch(deadlock_action_of(options.number(option_id::deadlock)));
    s.first_check_ns = options.number(option_id::deadlock_ms) * 1'000'000;
    s.awaits_signal = &diag::awaits_signal;
    s.find_circle = &diag::find_circle;
    regroup(s.machine, options.number(option_id::shepherds));
    s.deals_evenly = options.number(option_id::shepherds) != 0;
    return s;
}

namespace {

// Once it has been made. Handlers of forks do not ask for it by the(), which would wait in a child
// for a thread that has been about to make it in the parent.
std::atomic<instance*> g_made{nullptr};

instance* make(void* storage) {
    auto* const made = ::new (storage) instance;
    g_made.store(made, std::memory_order_release); // pairs with if_there
    return made;
}

} // namespace

// It is never destroyed: threads may outlive static objects.
instance& the() {
    alignas(instance) static std::byte s_storage[sizeof(instance)];
    static auto* const r = make(s_storage);
    return *r;
}

namespace {

template <class F> void if_there(F call) {
    instance* const one = g_made.load(std::memory_order_acquire); // pairs with make
    if (one != nullptr) call(*one);
}
void on_fork() {
    if_there([](instance& one) { one.before_process_fork(); });
}
void on_fork_in_parent() {
    if_there([](instance& one) { one.after_process_fork(false); });
}
void on_fork_in_child() {
    if_there([](instance& one) { one.after_process_fork(true); });
}

// An object that another thread is about to make when it is first asked for would never be there in
// the child.
void make_what_is_made_once() noexcept {
    static_cast<void>(io::reactor::instance());
    static_cast<void>(os::page_size());
}

} // namespace

void instance::before_process_fork() noexcept {
    make_what_is_made_once();
    m_lock.lock(); // nobody waits for a thread of ours while holding it
    m_is_prepared_for_fork = true;
    m_cpus.before_process_fork();
    sched::scheduler::instance().around_fork().prepare();
}

void instance::after_process_fork(bool in_child) noexcept {
    if (!std::exchange(m_is_prepared_for_fork, false)) return; // made since the fork began
    auto& threads = sched::scheduler::instance().around_fork();
    in_child ? threads.in_child() : threads.in_parent();
    if (in_child) m_owes_stacks = m_owes_explanation = false; // the parent's
    if (in_child) membership::forget();
    if (in_child) diag::forget_request();
    if (in_child) io::reactor::instance().forget();
    m_cpus.after_process_fork(in_child);
    if (in_child) os::private_descriptor::forget_all();
    m_lock.unlock();
}

void expect_process_forks() {
    static int const s_error = pthread_atfork(&on_fork, &on_fork_in_parent, &on_fork_in_child);
    if (s_error != 0) base::fatal("cannot register for fork: %s", std::strerror(s_error));
}

instance::instance() {
    expect_process_forks();
    warn_of_refused(m_options.read_environment());
    warn_of_misspelt();
    warn_of_sanitizer();
}

start_result instance::start(bool adopt_caller) {
    std::unique_lock held(m_lock);
    start_result const result = start_as(m_options, adopt_caller);
    held.unlock();
    if (result.error == 0) join_places();
    return result;
}

start_result instance::start_alone() {
    std::lock_guard const held(m_lock);
    return start_as(m_options, false);
}

// Called without the lock: at other places than the first it does not return.
void instance::join_places() {
    if (!membership::is_asked_to_join()) return;
    if (!is_main_thread())
        base::fatal("with several places the main thread must be the first that uses Tulle: call "
                    "tulle::initialize() there");
    if (sched::scheduler::instance().is_deterministic())
        base::fatal("a deterministic run has one place: leave out the seed, or the places");
    membership::join_from_environment();
}

start_result instance::start_as(base::option_table const& options, bool adopt_caller) {
    if (sched::scheduler::instance().is_running()) return {EALREADY};
    auto const chosen =
        settings_of(options, adopt_caller && sched::process_fork::may_adopt_caller());
    if (!chosen) return {EINVAL};
    start_result const result = start_all(services(), {options, *chosen, m_cpus});
    if (result.error == 0) owe_reports(options);
    if (result.error == 0) expect_end_of_process();
    return result;
}

// The thread sanitizer tells of OS threads that have ended and that nobody has joined. Nobody else
// minds them, and to wait for a lock at the end of a process has dangers of its own, as where a
// handler of a signal calls exit.
void instance::expect_end_of_process() noexcept {
    if (!base::k_thread_sanitizer) return;
    auto const prepare = [] { sched::scheduler::instance().prepare_end_of_process(); };
    if (!m_expects_end) m_expects_end = std::atexit(prepare) == 0;
}

void instance::owe_reports(base::option_table const& options) noexcept {
    bool const of_stacks = options.number(option_id::stack_report) != 0;
    m_owes_stacks = of_stacks && sched::scheduler::instance().uses_of_stacks() != nullptr;
    if (of_stacks && !m_owes_stacks)
        base::warn("the option stack_report does nothing under Valgrind");
    m_owes_explanation = options.number(option_id::explain) != 0;
    if ((m_owes_stacks || m_owes_explanation) && !m_reports_at_exit)
        m_reports_at_exit = std::atexit([] { the().report(); }) == 0;
}

void instance::write_reports() noexcept {
    auto& s = sched::scheduler::instance();
    if (std::exchange(m_owes_stacks, false)) diag::report_stack_uses(*s.uses_of_stacks());
    if (std::exchange(m_owes_explanation, false)) diag::explain(s.watching());
}

// Threads may be alive and go on during this call.
void instance::report() noexcept {
    std::unique_lock const held(m_lock, std::try_to_lock);
    if (held) write_reports();
}

// The options that are given hold from now on, if the start succeeds.
start_result instance::start_with(std::uint64_t workers, std::uint64_t stack_size) {
    std::unique_lock held(m_lock);
    if (sched::scheduler::instance().is_running()) return {EALREADY};
    if (workers > base::k_most_workers) return {EINVAL};
    base::option_table options = m_options;
    if (workers != 0 && options.set(option_id::workers, workers, base::option_source::api))
        return {EINVAL};
    if (stack_size != 0 && options.set(option_id::stack_size, stack_size, base::option_source::api))
        return {EINVAL};
    start_result const result = start_as(options, true);
    if (result.error == 0) m_options = options;
    held.unlock();
    if (result.error == 0) join_places();
    return result;
}

// Detached threads that are done with their work may not quite have ended, so this waits for them
// for a while. The lock is not held during the wait.
int instance::stop() {
    auto& s = sched::scheduler::instance();
    std::uint64_t const give_up = sched::now_ns() + k_patience_ns;
    for (;;) {
        std::unique_lock held(m_lock);
        if (!s.is_running()) return EINVAL;
        int const error = s.may_stop();
        if (error == EPERM || (error != 0 && sched::now_ns() >= give_up)) return error;
        if (error == 0 && !s.caller_has_end()) {
            stop_all(services(), {m_options, s.chosen(), m_cpus});
            write_reports();
            return 0;
        }
        held.unlock();
        error == 0 ? s.end_caller() : sched::yield();
    }
}

std::string instance::describe_live_threads() {
    std::lock_guard const held(m_lock);
    auto& s = sched::scheduler::instance();
    return s.is_running() ? sched::describe_live_threads(s) : "no threads are alive";
}

// Called without m_lock: stop() holds it while threads of the caller's worker run.
int instance::set_workers(int wanted, os::cgroup_files const& cgroups) try {
    if (int const error = the().cpus().set_workers(wanted, cgroups); error != ENOTSUP) return error;
    sched::scheduler& s = sched::scheduler::instance();
    if (wanted != 0) return s.active().set_count(wanted);
    os::allowance const now = allowance_now(cgroups);
    s.active().move_to(now.cpus);
    return s.active().set_count(
        std::min(os::workers_for(static_cast<int>(now.cpus.size()), now.quota_cpus),
                 s.chosen().max_workers));
} catch (std::bad_alloc const&) {
    return ENOMEM;
}

std::uint64_t instance::seed() {
    std::lock_guard const held(m_lock);
    return m_options.number(option_id::seed);
}

base::option_error instance::set_option(std::string_view name, std::string_view value) {
    std::lock_guard const held(m_lock);
    return m_options.set(name, value, base::option_source::api);
}

std::uint64_t instance::number_of(base::option_id id) noexcept {
    std::lock_guard const held(m_lock);
    return m_options.number(id);
}

void instance::forget_options() {
    std::lock_guard const held(m_lock);
    m_options = {};
    warn_of_refused(m_options.read_environment());
}

} // namespace tulle::runtime

namespace tulle::sched {

int start_on_first_use() noexcept {
    int const error =
        runtime::result_of([] { return runtime::the().start(runtime::is_main_thread()); }).error;
    return error == EALREADY ? 0 : error;
}

bool seed_is_set() { return runtime::the().seed() != 0; }

} // namespace tulle::sched

namespace tulle {

void initialize(options const& chosen) {
    if (chosen.workers < 0) base::check_error(EINVAL, "tulle::initialize: workers is negative");
    auto const workers = static_cast<std::uint64_t>(chosen.workers);
    auto const result =
        runtime::result_of([&] { return runtime::the().start_with(workers, chosen.stack_size); });
    char call[96] = "tulle::initialize"; // needs no memory, of which there may be none
    if (result.failed != nullptr)
        std::snprintf(call, sizeof call, "tulle::initialize: cannot start %s", result.failed);
    else if (result.error == EALREADY)
        std::strcpy(call, "tulle::initialize: the run time has started, perhaps by an earlier use");
    else if (result.error == EINVAL)
        std::strcpy(call, "tulle::initialize: workers or stack_size are out of range");
    base::check_error(result.error, call);
}

void finalize() {
    int const error = runtime::the().stop();
    if (error == EBUSY) base::throw_error(error, ("tulle::finalize: " + live_threads()).c_str());
    base::check_error(error, error == EINVAL ? "tulle::finalize: the run time does not run"
                                             : "tulle::finalize: this thread has not initialized");
}

std::string live_threads() { return runtime::the().describe_live_threads(); }

bool is_initialized() noexcept { return sched::scheduler::instance().is_running(); }

int worker_count() { return sched::running_scheduler().active().count(); }

int max_worker_count() { return sched::running_scheduler().chosen().max_workers; }

int worker_slot_count() { return sched::running_scheduler().most_workers(); }

void set_worker_count(int wanted) {
    static_cast<void>(sched::this_fiber());
    int const error = runtime::instance::set_workers(wanted);
    if (error == EINVAL)
        base::throw_error(error, ("tulle::set_worker_count: " + std::to_string(wanted) +
                                  " is not from 0 to " + std::to_string(max_worker_count()) +
                                  " (the option max_workers)")
                                     .c_str());
    base::check_error(error, "tulle::set_worker_count");
}

void want_cpus(cpu_wish const& wanted) {
    static_cast<void>(sched::this_fiber());
    base::check_error(runtime::the().cpus().want(wanted), "tulle::want_cpus");
}

std::vector<int> own_cpus() {
    static_cast<void>(sched::this_fiber());
    return runtime::the().cpus().own();
}

int shepherd_count() { return static_cast<int>(sched::running_scheduler().shepherds().size()); }

std::uint64_t detail::chosen_size(size_option which) noexcept {
    return runtime::the().number_of(which == size_option::stack_size
                                        ? base::option_id::stack_size
                                        : base::option_id::global_memory);
}

void set_option(std::string_view name, std::string_view value) {
    if (is_initialized())
        base::check_error(EALREADY, "tulle::set_option: the run time has started");
    if (auto const refused = runtime::the().set_option(name, value))
        throw std::invalid_argument(*refused);
}

} // namespace tulle
