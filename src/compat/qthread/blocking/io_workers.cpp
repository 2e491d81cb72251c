// SPDX-License-Identifier: Apache-2.0
// OS threads that make system calls for qthreads: started when all are busy, at most
// MAX_IO_WORKERS; they end when they have had nothing to do for IO_TIMEOUT seconds. Callers that
// are no qthreads make their calls themselves.
#include "base/intrusive_list.hpp"
#include "base/kept_errno.hpp"
#include "compat/qthread/blocking/blocking.hpp"
#include "compat/qthread/library/arguments.hpp"
#include "compat/qthread/library/library.hpp"
#include "compat/qthread/threads/task.hpp"
#include "os/thread.hpp"

#include <qthread/qt_syscalls.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <new>

#include <csignal>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tulle::compat {

namespace {

constexpr std::chrono::seconds k_patience_with_workers{1};

class io_workers {
public:
    // It is never destroyed: threads may outlive static objects.
    static io_workers& instance() {
        static auto* const s_all = ::new (storage()) io_workers;
        return *s_all;
    }

    bool submit(io_job& job) {
        std::lock_guard const held(m_lock);
        if (m_idle <= m_queued && m_running < the().most_io_workers) static_cast<void>(start_one());
        if (m_running == 0) return false;
        m_jobs.push_back(job);
        ++m_queued;
        m_change.notify_one();
        return true;
    }
    // Called when no jobs are to come. A worker in a call that takes for ever stays.
    void end() {
        std::unique_lock held(m_lock);
        m_ends = true;
        m_change.notify_all();
        m_ended.wait_for(held, k_patience_with_workers, [this] { return m_running == 0; });
        m_ends = false;
    }
    // In the child the OS threads are not there, and their calls are of qthreads that are not there
    // either. Who waited for the condition variables is noted in them, so all is made anew.
    void at_fork(fork_phase phase) {
        switch (phase) {
            case fork_phase::before: return m_lock.lock();
            case fork_phase::in_parent: return m_lock.unlock();
            case fork_phase::in_child: ::new (storage()) io_workers;
        }
    }

private:
    io_workers() = default;
    static void* storage() noexcept {
        alignas(io_workers) static std::byte s_storage[sizeof(io_workers)];
        return s_storage;
    }
    // Between calls they take no signals: those are for the program's own threads.
    bool start_one() {
        os::signals_blocked const during_the_start;
        pthread_attr_t how;
        pthread_attr_init(&how);
        pthread_attr_setdetachstate(&how, PTHREAD_CREATE_DETACHED);
        pthread_t made{};
        bool const started = pthread_create(&made, &how, &io_workers::main, this) == 0;
        pthread_attr_destroy(&how);
        m_running += started ? 1 : 0;
        return started;
    }
    static void* main(void* all) {
        static_cast<io_workers*>(all)->serve();
        return nullptr;
    }
    void serve() {
        std::unique_lock held(m_lock);
        while (io_job* const job = take(held)) {
            held.unlock();
            run_with_signals_of_caller(*job);
            job->done.notify(); // the last access
            held.lock();
        }
        --m_running;
        m_ended.notify_all();
    }
    // A command has the mask of its caller, and so has a call that raises a signal (SIGPIPE).
    static void run_with_signals_of_caller(io_job& job) {
        sigset_t own;
        pthread_sigmask(SIG_SETMASK, &job.signals_blocked, &own);
        job.run(&job);
        pthread_sigmask(SIG_SETMASK, &own, nullptr);
    }
    // Null: it is to end.
    io_job* take(std::unique_lock<std::mutex>& held) {
        auto const timeout = std::chrono::seconds(the().io_timeout_s);
        ++m_idle;
        m_change.wait_for(held, timeout, [this] { return m_ends || !m_jobs.empty(); });
        --m_idle;
        io_job* const job = m_jobs.pop_front();
        if (job != nullptr) --m_queued;
        return job;
    }

    std::mutex m_lock; // guards the rest
    std::condition_variable m_change, m_ended;
    base::intrusive_queue<&io_job::next> m_jobs;
    // A job that is queued has an idle OS thread, unless there are as many as may be.
    std::size_t m_running = 0, m_idle = 0, m_queued = 0;
    bool m_ends = false;
};

template <class Call, class Result> struct call_job : io_job {
    explicit call_job(Call& what) : call(what) {
        pthread_sigmask(SIG_BLOCK, nullptr, &signals_blocked);
        run = [](io_job* self) {
            auto& job = *static_cast<call_job*>(self);
            errno = 0;
            job.result = job.call();
            job.error = errno;
        };
    }
    Call& call;
    Result result{};
    int error = 0;
};

template <class Call> auto perform(Call call) -> decltype(call()) {
    if (self() == nullptr) return call();
    call_job<Call, decltype(call())> job(call);
    if (!run_elsewhere(job)) return call();
    if (job.error != 0) base::set_errno(job.error);
    return job.result;
}

} // namespace

bool run_elsewhere(io_job& job) {
    if (!io_workers::instance().submit(job)) return false;
    job.done.wait();
    return true;
}

void end_io_workers() noexcept { io_workers::instance().end(); }
void io_workers_at_fork(fork_phase phase) noexcept { io_workers::instance().at_fork(phase); }

} // namespace tulle::compat

using tulle::compat::is_object_or_null;
using tulle::compat::perform;

int qt_accept(int socket, struct sockaddr* restrict address, socklen_t* restrict address_len) {
    return perform([=] { return ::accept(socket, address, address_len); });
}
int qt_connect(int socket, const struct sockaddr* address, socklen_t address_len) {
    return perform([=] { return ::connect(socket, address, address_len); });
}
int qt_poll(struct pollfd fds[], nfds_t nfds, int timeout) {
    return perform([=] { return ::poll(fds, nfds, timeout); });
}
ssize_t qt_pread(int filedes, void* buf, size_t nbyte, off_t offset) {
    return perform([=] { return ::pread(filedes, buf, nbyte, offset); });
}
ssize_t qt_pwrite(int filedes, void const* buf, size_t nbyte, off_t offset) {
    return perform([=] { return ::pwrite(filedes, buf, nbyte, offset); });
}
ssize_t qt_read(int filedes, void* buf, size_t nbyte) {
    return perform([=] { return ::read(filedes, buf, nbyte); });
}
int qt_select(int nfds, fd_set* restrict readfds, fd_set* restrict writefds,
              fd_set* restrict errorfds, struct timeval* restrict timeout) {
    // The C library reads it itself.
    if (!is_object_or_null<struct timeval>(timeout)) {
        errno = EFAULT;
        return -1;
    }
    return perform([=] { return ::select(nfds, readfds, writefds, errorfds, timeout); });
}
int qt_system(char const* command) {
    return perform([=] { return std::system(command); });
}
pid_t qt_wait4(pid_t pid, int* stat_loc, int options, struct rusage* rusage) {
    return perform([=] { return ::wait4(pid, stat_loc, options, rusage); });
}
ssize_t qt_write(int filedes, void const* buf, size_t nbyte) {
    return perform([=] { return ::write(filedes, buf, nbyte); });
}
