/* SPDX-License-Identifier: Apache-2.0 */
/* Coherent memory in C: memory that all places load from and store to, each perhaps in a copy of
 * its own. Sources that access it are compiled by `tulle cc` (tulle-cc(1)), which asks for the
 * right copy ahead of each access. What a place stores becomes visible to another one that
 * synchronises with it: the one calls tulle_coherent_release() before, the other
 * tulle_coherent_acquire() after. The faces for other systems (PARMACS) do so themselves. For C11
 * and C++20.
 *
 * Places on several hosts have each a copy, and so do places of one host with the option `coherent`
 * = private or pages, as if each were a host of its own; with pages a source need not be compiled
 * by `tulle cc`: stores are found by the protection of pages. Otherwise, if all are on one host,
 * they have one copy, all functions but those that allocate do nothing, and any compiler will do.
 * A place that dies ends the program, as what it has stored is lost.
 *
 * A copy is that of all threads of its place. They synchronise with each other as they always do,
 * and what one of them releases or acquires it does for all. They may use the copy at the same
 * time, on several workers; a place takes care of that where it may ever have several, as the
 * options max_workers and max_substitutes say together, not where it has them.
 *
 * Handlers of signals that others send, timers among them (SIGALRM, SIGUSR1, all but those of a
 * fault of the thread itself), neither load nor store coherent memory, with one thread or many. A
 * handler may come between a check and its access, or while the library changes the copy for the
 * thread below it: a store would be lost, or the handler wait for ever for what its own thread has.
 * It may set a variable of the program that is no coherent memory, at which a thread looks. No
 * handler leaves what it has interrupted by a jump or the end of its thread: that may be a load or
 * a store that waits, and others would wait for it for ever.
 *
 * The child of a fork takes no part. Where places have copies it leaves the memory alone, as what
 * it stored would change its parent's copy and nothing that its parent knows of it. Where it
 * misses, releases or acquires it ends with a message, but not each access is seen. Without copies
 * it shares the memory with its parent.
 *
 * After tulle_finalize() a place may still load what its copy has. Where another host would have to
 * be asked or told, by a miss, an atomic or volatile access or a release, the program ends with a
 * message: what is needed later is to be copied before.
 *
 * A load or a store that has to wait for what another host has written lets other threads of its
 * place run, as waits do, and the thread may go on on another worker; with an atomic access, and
 * the first store to what nobody has written, its worker waits. One that holds a lock of the C
 * library should not be the first to touch what another host has written. By pages its worker waits
 * with it.
 *
 * Objects of Tulle and of POSIX threads (mutexes, channels, full/empty words and others) may not
 * lie there: each place would have one of its own, or pointers to the threads of another place.
 * Nothing refuses them, and the program crashes or hangs. C11 atomics of up to 8 bytes may, but not
 * by pages; and so may buffers for the functions of <tulle/c/io.h>, but no lists of buffers.
 *
 * Contexts: threads of Tulle; those that begin, allocate and free may wait. Errors are negative
 * errno values. */
#ifndef TULLE_COHERENT_MEMORY_H
#define TULLE_COHERENT_MEMORY_H

#include <tulle/detail/visibility.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* By place 0, before anybody uses the memory: all places take part. It has the size of global
 * memory (the option global_memory). Again: nothing. -EOPNOTSUPP: the option on_place_death is
 * throw; what a dead place had would be lost. -EINVAL: coherent_unit or coherent_large_unit is no
 * power of two. -ENOEXEC: the program was compiled by `tulle cc` for races, or not at all, and the
 * option `coherent` is not `pages`. -EXDEV, -EUSERS: it was compiled with --scheme=directory, and
 * places are on several hosts, or more than 63; or there are more than 254 copies. -ENOMEM,
 * -EEXIST, others: it cannot be mapped. After an error the next call returns it again. */
TULLE_API int tulle_coherent_begin(void);

/* `size` bytes, not initialised. -ENOMEM: no hole is large enough. -EINVAL: null, or no bytes. */
TULLE_API int tulle_coherent_malloc(void** address, size_t size);
/* The same with units of so many bytes, a power of two from 64 to 4096: that is how much is copied
 * at once, from the one that has it to who loads any of it. Small where several places write side
 * by side, large where each reads or writes long runs. tulle_coherent_malloc() has units of the
 * option coherent_unit, or coherent_large_unit. A hint: all have the size of coherent_unit by
 * pages, by the directory, and where so many places or so much memory leave no addresses for more.
 * -EINVAL: there are no units of that size. */
TULLE_API int tulle_coherent_malloc_units(void** address, size_t size, size_t unit);
/* Null: nothing. -EINVAL: no allocation begins there, or it has been freed, as far as nobody has
 * got the same part of global memory since: that is freed then, as by free(). */
TULLE_API int tulle_coherent_free(void* address);

/* By place 0, while no other thread of any place stores to them: pages of variables of the program,
 * which lies where `tulle cc --share-globals` links it, become coherent memory, with what place 0
 * has in them.
 * -EINVAL: that is not so, or they are no whole pages. -ENOMEM, others: a place cannot map them,
 * and the program cannot go on. */
TULLE_API int tulle_coherent_adopt(void* address, size_t size);
/* Until it is called only one place uses the memory. By that place, while none of its other threads
 * does, before it lets others go on, which see all of it then. Again: nothing. */
TULLE_API void tulle_coherent_share(void);
TULLE_API void tulle_coherent_release(void);
TULLE_API void tulle_coherent_acquire(void);
/* Before code that was not compiled by `tulle cc` loads from so many bytes, or also stores to them,
 * until the thread next synchronises, or lets another thread run. Other memory is left alone. A
 * program that was compiled with --scheme=directory has no such time; it calls
 * tulle_coherent_borrow() (tulle/coherent_abi.h). */
TULLE_API void tulle_coherent_use(const void* address, size_t size, int stores);

#ifdef __cplusplus
}
#endif

#endif
