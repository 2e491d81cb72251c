// SPDX-License-Identifier: Apache-2.0
#include "diag/answer.hpp"

#include "diag/process_copy.hpp"
#include "diag/report.hpp"
#include "diag/report_request.hpp"
#include "diag/snapshot.hpp"
#include "os/child_program.hpp"
#include "os/memory.hpp"
#include "sched/scheduler.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tulle::diag {

namespace {

std::atomic<bool> g_busy{false}; // a handler is at work
void* g_mark = nullptr;
bool g_leaves_ignored = false;
sighandler_t g_before = SIG_DFL; // what SIGQUIT did without us: the default or nothing

struct request {
    int process = 0; // that the report is about
    int sender = 0;
    int descriptor = -1; // of the sender; -1: none
};

// --- in the copy ---------------------------------------------------------------------------------

int open_output(request const& r) noexcept {
    char path[64];
    static_cast<void>(std::snprintf(path, sizeof path, "/proc/%d/fd/%d", r.sender, r.descriptor));
    int const theirs = r.descriptor < 0 ? -1 : ::open(path, O_WRONLY | O_CLOEXEC);
    if (theirs < 0 || theirs > STDERR_FILENO) return theirs < 0 ? STDERR_FILENO : theirs;
    return ::fcntl(theirs, F_DUPFD_CLOEXEC, STDERR_FILENO + 1); // the program has closed that one
}

void write_answer(void* argument) {
    auto const& r = *static_cast<request const*>(argument);
    int const output = open_output(r);
    close_all_but(output);
    write_report(sched::scheduler::instance(), {.is_request = true}, r.process, output);
}

// --- in the process ------------------------------------------------------------------------------

request read_request(siginfo_t const& info) noexcept {
    request r{::getpid(), info.si_pid, -1};
    auto const value = reinterpret_cast<std::uintptr_t>(info.si_value.sival_ptr);
    if (info.si_code == SI_QUEUE && value >> 32U == k_request_magic)
        r.descriptor = static_cast<int>(value & 0xFFFFFFFFU);
    return r;
}

void on_request(int signal, siginfo_t* info, void* interrupted) {
    int const kept = errno;
    halt const here;
    auto const& where = *static_cast<ucontext_t const*>(interrupted);
    // acquire and release pair with each other: one request after the other. What comes meanwhile
    // is dropped.
    request r = read_request(*info);
    bool const is_passed_on = is_from_stopper(*info);
    // The shell has background jobs ignore the keyboard's.
    bool const is_wanted = r.descriptor >= 0 || g_before != SIG_IGN;
    if (!stand_still_if_asked(where) && !is_passed_on && is_wanted &&
        !g_busy.exchange(true, std::memory_order_acquire)) {
        sched::scheduler& s = sched::scheduler::instance();
        s.pause_watcher(true); // it would find the workers in the kernel
        stop_workers(s, signal, where);
        static_cast<void>(write_in_copy(&write_answer, &r)); // where it fails nobody can be told
        let_workers_go();
        s.pause_watcher(false);
        g_busy.store(false, std::memory_order_release);
    }
    errno = kept;
}

bool is_ours(struct sigaction const& action) noexcept {
    return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == &on_request;
}

// Mapped, so that it is seen from outside; nobody reads it.
void* make_mark() noexcept {
    os::memory_file const named(k_answering_mark);
    void* const mark = ::mmap(nullptr, 1, PROT_NONE, MAP_PRIVATE, named.descriptor(), 0);
    return mark == MAP_FAILED ? nullptr : mark;
}

} // namespace

bool answers_requests() noexcept {
    struct sigaction present {};
    return ::sigaction(SIGQUIT, nullptr, &present) == 0 && is_ours(present);
}

void answer_requests() noexcept {
    struct sigaction present {};
    if (::sigaction(SIGQUIT, nullptr, &present) != 0 || is_ours(present)) return;
    if (present.sa_handler != SIG_DFL && present.sa_handler != SIG_IGN) return;
    if (g_leaves_ignored && present.sa_handler == SIG_IGN) return;
    g_before = present.sa_handler;
    struct sigaction wanted {};
    wanted.sa_sigaction = &on_request;
    wanted.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    sigfillset(&wanted.sa_mask);
    if (::sigaction(SIGQUIT, &wanted, nullptr) == 0) g_mark = make_mark();
}

void leave_ignored() noexcept { g_leaves_ignored = true; }

void forget_request() noexcept {
    g_busy.store(false, std::memory_order_relaxed); // relaxed: there is one thread
    forget_copies();
    forget_stop();
}

void stop_answering() noexcept {
    struct sigaction present {};
    if (::sigaction(SIGQUIT, nullptr, &present) == 0 && is_ours(present)) {
        present = {};
        present.sa_handler = g_before;
        ::sigaction(SIGQUIT, &present, nullptr);
    }
    if (g_mark != nullptr) os::system_memory().release(g_mark, 1);
    g_mark = nullptr;
    await_copies();
}

} // namespace tulle::diag
