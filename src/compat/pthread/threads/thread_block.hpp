// SPDX-License-Identifier: Apache-2.0
// Thread-local storage, with the C library's struct pthread, for threads that the C library has not
// made: what its pthread_create does to it, done from outside. The dynamic linker fills it in
// (_dl_allocate_tls), so that variables of every library are there. GNU C library 2.34 and later.
// Blocks lie in one range of memory, which tells whose thread a pthread_t is: it is the address of
// the struct pthread. A block is called by the thread pointer that leads to it. It
// is used again, and keeps the cache of malloc.
#pragma once

#include "base/spin_lock.hpp"
#include "compat/pthread/signals/signal_set.hpp"

#include <tulle/detail/attributes.hpp>

#include <cstddef>
#include <cstdint>

#include <pthread.h>

namespace tulle::posix {

struct thread;

class thread_blocks {
public:
    // Null, or why there can be none here: a sentence without a full stop.
    [[nodiscard]] static char const* prepare() noexcept;
    // With a thread in it, whose pthread_t is its block's address; null: no memory. From take to
    // close it is one of those that live (living.hpp).
    [[nodiscard]] static thread* take() noexcept;
    static void give(thread& t) noexcept;
    // It ends: find does not find it any more, nor does whoever has found it use it.
    static void close(thread& t) noexcept;
    // Held for a few instructions at a time, but by find and look_soon.
    [[nodiscard]] static base::spin_lock& lock_of_all() noexcept;
    // In a forked child: `left`, or no thread if it is null, is all that is there.
    static void forget_others(thread const* left) noexcept;
    // The first thread that `is_it` says it is, with the lock of the blocks held, among those that
    // are there and do not end; null: none.
    [[nodiscard]] static thread* find(bool (*is_it)(thread&, signal_set), signal_set set) noexcept;
    // In any context, also that of a handler that has interrupted whoever holds the lock, which is
    // waited for a tenth of a second at most: shows such threads to `is_enough` until it says that
    // they are, then calls `at_end`, all with the lock held. False: it is not to be had.
    [[nodiscard]] static bool look_soon(bool (*is_enough)(thread&, void*), void (*at_end)(void*),
                                        void* argument) noexcept;
    // Whose block the caller's thread pointer leads to; null: none of these.
    [[nodiscard]] static TULLE_INLINE thread* owner(void const* thread_pointer) noexcept {
        auto const at = reinterpret_cast<std::uintptr_t>(thread_pointer);
        if (TULLE_LIKELY(at - s_first >= s_bytes)) return nullptr;
        return reinterpret_cast<thread*>(at + s_behind);
    }
    // The struct pthread of a thread with that thread pointer, of any thread.
    [[nodiscard]] static TULLE_INLINE std::byte* descriptor(void* thread_pointer) noexcept {
        return static_cast<std::byte*>(thread_pointer) - s_descriptor;
    }
    // The other way round.
    [[nodiscard]] static TULLE_INLINE std::byte const* thread_pointer(pthread_t id) noexcept {
        return reinterpret_cast<std::byte const*>(id) + s_descriptor;
    }
    // In a struct pthread: the number that the C library knows its thread by.
    [[nodiscard]] static std::size_t tid_offset() noexcept { return s_tid; }

private:
    static void put_into_list(thread& t) noexcept;
    [[nodiscard]] static std::byte* block_at(std::size_t number) noexcept;
    template <class Is> [[nodiscard]] static thread* first_that(Is is_it) noexcept;

    static std::uintptr_t s_first; // the first block
    static std::uintptr_t s_bytes; // up to the last one, with its first byte; 0: not prepared
    static std::size_t s_behind;   // where a thread lies, from its thread pointer
    static std::size_t s_descriptor, s_tid;
};

} // namespace tulle::posix
