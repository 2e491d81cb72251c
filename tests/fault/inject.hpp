// SPDX-License-Identifier: Apache-2.0
//
// Programs in which one call of the library to the system fails. `PROGRAM --fail KIND:N` makes the
// N-th call of that kind fail, and only that one (`N+`: all from then on); `--where` shows its
// stack. calls.cpp has the functions that are replaced, and with which errors. Only the library's
// calls count: those that come from its shared object, also through libstdc++ and libc, and from
// its inline code in functions marked FAULT_LIBRARY_PART.
// A program is one body that is run twice: the first run meets the failure, the second is left in
// peace and must succeed. sweep.py tries one N after the other.
// Of a program of several places, started by `tulle run`, one place meets the failure: that of the
// number FAULT_PLACE.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <new>
#include <system_error>

namespace fault {

enum class kind : std::uint8_t {
    none,
    allocation,
    mmap,
    munmap,
    mprotect,
    madvise,
    advise_batch,
    futex_eintr,
    futex_eagain,
    membarrier,
    thread,
    affinity,
    file,
    shared_file,
    read_memory,
    count
};

// --- for the replaced functions (calls.cpp) ------------------------------------------------------

// Whether this call is the one that fails. `caller`: its return address.
[[nodiscard]] bool fails_now(kind of, void* caller) noexcept;
// What the library holds: blocks from the allocator, bytes of mappings.
void note_block(void* block, void* caller) noexcept;
void forget_block(void* block) noexcept;
void note_mapping(std::ptrdiff_t bytes, void* caller) noexcept;

// --- for programs --------------------------------------------------------------------------------

#define FAULT_LIBRARY_PART [[gnu::noinline, gnu::section("library_part")]]

// Calls count between arm() and disarm(); in the second run never.
void arm() noexcept;
void disarm() noexcept;

// Ends the process with 1 and this sentence.
void require(bool condition, char const* sentence) noexcept;

// Counts an error that the documentation of the call allows; any other ends the process.
void note_error(int error, char const* what) noexcept;

// Whether each call fails from one on. Then there may be no memory for the text of an error either,
// and calls may fail for good.
[[nodiscard]] bool is_lasting() noexcept;

enum class allows { system_error, bad_alloc_too };

// Runs `call`, which may fail with a documented error and then has had no effect; once more in that
// case. False: it failed each time.
template <class Call> bool attempt(Call call, allows errors = allows::system_error, int tries = 2) {
    for (; tries > 0; --tries) {
        try {
            call();
            return true;
        } catch (std::system_error const& e) {
            note_error(e.code().value(), e.what());
        } catch (std::bad_alloc const&) {
            require(errors == allows::bad_alloc_too || is_lasting(),
                    "std::bad_alloc from a call that promises std::system_error");
            note_error(ENOMEM, "std::bad_alloc");
        }
    }
    return false;
}

// The run time, for the scope's time; calls count while it runs, its end included.
class run_time {
public:
    explicit run_time(int workers);
    ~run_time();
    run_time(run_time const&) = delete;
    run_time& operator=(run_time const&) = delete;
};

// What main() returns.
[[nodiscard]] int run(void (*body)());

} // namespace fault
