// SPDX-License-Identifier: Apache-2.0
// The C library's functions beneath the ones of the same names here. They are found when they are
// first called, each for itself: the search may allocate, and an allocator may lock or read.
#pragma once

#include <tulle/detail/attributes.hpp>

#include <atomic>

#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include <fcntl.h>
#include <mqueue.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

// What pthread_atfork calls, which is in the program itself.
extern "C" int __register_atfork(void (*prepare)(), void (*parent)(), void (*child)(),
                                 void* library) noexcept;

// A function of the program's C library that this library has one of its own for.
#define TULLE_INTERPOSE extern "C" TULLE_API
// Likewise one that may be unwound, as a handler that runs while it waits may end the thread,
// though the C library's header has it throw nothing.
#define TULLE_INTERPOSE_WAIT(name, parameters)                                                     \
    extern "C" TULLE_API int tulle_wait_##name parameters asm(#name);                              \
    extern "C" TULLE_API int tulle_wait_##name parameters

namespace tulle::posix {

[[nodiscard]] void* find_in_libc(std::atomic<void*>& place, char const* name) noexcept;
// All that the run time calls itself.
void find_all_in_libc() noexcept;
// Of any library of the program, or null: of a variable of threads, the caller's.
[[nodiscard]] void* find_symbol(char const* name) noexcept;

template <class F>
[[nodiscard]] inline F in_libc(std::atomic<void*>& place, char const* name) noexcept {
    void* found = place.load(std::memory_order_relaxed); // relaxed: it is always the same
    if (TULLE_UNLIKELY(found == nullptr)) found = find_in_libc(place, name);
    return reinterpret_cast<F>(found);
}

} // namespace tulle::posix

extern "C" {
#define TULLE_INTERPOSED(name)                                                                     \
    extern __attribute__((visibility("hidden"))) std::atomic<void*> tulle_libc_##name;
#define TULLE_EXPORTED(name)
#define TULLE_SECOND(name)
#include "compat/pthread/symbols.def"
#undef TULLE_INTERPOSED
#undef TULLE_EXPORTED
#undef TULLE_SECOND
}

#define TULLE_LIBC(name) (::tulle::posix::in_libc<decltype(&::name)>(::tulle_libc_##name, #name))
