// SPDX-License-Identifier: Apache-2.0
//
// The functions that are replaced. The program exports them, so the dynamic linker binds the
// library's calls to them, too.
#include "inject.hpp"

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <new>

#include <dlfcn.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

extern "C" void* __libc_malloc(std::size_t bytes);
extern "C" void* __libc_calloc(std::size_t count, std::size_t bytes);
extern "C" void* __libc_realloc(void* block, std::size_t bytes);
extern "C" void __libc_free(void* block);

namespace {

using fault::kind;

#define FAULT_CALLER __builtin_extract_return_addr(__builtin_return_address(0))

/// The function that this program hides.
template <auto Function> auto* hidden(char const* name) noexcept {
    static constinit std::atomic<void*> s_found{nullptr};
    // relaxed: whoever looks it up finds the same
    void* found = s_found.load(std::memory_order_relaxed);
    if (found == nullptr) s_found.store(found = dlsym(RTLD_NEXT, name), std::memory_order_relaxed);
    return reinterpret_cast<decltype(Function)>(found);
}
#define FAULT_HIDDEN(name) (hidden<&::name>(#name))

bool refuse(kind of, int error, void* caller) noexcept {
    if (!fault::fails_now(of, caller)) return false;
    errno = error;
    return true;
}

void* allocate(std::size_t bytes, void* caller) noexcept {
    if (refuse(kind::allocation, ENOMEM, caller)) return nullptr;
    void* const block = __libc_malloc(bytes);
    fault::note_block(block, caller);
    return block;
}

void release(void* block) noexcept {
    fault::forget_block(block);
    __libc_free(block);
}

void* allocate_or_throw(std::size_t bytes, void* caller) {
    void* const block = allocate(bytes == 0 ? 1 : bytes, caller);
    if (block == nullptr) throw std::bad_alloc();
    return block;
}

void* allocate_aligned(std::size_t bytes, std::size_t alignment, void* caller) noexcept {
    if (refuse(kind::allocation, ENOMEM, caller)) return nullptr;
    void* block = nullptr;
    if (FAULT_HIDDEN(posix_memalign)(&block, alignment, bytes) != 0) return nullptr;
    fault::note_block(block, caller);
    return block;
}

} // namespace

// --- memory from the allocator -------------------------------------------------------------------

void* operator new(std::size_t bytes) { return allocate_or_throw(bytes, FAULT_CALLER); }
void* operator new[](std::size_t bytes) { return allocate_or_throw(bytes, FAULT_CALLER); }
void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept {
    return allocate(bytes, FAULT_CALLER);
}
void* operator new[](std::size_t bytes, std::nothrow_t const&) noexcept {
    return allocate(bytes, FAULT_CALLER);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
    void* const block = allocate_aligned(bytes, static_cast<std::size_t>(alignment), FAULT_CALLER);
    if (block == nullptr) throw std::bad_alloc();
    return block;
}
void* operator new(std::size_t bytes, std::align_val_t alignment, std::nothrow_t const&) noexcept {
    return allocate_aligned(bytes, static_cast<std::size_t>(alignment), FAULT_CALLER);
}
void operator delete(void* block) noexcept { release(block); }
void operator delete[](void* block) noexcept { release(block); }
void operator delete(void* block, std::size_t) noexcept { release(block); }
void operator delete[](void* block, std::size_t) noexcept { release(block); }
void operator delete(void* block, std::nothrow_t const&) noexcept { release(block); }
void operator delete[](void* block, std::nothrow_t const&) noexcept { release(block); }
void operator delete(void* block, std::align_val_t) noexcept { release(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { release(block); }
void operator delete(void* block, std::align_val_t, std::nothrow_t const&) noexcept {
    release(block);
}

extern "C" {

void* malloc(std::size_t bytes) noexcept { return allocate(bytes, FAULT_CALLER); }
void* calloc(std::size_t count, std::size_t bytes) noexcept {
    if (refuse(kind::allocation, ENOMEM, FAULT_CALLER)) return nullptr;
    void* const block = __libc_calloc(count, bytes);
    fault::note_block(block, FAULT_CALLER);
    return block;
}
void* realloc(void* block, std::size_t bytes) noexcept {
    if (refuse(kind::allocation, ENOMEM, FAULT_CALLER)) return nullptr;
    void* const moved = __libc_realloc(block, bytes);
    if (moved == nullptr) return nullptr;
    fault::forget_block(block);
    fault::note_block(moved, FAULT_CALLER);
    return moved;
}
void free(void* block) noexcept { release(block); }

// --- memory from the system ----------------------------------------------------------------------

void* mmap(void* address, std::size_t bytes, int protection, int flags, int file,
           off_t offset) noexcept {
    void* const caller = FAULT_CALLER;
    if (refuse(kind::mmap, ENOMEM, caller)) return MAP_FAILED;
    void* const mapped = FAULT_HIDDEN(mmap)(address, bytes, protection, flags, file, offset);
    bool const replaces = (flags & MAP_FIXED) != 0; // what is mapped there, and counted
    if (mapped != MAP_FAILED && !replaces)
        fault::note_mapping(static_cast<std::ptrdiff_t>(bytes), caller);
    return mapped;
}
int munmap(void* address, std::size_t bytes) noexcept {
    void* const caller = FAULT_CALLER;
    if (refuse(kind::munmap, ENOMEM, caller)) return -1;
    int const result = FAULT_HIDDEN(munmap)(address, bytes);
    if (result == 0) fault::note_mapping(-static_cast<std::ptrdiff_t>(bytes), caller);
    return result;
}
int mprotect(void* address, std::size_t bytes, int protection) noexcept {
    return refuse(kind::mprotect, ENOMEM, FAULT_CALLER)
               ? -1
               : FAULT_HIDDEN(mprotect)(address, bytes, protection);
}
int madvise(void* address, std::size_t bytes, int advice) noexcept {
    return refuse(kind::madvise, EINVAL, FAULT_CALLER)
               ? -1
               : FAULT_HIDDEN(madvise)(address, bytes, advice);
}

// --- memory of other processes -------------------------------------------------------------------

int ftruncate(int file, off_t bytes) noexcept {
    return refuse(kind::shared_file, ENOMEM, FAULT_CALLER) ? -1
                                                           : FAULT_HIDDEN(ftruncate)(file, bytes);
}
ssize_t process_vm_readv(pid_t process, iovec const* local, unsigned long local_count,
                         iovec const* remote, unsigned long remote_count,
                         unsigned long flags) noexcept {
    if (refuse(kind::read_memory, EPERM, FAULT_CALLER)) return -1;
    return FAULT_HIDDEN(process_vm_readv)(process, local, local_count, remote, remote_count, flags);
}

// --- threads -------------------------------------------------------------------------------------

int pthread_create(pthread_t* made, pthread_attr_t const* attributes, void* (*run)(void*),
                   void* argument) noexcept {
    if (fault::fails_now(kind::thread, FAULT_CALLER)) return EAGAIN;
    return FAULT_HIDDEN(pthread_create)(made, attributes, run, argument);
}
int pthread_setaffinity_np(pthread_t thread, std::size_t bytes, cpu_set_t const* set) noexcept {
    if (fault::fails_now(kind::affinity, FAULT_CALLER)) return EINVAL;
    return FAULT_HIDDEN(pthread_setaffinity_np)(thread, bytes, set);
}
int pthread_setname_np(pthread_t thread, char const* name) noexcept {
    if (fault::fails_now(kind::affinity, FAULT_CALLER)) return ERANGE;
    return FAULT_HIDDEN(pthread_setname_np)(thread, name);
}
int sched_getaffinity(pid_t process, std::size_t bytes, cpu_set_t* set) noexcept {
    return refuse(kind::affinity, EINVAL, FAULT_CALLER)
               ? -1
               : FAULT_HIDDEN(sched_getaffinity)(process, bytes, set);
}

// --- what is read about the machine --------------------------------------------------------------

std::FILE* fopen(char const* path, char const* mode) {
    return refuse(kind::file, EMFILE, FAULT_CALLER) ? nullptr : FAULT_HIDDEN(fopen)(path, mode);
}
std::FILE* fopen64(char const* path, char const* mode) {
    return refuse(kind::file, EMFILE, FAULT_CALLER) ? nullptr : FAULT_HIDDEN(fopen64)(path, mode);
}

// --- system calls by number ----------------------------------------------------------------------

long syscall(long number, ...) noexcept {
    void* const caller = FAULT_CALLER;
    std::va_list list;
    va_start(list, number);
    long words[6];
    for (long& word : words) word = va_arg(list, long);
    va_end(list);
    constexpr long k_process_madvise = 440;
    bool const waits = number == SYS_futex && (words[1] & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET;
    bool const registers =
        number == SYS_membarrier && words[0] == MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED;
    if (waits && refuse(kind::futex_eintr, EINTR, caller)) return -1;
    if (waits && refuse(kind::futex_eagain, EAGAIN, caller)) return -1;
    if (number == SYS_membarrier && refuse(kind::membarrier, registers ? EPERM : ENOMEM, caller))
        return -1;
    if (number == k_process_madvise && refuse(kind::advise_batch, EPERM, caller)) return -1;
    return FAULT_HIDDEN(syscall)(number, words[0], words[1], words[2], words[3], words[4],
                                 words[5]);
}

} // extern "C"
