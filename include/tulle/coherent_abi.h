// SPDX-License-Identifier: Apache-2.0
// What code compiled by `tulle cc` and the run time agree on. Programs do not call this; compilers
// and other run times (such as those that record accesses in tests) do. C11 and C++20; x86-64.
//
// Coherent memory lies in one range of addresses. Each line of it, 64 bytes, has a state byte in a
// table whose place follows from the address alone. The table goes on over all addresses that a
// process may have, and says of other memory that all is allowed, so that nobody has to ask for the
// range. Units of coherence are one or more lines, as an allocation chooses. Before an access, code
// tests whether the state forbids it:
//
//     if (*(uint8_t const*)(TULLE_COHERENT_STATES + (a >> 6)) & FORBIDS) slow_path(a);
//
// That holds for addresses that the access touches, or that lie within a line of them. Others, as
// those of masked accesses that touch nothing, may be no addresses of a process: of them code tests
// first whether they are in the range, `a >> 44 == 2`.
//
// FORBIDS is TULLE_COHERENT_NO_LOAD for a load, also TULLE_COHERENT_NO_STORE for a store, and any
// bit at all for an atomic or volatile access. A check holds until the thread that made it next
// calls something that may synchronise with other hosts. Code may read the states of up to 8 lines
// at once, from any address on: there is a page of zeros behind the last one.
//
// Errors: a slow path always succeeds or ends the program. It ignores what it is told of that is
// no coherent memory, since a check ahead of a loop may name more than the loop touches.
// Contexts: any thread, but no handler of a signal that came from outside of it: what a slow path
// changes may be half done in the thread below, which may also hold a lock that the handler would
// wait for, or stand between a check and its access. Not in the child of a fork, which is ended.
// Memory ordering: none but for atomic accesses, which have the one that they ask for. What other
// hosts wrote becomes visible by synchronising with them.
#pragma once

#include <stdint.h>

#include <tulle/detail/visibility.h>

// The version of what is said here.
#define TULLE_COHERENT_ABI 3u

// Above the version, in what an object file starts with: by which scheme its accesses are checked.
// All of a program are checked by one.
#define TULLE_COHERENT_SCHEME_SHIFT 16
#define TULLE_COHERENT_BY_STATES 0u    // as above
#define TULLE_COHERENT_BY_DIRECTORY 1u // as below
#define TULLE_COHERENT_BY_RACES 2u     // as below: races are looked for
#define TULLE_COHERENT_BY_REFRESH 3u // as by states, but that loads have no checks: they need none

// The range of addresses, and the lines in it.
#define TULLE_COHERENT_RANGE_SHIFT 44 // the range: addresses a with a >> 44 == 2
#define TULLE_COHERENT_RANGE 2u
#define TULLE_COHERENT_LINE_SHIFT 6
#define TULLE_COHERENT_LINE 64u

// The table of states: from that of address 0 on, above where programs lie that are linked to low
// addresses. Addresses of a process are below 2^47.
#define TULLE_COHERENT_STATES ((uint64_t)0x7FFF0000)
#define TULLE_COHERENT_STATES_BYTES ((uint64_t)1 << (47 - TULLE_COHERENT_LINE_SHIFT))
#define TULLE_COHERENT_STATE_OF(address)                                                           \
    (TULLE_COHERENT_STATES + ((uint64_t)(address) >> TULLE_COHERENT_LINE_SHIFT))

// Where the range and its part of the table begin, and how large they are.
#define TULLE_COHERENT_FIRST ((uint64_t)TULLE_COHERENT_RANGE << TULLE_COHERENT_RANGE_SHIFT)
#define TULLE_COHERENT_BYTES ((uint64_t)1 << TULLE_COHERENT_RANGE_SHIFT)
#define TULLE_COHERENT_TABLE TULLE_COHERENT_STATE_OF(TULLE_COHERENT_FIRST)
#define TULLE_COHERENT_TABLE_BYTES (TULLE_COHERENT_BYTES >> TULLE_COHERENT_LINE_SHIFT)

// In the range, and below the memory that is allocated there: where a program lies whose variables
// are coherent memory (`tulle cc --share-globals`), with so much room.
#define TULLE_COHERENT_HEAP (TULLE_COHERENT_FIRST + TULLE_COHERENT_BYTES / 2)
#define TULLE_COHERENT_PROGRAM_BYTES ((uint64_t)1 << 30)
#define TULLE_COHERENT_PROGRAM (TULLE_COHERENT_HEAP - TULLE_COHERENT_PROGRAM_BYTES)

// Bits of a state byte; 0: everything is allowed.
#define TULLE_COHERENT_NO_STORE 1u
#define TULLE_COHERENT_NO_LOAD 2u
#define TULLE_COHERENT_CHANGING 4u  // set with one of the above by whoever changes the state
#define TULLE_COHERENT_NO_ATOMIC 8u // others have copies: the run time does atomic accesses

// What tulle_coherent_atomic does, in bits 0..7 of its last argument. The access has 1 << n bytes,
// n being bits 8..11, and the memory order (__ATOMIC_RELAXED to __ATOMIC_SEQ_CST) is bits 12..15.
#define TULLE_COHERENT_ATOMIC_LOAD 0u
#define TULLE_COHERENT_ATOMIC_STORE 1u
#define TULLE_COHERENT_ATOMIC_SWAP 2u
#define TULLE_COHERENT_ATOMIC_COMPARE 3u // stores `operand` where there is `expected`
#define TULLE_COHERENT_ATOMIC_ADD 4u
#define TULLE_COHERENT_ATOMIC_SUB 5u
#define TULLE_COHERENT_ATOMIC_AND 6u
#define TULLE_COHERENT_ATOMIC_OR 7u
#define TULLE_COHERENT_ATOMIC_XOR 8u
#define TULLE_COHERENT_ATOMIC_SIZE_SHIFT 8
#define TULLE_COHERENT_ATOMIC_ORDER_SHIFT 12

// Of tulle_coherent_borrow: it is stored to after a wait.
#define TULLE_COHERENT_STORES_LATE 2
// Of tulle_coherent_return: how many bytes have been stored is not known.
#define TULLE_COHERENT_STORED_SOME UINT64_MAX

// The scheme of the directory, `tulle cc --scheme=directory`. The byte of a line is its tag: if the
// host alone has the line. Before a store, code puts TULLE_DIRECTORY_LOCKED there; if it was
// exclusive, code stores and puts that back, and otherwise, also where another thread of the host
// has locked it, tulle_directory_store() makes sure that it is. A load loads first. Only if it
// finds the value that fills lines which a host does not have, and the address is in the range,
// tulle_directory_load() brings the line, and code loads again. Both leave the line locked, which
// code ends as tulle_directory_held says. Handlers of signals may neither load nor store coherent
// memory, since the thread below may have a line locked that they would wait for.
#define TULLE_DIRECTORY_EXCLUSIVE 0u
#define TULLE_DIRECTORY_NOT_EXCLUSIVE 1u
#define TULLE_DIRECTORY_LOCKED 0xFFu
// Fills lines that are not there, from an address that is a multiple of 4 on: as floating-point
// numbers, of 4 bytes and of 8, these are quiet NaNs.
#define TULLE_DIRECTORY_NO_DATA 0xFFFABADEu

// A line that a check has locked. After the access, code stores `value` to `*entry`, with release
// order.
struct tulle_directory_held {
    uint64_t* entry; // of the line, in the directory
    uint64_t value;  // that unlocks it
};

// Conventions by which instrumented code calls slow paths. After preserve_all each register but r11
// has its value, vector registers included; after preserve_most each general register but r11. A
// compiler that does not know them can neither define nor call these functions.
#if defined __clang__
#define TULLE_COHERENT_KEEPS_ALL __attribute__((preserve_all))
#define TULLE_COHERENT_KEEPS_MOST __attribute__((preserve_most))
#else
#define TULLE_COHERENT_KEEPS_ALL
#define TULLE_COHERENT_KEEPS_MOST
#endif

#ifdef __cplusplus
extern "C" {
#endif

// Called by a constructor of each instrumented object file, before all others of the program. Ends
// the program where `abi` is not the one of this run time, or where there is no room for the table,
// which is mapped while the program is relocated, since some of its code may run before that; here
// in a program that is linked statically.
TULLE_API void tulle_coherent_start(uint32_t abi);

// Slow paths of one access: the line of `address` may be loaded from, or stored to, afterwards.
TULLE_API TULLE_COHERENT_KEEPS_ALL void tulle_coherent_load(uint64_t address);
TULLE_API TULLE_COHERENT_KEEPS_ALL void tulle_coherent_store(uint64_t address);

// All lines of the bytes [first, last]; nothing where last < first.
TULLE_API TULLE_COHERENT_KEEPS_MOST void tulle_coherent_load_range(uint64_t first, uint64_t last);
TULLE_API TULLE_COHERENT_KEEPS_MOST void tulle_coherent_store_range(uint64_t first, uint64_t last);

// As a range, and `more` times again, each time `stride` bytes (signed) further.
TULLE_API TULLE_COHERENT_KEEPS_MOST void tulle_coherent_load_rows(uint64_t first, uint64_t last,
                                                                  int64_t stride, uint64_t more);
TULLE_API TULLE_COHERENT_KEEPS_MOST void tulle_coherent_store_rows(uint64_t first, uint64_t last,
                                                                   int64_t stride, uint64_t more);

// Does an atomic access where the home of `address` is, and returns what was there before. Values
// have their bytes at the low end. The convention is that of C.
TULLE_API uint64_t tulle_coherent_atomic(uint64_t address, uint64_t operand, uint64_t expected,
                                         uint32_t action);

// The directory's scheme: slow paths of a load and of a store, within a line.
TULLE_API TULLE_COHERENT_KEEPS_ALL void tulle_directory_load(uint64_t address,
                                                             struct tulle_directory_held* held);
TULLE_API TULLE_COHERENT_KEEPS_ALL void tulle_directory_store(uint64_t address,
                                                              struct tulle_directory_held* held);

// `tulle cc --scheme=races`: races are looked for between processes of one machine, which share
// the memory itself. Called in place of tulle_coherent_start, and before each load and store of so
// many bytes in the range; the call is the place of the access in the program. A store of a pointer
// has a call of its own. The next does an atomic access (as tulle_coherent_atomic) and the last one
// comes beside a fence.
TULLE_API void tulle_race_start(uint32_t abi);
TULLE_API void tulle_race_load(uint64_t address, uint64_t bytes);
TULLE_API void tulle_race_store(uint64_t address, uint64_t bytes);
TULLE_API void tulle_race_store_pointer(uint64_t address, uint64_t pointer);
TULLE_API uint64_t tulle_race_atomic(uint64_t address, uint64_t operand, uint64_t expected,
                                     uint32_t action);
TULLE_API void tulle_race_fence(uint32_t order); // __ATOMIC_ACQUIRE to __ATOMIC_SEQ_CST

// In place of __cxa_guard_acquire, _release and _abort of the ABI of C++, for a static variable of
// a function that is coherent memory (`tulle cc --share-globals`), by any scheme: one process of
// all constructs it; the others wait, and let their other threads run meanwhile. Nonzero: the
// caller constructs it, and calls one of the other two afterwards.
TULLE_API int tulle_coherent_guard_acquire(uint64_t* guard);
TULLE_API void tulle_coherent_guard_release(uint64_t* guard);
TULLE_API void tulle_coherent_guard_abort(uint64_t* guard);

// What memmove and memset do, with all checks that it needs, by any scheme; any memory.
TULLE_API void tulle_coherent_copy(void* to, void const* from, uint64_t bytes);
TULLE_API void tulle_coherent_fill(void* to, int byte, uint64_t bytes);
// The bytes of a string with its end, `most` if there is none in so many, as it is to be loaded
// from after this: by states its lines are usable.
TULLE_API uint64_t tulle_coherent_string(uint64_t address, uint64_t most);
// The same for bytes that end with the first one that is `byte` (0 to 255, of which higher bits are
// cut off).
TULLE_API uint64_t tulle_coherent_find(uint64_t address, int byte, uint64_t most);
// For functions that have no checks: memory with what is in these bytes, and back into these what
// was stored there: the first `stored` bytes, or TULLE_COHERENT_STORED_SOME: those that have
// changed, so that one which was stored to, and is as before, is left as others have it meanwhile.
// By states it is the memory itself, as are other addresses, unless `stores` is
// TULLE_COHERENT_STORES_LATE: other threads may run before the function stores, so that no check
// ahead of it holds. Then, and by the directory, it is a copy. Where there is no memory for it the
// program ends.
TULLE_API void* tulle_coherent_borrow(void* at, uint64_t bytes, int stores);
TULLE_API void tulle_coherent_return(void* at, void* borrowed, uint64_t bytes, uint64_t stored);

#ifdef __cplusplus
}
#endif
