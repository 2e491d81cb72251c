// SPDX-License-Identifier: Apache-2.0
// Functions that are public under a second name, which some libraries call.
#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/c_library/own.hpp"
#include "compat/pthread/threads/thread.hpp"

#include <cstdarg>

#include <fcntl.h>

// `other` does what `name` does.
#define TULLE_OTHER_NAME(result, other, name, parameters, arguments)                               \
    TULLE_OWN(name);                                                                               \
    TULLE_INTERPOSE result other parameters { return tulle_own_##name arguments; }

TULLE_OTHER_NAME(int, __pthread_mutex_trylock, pthread_mutex_trylock, (pthread_mutex_t * m), (m))
TULLE_OTHER_NAME(int, __pthread_rwlock_rdlock, pthread_rwlock_rdlock, (pthread_rwlock_t * l), (l))
TULLE_OTHER_NAME(int, __pthread_rwlock_tryrdlock, pthread_rwlock_tryrdlock, (pthread_rwlock_t * l),
                 (l))
TULLE_OTHER_NAME(int, __pthread_rwlock_wrlock, pthread_rwlock_wrlock, (pthread_rwlock_t * l), (l))
TULLE_OTHER_NAME(int, __pthread_rwlock_trywrlock, pthread_rwlock_trywrlock, (pthread_rwlock_t * l),
                 (l))
TULLE_OTHER_NAME(int, __pthread_rwlock_unlock, pthread_rwlock_unlock, (pthread_rwlock_t * l), (l))
TULLE_OTHER_NAME(int, __pthread_once, pthread_once, (pthread_once_t * o, void (*f)()), (o, f))
TULLE_OTHER_NAME(int, __pthread_mutex_init, pthread_mutex_init,
                 (pthread_mutex_t * m, pthread_mutexattr_t const* how), (m, how))
TULLE_OTHER_NAME(ssize_t, __read, read, (int number, void* data, size_t size), (number, data, size))
TULLE_OTHER_NAME(ssize_t, __write, write, (int number, void const* data, size_t size),
                 (number, data, size))
TULLE_OTHER_NAME(ssize_t, __pread64, pread, (int number, void* data, size_t size, off64_t at),
                 (number, data, size, at))
TULLE_OTHER_NAME(ssize_t, __pwrite64, pwrite,
                 (int number, void const* data, size_t size, off64_t at), (number, data, size, at))
TULLE_OTHER_NAME(ssize_t, __send, send, (int number, void const* data, size_t size, int flags),
                 (number, data, size, flags))
TULLE_OTHER_NAME(int, __close, close, (int number), (number))
TULLE_OTHER_NAME(int, __dup2, dup2, (int number, int becomes), (number, becomes))
TULLE_OTHER_NAME(int, __connect, connect, (int number, sockaddr const* to, socklen_t size),
                 (number, to, size))
TULLE_OTHER_NAME(int, __poll, poll, (pollfd * asked, nfds_t count, int ms), (asked, count, ms))
TULLE_OTHER_NAME(int, __select, select,
                 (int count, fd_set* in, fd_set* out, fd_set* other, timeval* time),
                 (count, in, out, other, time))
TULLE_OTHER_NAME(int, __nanosleep, nanosleep, (timespec const* time, timespec* rest), (time, rest))
TULLE_OTHER_NAME(pid_t, __wait, wait, (int* status), (status))
TULLE_OTHER_NAME(pid_t, __waitpid, waitpid, (pid_t process, int* status, int options),
                 (process, status, options))
TULLE_OTHER_NAME(int, __sigaction, sigaction,
                 (int number, struct sigaction const* wanted, struct sigaction* before),
                 (number, wanted, before))
TULLE_OTHER_NAME(int, __sigsuspend, sigsuspend, (sigset_t const* set), (set))

TULLE_INTERPOSE int __pthread_mutex_lock(pthread_mutex_t* m) { return tulle::posix::lock_mutex(m); }
TULLE_INTERPOSE int __pthread_mutex_unlock(pthread_mutex_t* m) {
    return tulle::posix::unlock_mutex(m);
}
TULLE_INTERPOSE int __sched_yield() { return tulle::posix::yield_and_attend(); }
extern "C" TULLE_API int
tulle_pthread_yield() asm("pthread_yield"); // a name that <pthread.h> hides
int tulle_pthread_yield() { return tulle::posix::yield_and_attend(); }

TULLE_OWN(fcntl);
TULLE_INTERPOSE int __fcntl(int number, int command, ...) {
    std::va_list list;
    va_start(list, command);
    void* const argument = va_arg(list, void*);
    va_end(list);
    return tulle_own_fcntl(number, command, argument);
}
