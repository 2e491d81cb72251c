// SPDX-License-Identifier: Apache-2.0
#include "diag/fault_handler.hpp"

#include "arch/stack_probe.hpp"
#include "diag/process_copy.hpp"
#include "diag/stack_overflow.hpp"
#include "os/child_program.hpp"
#include "os/memory.hpp"
#include "os/thread.hpp"
#include "sched/worker.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

namespace tulle::diag {

namespace {

std::atomic<bool> g_busy{false}; // a handler is at work, and will end the process
std::atomic<fault_explainer> g_explainer{nullptr};
std::atomic<fault_resolver> g_resolver{nullptr};
struct sigaction g_before {}; // what the handler has replaced: at first, the default action

struct request {
    sched::worker const* on;
    fault what;
    int process;
    fault_explainer explain; // null: it is an overflow
};

void write_request(void* argument) {
    auto const& r = *static_cast<request const*>(argument);
    os::close_descriptors(STDERR_FILENO + 1, ~0U, false);
    if (r.explain != nullptr) return r.explain(r.what.address, STDERR_FILENO);
    write_overflow(*r.on, r.what, r.process, STDERR_FILENO);
}

// The answer to the request is written when this returns. Without memory for a copy the process
// ends without one.
void explain(request& r) noexcept {
    int const child = os::copy_process();
    if (child == 0) write_and_end_copy(&write_request, &r);
    int status = 0;
    if (child > 0) os::wait_for_copy(child, status, true);
}

// What the fault itself tells; no memory is read that the thread may not have.
bool may_be_overflow(sched::worker const& w, fault const& f) noexcept {
    if (stands_on_system_stack(w)) return is_near_stack_pointer(f);
    stack::span const own = w.current == nullptr ? stack::span{} : w.current->stack;
    return suspect(f, own, own.size <= stack::k_compact_bytes ? 0 : os::page_size()) !=
           overflow_kind::none;
}

// What would have come without the handler comes when it returns: the instruction faults again; or,
// if no instruction was the cause, the signal is sent again as it came. By default it ends the
// process.
void end_as_without_us(int signal, siginfo_t* info) noexcept {
    ::sigaction(signal, &g_before, nullptr);
    bool const comes_again = info->si_code > 0 && info->si_code != SI_KERNEL;
    if (!comes_again) ::syscall(SYS_rt_tgsigqueueinfo, ::getpid(), os::thread_id(), signal, info);
}

// Where nothing is mapped no resolver can help, nor where the page that is protected is the one
// that an instruction is fetched from: at its first byte, or at a later one in the next page.
bool is_resolved(siginfo_t const& info, ucontext_t const& where) noexcept {
    constexpr std::uintptr_t k_longest_instruction = 16;
    auto const address = reinterpret_cast<std::uintptr_t>(info.si_addr);
    bool const is_fetch = address - arch::pc_of(where) < k_longest_instruction;
    if (info.si_code != SEGV_ACCERR || is_fetch) return false;
    // Pairs with resolve_faults_by.
    fault_resolver const resolve = g_resolver.load(std::memory_order_acquire);
    return resolve != nullptr && resolve(address);
}

void on_fault(int signal, siginfo_t* info, void* interrupted) {
    int const kept = errno;
    auto const& where = *static_cast<ucontext_t const*>(interrupted);
    sched::worker const* const w = sched::this_worker();
    bool const is_fault = info->si_code > 0 && info->si_code != SI_KERNEL;
    if (is_resolved(*info, where)) {
        errno = kept;
        return;
    }
    if (w != nullptr && is_fault) {
        request r{w,
                  {reinterpret_cast<std::uintptr_t>(info->si_addr), 0, arch::registers_of(where)},
                  ::getpid(),
                  nullptr};
        bool const is_overflow = may_be_overflow(*w, r.what);
        // Pairs with explain_others_by.
        if (!is_overflow) r.explain = g_explainer.load(std::memory_order_acquire);
        if (is_overflow || r.explain != nullptr) {
            r.what.probe_target = arch::probe_target(where);
            // relaxed: guards no data; the other one ends the process
            while (g_busy.exchange(true, std::memory_order_relaxed)) ::pause();
            explain(r);
        }
    }
    end_as_without_us(signal, info);
    errno = kept;
}

bool is_ours(struct sigaction const& action) noexcept {
    return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == &on_fault;
}

bool handle_faults() noexcept {
    struct sigaction wanted {};
    wanted.sa_sigaction = &on_fault;
    wanted.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigfillset(&wanted.sa_mask);
    return ::sigaction(SIGSEGV, &wanted, &g_before) == 0;
}

} // namespace

void explain_overflows() noexcept {
    struct sigaction present {};
    if (::sigaction(SIGSEGV, nullptr, &present) != 0 || is_ours(present) ||
        present.sa_handler != SIG_DFL)
        return;
    static_cast<void>(handle_faults());
}

void stop_explaining_overflows() noexcept {
    struct sigaction present {};
    if (::sigaction(SIGSEGV, nullptr, &present) != 0 || !is_ours(present)) return;
    ::sigaction(SIGSEGV, &g_before, nullptr);
}

bool resolve_faults_by(fault_resolver resolve) noexcept {
    struct sigaction present {};
    if (::sigaction(SIGSEGV, nullptr, &present) != 0) return false;
    g_resolver.store(resolve, std::memory_order_release); // pairs with is_resolved
    return is_ours(present) || handle_faults();
}

void explain_others_by(fault_explainer explain) noexcept {
    g_explainer.store(explain, std::memory_order_release); // pairs with on_fault
}

} // namespace tulle::diag
