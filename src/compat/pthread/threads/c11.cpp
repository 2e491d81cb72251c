// SPDX-License-Identifier: Apache-2.0
// <threads.h>, upon the functions of <pthread.h>: its objects are laid out as theirs.
#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/c_library/own.hpp"
#include "compat/pthread/threads/thread.hpp"

#include <cstdint>
#include <new>

#include <threads.h>

TULLE_OWN(pthread_create);
TULLE_OWN(pthread_detach);
TULLE_OWN(pthread_exit);
TULLE_OWN(pthread_join);
TULLE_OWN(pthread_mutex_init);
TULLE_OWN(pthread_mutex_trylock);
TULLE_OWN(pthread_mutex_timedlock);
TULLE_OWN(pthread_cond_wait);
TULLE_OWN(pthread_cond_timedwait);
TULLE_OWN(pthread_cond_signal);
TULLE_OWN(pthread_cond_broadcast);
TULLE_OWN(pthread_cond_destroy);
TULLE_OWN(pthread_once);
TULLE_OWN(pthread_key_create);
TULLE_OWN(pthread_key_delete);
TULLE_OWN(clock_nanosleep);

namespace {

using namespace tulle::posix;

static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t) && alignof(mtx_t) >= alignof(int*));
static_assert(sizeof(cnd_t) == sizeof(pthread_cond_t) && sizeof(tss_t) == sizeof(pthread_key_t));
static_assert(sizeof(once_flag) == sizeof(pthread_once_t));

pthread_mutex_t* mutex_of(mtx_t* m) noexcept { return reinterpret_cast<pthread_mutex_t*>(m); }
pthread_cond_t* condition_of(cnd_t* c) noexcept { return reinterpret_cast<pthread_cond_t*>(c); }

int code_of(int error) noexcept {
    switch (error) {
        case 0: return thrd_success;
        case EBUSY: return thrd_busy;
        case ENOMEM: return thrd_nomem;
        case ETIMEDOUT: return thrd_timedout;
        default: return thrd_error;
    }
}

void* as_result(int result) noexcept {
    return reinterpret_cast<void*>(static_cast<std::intptr_t>(result));
}

struct beginning {
    thrd_start_t start;
    void* argument;
};

void* begin(void* of) {
    beginning const b = *static_cast<beginning*>(of);
    delete static_cast<beginning*>(of);
    return as_result(b.start(b.argument));
}

} // namespace

TULLE_INTERPOSE int thrd_create(thrd_t* id, thrd_start_t start, void* argument) {
    auto* const b = new (std::nothrow) beginning{start, argument};
    if (b == nullptr) return thrd_nomem;
    int const error = tulle_own_pthread_create(id, nullptr, &begin, b);
    if (error != 0) delete b;
    return code_of(error);
}
TULLE_INTERPOSE int thrd_join(thrd_t id, int* result) {
    void* of_thread = nullptr;
    int const error = tulle_own_pthread_join(id, &of_thread);
    if (error == 0 && result != nullptr)
        *result = static_cast<int>(reinterpret_cast<std::intptr_t>(of_thread));
    return code_of(error);
}
TULLE_INTERPOSE int thrd_detach(thrd_t id) { return code_of(tulle_own_pthread_detach(id)); }
TULLE_INTERPOSE __attribute__((noreturn)) void thrd_exit(int result) {
    tulle_own_pthread_exit(as_result(result));
    __builtin_unreachable();
}
TULLE_INTERPOSE void thrd_yield() { yield_and_attend(); }
// -1: a handler has ended it.
TULLE_INTERPOSE int thrd_sleep(timespec const* time, timespec* rest) {
    int const error = tulle_own_clock_nanosleep(CLOCK_REALTIME, 0, time, rest);
    return error == 0 ? 0 : error == EINTR ? -1 : -2;
}

TULLE_INTERPOSE int mtx_init(mtx_t* m, int kind) {
    bool const is_known = (kind & ~(mtx_recursive | mtx_timed)) == 0;
    if (!is_known) return thrd_error;
    pthread_mutexattr_t how;
    pthread_mutexattr_init(&how);
    pthread_mutexattr_settype(&how, (kind & mtx_recursive) != 0 ? PTHREAD_MUTEX_RECURSIVE
                                                                : PTHREAD_MUTEX_NORMAL);
    int const error = tulle_own_pthread_mutex_init(mutex_of(m), &how);
    pthread_mutexattr_destroy(&how);
    return code_of(error);
}
TULLE_INTERPOSE void mtx_destroy(mtx_t* m) { pthread_mutex_destroy(mutex_of(m)); }
TULLE_INTERPOSE int mtx_lock(mtx_t* m) { return code_of(lock_mutex(mutex_of(m))); }
TULLE_INTERPOSE int mtx_trylock(mtx_t* m) {
    return code_of(tulle_own_pthread_mutex_trylock(mutex_of(m)));
}
TULLE_INTERPOSE int mtx_timedlock(mtx_t* m, timespec const* until) {
    return code_of(tulle_own_pthread_mutex_timedlock(mutex_of(m), until));
}
TULLE_INTERPOSE int mtx_unlock(mtx_t* m) { return code_of(unlock_mutex(mutex_of(m))); }

TULLE_INTERPOSE int cnd_init(cnd_t* c) {
    return code_of(pthread_cond_init(condition_of(c), nullptr));
}
TULLE_INTERPOSE void cnd_destroy(cnd_t* c) { tulle_own_pthread_cond_destroy(condition_of(c)); }
TULLE_INTERPOSE int cnd_wait(cnd_t* c, mtx_t* m) {
    return code_of(tulle_own_pthread_cond_wait(condition_of(c), mutex_of(m)));
}
TULLE_INTERPOSE int cnd_timedwait(cnd_t* c, mtx_t* m, timespec const* until) {
    return code_of(tulle_own_pthread_cond_timedwait(condition_of(c), mutex_of(m), until));
}
TULLE_INTERPOSE int cnd_signal(cnd_t* c) {
    return code_of(tulle_own_pthread_cond_signal(condition_of(c)));
}
TULLE_INTERPOSE int cnd_broadcast(cnd_t* c) {
    return code_of(tulle_own_pthread_cond_broadcast(condition_of(c)));
}

TULLE_INTERPOSE void call_once(once_flag* flag, void (*call)()) {
    tulle_own_pthread_once(reinterpret_cast<pthread_once_t*>(flag), call);
}

TULLE_INTERPOSE int tss_create(tss_t* key, tss_dtor_t destructor) {
    return code_of(tulle_own_pthread_key_create(key, destructor));
}
TULLE_INTERPOSE void tss_delete(tss_t key) { tulle_own_pthread_key_delete(key); }
