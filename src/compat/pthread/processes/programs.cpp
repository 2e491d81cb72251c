// SPDX-License-Identifier: Apache-2.0
// Programs that threads start, and waits for them. A program begins with the mask of the thread
// that starts it, not with that of its worker.
#include "base/spin_lock.hpp"
#include "compat/pthread/c_library/own.hpp"
#include "compat/pthread/files/descriptors.hpp"
#include "compat/pthread/files/known_descriptors.hpp"
#include "compat/pthread/signals/signals.hpp"
#include "io/end_of_process.hpp"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <mutex>
#include <new>

TULLE_OWN(pthread_sigmask);

namespace {

using namespace tulle::posix;

// --- waits for child processes -------------------------------------------------------------------

// At the end of a call that has seen the end of a child: the handler of SIGCHLD, for one.
void run_handlers_after_child() {
    thread* const t = self();
    if (t == nullptr || leaves_handlers()) return;
    kept_errno const kept;
    if (has_arrived_signals(*t)) static_cast<void>(run_handlers(*t));
}
pid_t handling_end_of(pid_t child) {
    if (child > 0) run_handlers_after_child();
    return child;
}

// Until `ask` does not return 0, or a handler ends the wait. `process`: whose end is all that it
// asks for, or 0.
template <class Ask> int until_child(thread& t, pid_t process, Ask ask) {
    test_cancel(&t);
    int found = ask();
    if (found != 0) return found;
    auto& reactor = tulle::io::reactor::instance();
    tulle::io::end_of_process const end(process);
    int const number = end.number();
    for (growing_pause between;;) {
        auto const seen = reactor.look(std::max(number, 0), direction::in);
        if ((found = ask()) != 0) return found;
        int error = EPERM;
        if (number >= 0) {
            kept_errno const kept;
            error =
                reactor.wait(number, direction::in, seen, interruptible(&t, tulle::wait::k_never));
        }
        if (error != 0 && error != ECANCELED) error = between.wait(t);
        if (error != ECANCELED) continue;
        // As in the kernel, the signal that a child has ended does not hide that, nor does its
        // handler, which may wait for all children, come first. It may be late, and tell of one
        // that has been waited for: it does not end the next wait.
        if ((found = ask()) != 0) return found;
        if (attend(t, set_of(SIGCHLD)) != interruption::ends) continue;
        return (found = ask()) != 0 ? found : fail(EINTR);
    }
}

bool is_about_end(int options) noexcept { return (options & (WUNTRACED | WCONTINUED)) == 0; }

pid_t wait_for_child(pid_t process, int* status, int options, rusage* usage) {
    thread* const t = self();
    if (t == nullptr) return TULLE_LIBC(wait4)(process, status, options, usage);
    auto const ask = [=] { return TULLE_LIBC(wait4)(process, status, options | WNOHANG, usage); };
    if ((options & WNOHANG) != 0) return test_cancel(t), ask();
    return until_child(*t, is_about_end(options) ? process : 0, ask);
}

// --- system --------------------------------------------------------------------------------------

// While commands run, the process ignores SIGINT and SIGQUIT.
class ignored_signals {
public:
    void begin() noexcept {
        std::lock_guard const held(m_lock);
        if (m_commands++ != 0) return;
        struct sigaction ignore {};
        ignore.sa_handler = SIG_IGN;
        for (std::size_t k = 0; k != k_signals.size(); ++k)
            change_action(k_signals[k], &ignore, &m_before[k]);
    }
    void end() noexcept {
        std::lock_guard const held(m_lock);
        if (--m_commands != 0) return;
        for (std::size_t k = 0; k != k_signals.size(); ++k)
            change_action(k_signals[k], &m_before[k], nullptr);
    }
    // In a forked child the signals stay ignored while commands of other threads ran.
    void forget() noexcept { ::new (static_cast<void*>(&m_lock)) tulle::base::spin_lock; }
    // What the command is to begin with the standard action of.
    [[nodiscard]] sigset_t standard() noexcept {
        std::lock_guard const held(m_lock);
        sigset_t some;
        sigemptyset(&some);
        for (std::size_t k = 0; k != k_signals.size(); ++k) {
            if (m_before[k].sa_handler != SIG_IGN) sigaddset(&some, k_signals[k]);
        }
        return some;
    }

private:
    static constexpr std::array<int, 2> k_signals{SIGINT, SIGQUIT};

    tulle::base::spin_lock m_lock;
    int m_commands = 0;
    std::array<struct sigaction, 2> m_before{};
};
constinit ignored_signals s_ignored;

// The caller, `t`, or an OS thread if that is null, blocks one signal more.
signal_set block_ends_of_children(thread* t) noexcept {
    sigset_t one = as_sigset(set_of(SIGCHLD)), before;
    if (t == nullptr) return tulle_own_pthread_sigmask(SIG_BLOCK, &one, &before), set_of(before);
    signal_set const now = t->blocked.load(std::memory_order_relaxed); // relaxed: the thread's own
    set_mask(*t, now | set_of(SIGCHLD));
    return now;
}
void return_to_mask(thread* t, signal_set before) noexcept {
    sigset_t const all = as_sigset(before);
    if (t == nullptr)
        tulle_own_pthread_sigmask(SIG_SETMASK, &all, nullptr);
    else
        set_mask(*t, before);
}

// A shell with a command, of a thread or, if that is null, of an OS thread; when it is cancelled,
// the shell is ended.
class command {
public:
    command(thread* t, char const* text) : m_thread(t) {
        s_ignored.begin();
        m_before = block_ends_of_children(t);
        m_error = start(text);
    }
    command(command const&) = delete;
    command& operator=(command const&) = delete;
    ~command() {
        kept_errno const kept;
        if (m_process > 0) {
            kill(m_process, SIGKILL);
            while (TULLE_LIBC(waitpid)(m_process, nullptr, 0) < 0 && errno == EINTR) {}
        }
        s_ignored.end();
        return_to_mask(m_thread, m_before);
    }
    // As system(3) returns it.
    [[nodiscard]] int wait() {
        constexpr int k_cannot_run = 127 << 8;
        if (m_error != 0) return k_cannot_run;
        int status = -1;
        pid_t found = -1;
        do found = wait_for_child(m_process, &status, 0, nullptr);
        while (found < 0 && errno == EINTR);
        m_process = 0;
        return found < 0 ? -1 : status;
    }

private:
    [[nodiscard]] int start(char const* text) noexcept {
        posix_spawnattr_t how;
        if (int const error = posix_spawnattr_init(&how)) return error;
        sigset_t const mask = as_sigset(m_before), standard = s_ignored.standard();
        posix_spawnattr_setsigmask(&how, &mask);
        posix_spawnattr_setsigdefault(&how, &standard);
        posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
        known_descriptors::sharing const around;
        std::array<char const*, 5> const words{"sh", "-c", "--", text, nullptr};
        int const error = TULLE_LIBC(posix_spawn)(&m_process, "/bin/sh", nullptr, &how,
                                                  const_cast<char**>(words.data()), environ);
        posix_spawnattr_destroy(&how);
        if (error != 0) m_process = 0;
        return error;
    }

    thread* m_thread;
    signal_set m_before = 0;
    pid_t m_process = 0; // 0: it has been waited for
    int m_error = 0;
};

} // namespace

void tulle::posix::forget_commands() noexcept { s_ignored.forget(); }

TULLE_INTERPOSE pid_t waitpid(pid_t process, int* status, int options) {
    return handling_end_of(wait_for_child(process, status, options, nullptr));
}
TULLE_INTERPOSE pid_t wait(int* status) {
    return handling_end_of(wait_for_child(-1, status, 0, nullptr));
}

// <sys/wait.h> says of these that no exception leaves them, but a cancellation does.
extern "C" TULLE_API pid_t tulle_wait3(int* status, int options, rusage* usage) asm("wait3");
extern "C" TULLE_API pid_t tulle_wait4(pid_t process, int* status, int options,
                                       rusage* usage) asm("wait4");
pid_t tulle_wait3(int* status, int options, rusage* usage) {
    return handling_end_of(wait_for_child(-1, status, options, usage));
}
pid_t tulle_wait4(pid_t process, int* status, int options, rusage* usage) {
    return handling_end_of(wait_for_child(process, status, options, usage));
}

TULLE_INTERPOSE int waitid(idtype_t kind, id_t id, siginfo_t* about, int options) {
    thread* const t = self();
    if (t == nullptr || about == nullptr || (options & WNOHANG) != 0)
        return test_cancel(t), TULLE_LIBC(waitid)(kind, id, about, options);
    bool const is_one = kind == P_PID && (options & (WSTOPPED | WCONTINUED)) == 0;
    auto const ask = [=] {
        about->si_pid = 0;
        int const error = TULLE_LIBC(waitid)(kind, id, about, options | WNOHANG);
        return error != 0 ? error : about->si_pid != 0 ? 1 : 0;
    };
    int const found = until_child(*t, is_one ? static_cast<pid_t>(id) : 0, ask);
    return std::min(handling_end_of(found), 0);
}

// The C library's own does not know whether commands of threads run: whoever ended last would leave
// signals ignored.
TULLE_INTERPOSE int system(char const* text) {
    if (!is_started() || vfork_children::has_caller()) {
        known_descriptors::sharing const around;
        return TULLE_LIBC(system)(text);
    }
    thread* const t = self();
    if (t != nullptr) run_handlers_at_once(*t); // before it blocks one
    test_cancel(t);
    int const result = command(t, text != nullptr ? text : "exit 0").wait();
    run_handlers_after_child();
    return text != nullptr ? result : result == 0 ? 1 : 0; // whether there is a shell
}

TULLE_INTERPOSE FILE* popen(char const* text, char const* way) {
    known_descriptors::sharing const around;
    inherited_mask const own(self());
    return TULLE_LIBC(popen)(text, way);
}

TULLE_INTERPOSE int posix_spawn(pid_t* process, char const* path,
                                posix_spawn_file_actions_t const* files,
                                posix_spawnattr_t const* how, char* const* words,
                                char* const* variables) {
    known_descriptors::sharing const around;
    inherited_mask const own(self());
    return TULLE_LIBC(posix_spawn)(process, path, files, how, words, variables);
}
TULLE_INTERPOSE int posix_spawnp(pid_t* process, char const* name,
                                 posix_spawn_file_actions_t const* files,
                                 posix_spawnattr_t const* how, char* const* words,
                                 char* const* variables) {
    known_descriptors::sharing const around;
    inherited_mask const own(self());
    return TULLE_LIBC(posix_spawnp)(process, name, files, how, words, variables);
}

// --- exec: returns only if it fails --------------------------------------------------------------

TULLE_INTERPOSE int execve(char const* path, char* const* words, char* const* variables) noexcept {
    inherited_mask const own(self());
    return TULLE_LIBC(execve)(path, words, variables);
}
TULLE_INTERPOSE int execv(char const* path, char* const* words) noexcept {
    inherited_mask const own(self());
    return TULLE_LIBC(execv)(path, words);
}
TULLE_INTERPOSE int execvp(char const* name, char* const* words) noexcept {
    inherited_mask const own(self());
    return TULLE_LIBC(execvp)(name, words);
}
TULLE_INTERPOSE int execvpe(char const* name, char* const* words, char* const* variables) noexcept {
    inherited_mask const own(self());
    return TULLE_LIBC(execvpe)(name, words, variables);
}
TULLE_INTERPOSE int fexecve(int file, char* const* words, char* const* variables) noexcept {
    inherited_mask const own(self());
    return TULLE_LIBC(fexecve)(file, words, variables);
}
TULLE_INTERPOSE int execveat(int folder, char const* path, char* const* words,
                             char* const* variables, int flags) noexcept {
    inherited_mask const own(self());
    return TULLE_LIBC(execveat)(folder, path, words, variables, flags);
}

namespace {

// Of words that are listed up to a null.
std::size_t count_of(char const* first, std::va_list* rest) noexcept {
    std::size_t count = 0;
    for (char const* word = first; word != nullptr; word = va_arg(*rest, char const*)) ++count;
    return count;
}

// With the null.
void copy_words(char** words, std::size_t count, char const* first, std::va_list* rest) noexcept {
    words[0] = const_cast<char*>(first);
    for (std::size_t k = 1; k <= count; ++k) words[k] = va_arg(*rest, char*);
}

enum class exec_kind { path, name, with_variables };

// The words lie on the stack, as the caller may have been forked.
int exec(exec_kind kind, char const* program, char const* first, std::va_list* counted,
         std::va_list* copied) noexcept {
    std::size_t const count = count_of(first, counted);
    auto** const words = static_cast<char**>(__builtin_alloca((count + 1) * sizeof(char*)));
    copy_words(words, count, first, copied);
    switch (kind) {
        case exec_kind::path: return execv(program, words);
        case exec_kind::name: return execvp(program, words);
        default: return execve(program, words, va_arg(*copied, char* const*));
    }
}

} // namespace

TULLE_INTERPOSE int execl(char const* path, char const* first, ...) noexcept {
    std::va_list counted, copied;
    va_start(counted, first);
    va_start(copied, first);
    int const result = exec(exec_kind::path, path, first, &counted, &copied);
    va_end(copied);
    va_end(counted);
    return result;
}

TULLE_INTERPOSE int execlp(char const* name, char const* first, ...) noexcept {
    std::va_list counted, copied;
    va_start(counted, first);
    va_start(copied, first);
    int const result = exec(exec_kind::name, name, first, &counted, &copied);
    va_end(copied);
    va_end(counted);
    return result;
}

TULLE_INTERPOSE int execle(char const* path, char const* first, ...) noexcept {
    std::va_list counted, copied;
    va_start(counted, first);
    va_start(copied, first);
    int const result = exec(exec_kind::with_variables, path, first, &counted, &copied);
    va_end(copied);
    va_end(counted);
    return result;
}
