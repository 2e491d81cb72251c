// SPDX-License-Identifier: Apache-2.0
// The first values of thread-local variables, as the dynamic linker has once given them to a block
// (thread_block.hpp), for blocks that are used again: to have the linker do it each time takes its
// lock, and longer than to begin a thread takes otherwise. Each worker has its own copy, so that
// nobody waits for it. The copy holds as long as no library with variables comes or goes, which the
// linker's list of such libraries tells: it notes the generation of each (Drepper, "ELF handling
// for thread-local storage", 2013), and the C library tells debuggers where that list is. There is
// none while some library has its variables outside of blocks, as it may get a place in them
// without a trace in that list; while variables take more than a few thousand bytes; and while one
// is of another namespace (dlmopen).
#pragma once

#include <cstddef>

namespace tulle::posix {

// An entry of the dynamic linker's vector of one thread, by the number of the library: where its
// variables are, and what is to be freed of those that were made at their first use. The one before
// the first says how many there are behind that, the first the generation that the vector is of.
struct vector_entry {
    void* at;
    void* made_late;
};

class first_values {
public:
    // Where variables may lie in a block, in bytes before and behind the thread pointer, and where
    // those of the C library lie, which are left as they are.
    struct range {
        std::size_t before = 0, behind = 0;
        std::ptrdiff_t left = 0;
        std::size_t left_bytes = 0;
    };
    // The C library's tables are looked for. Without them nothing is known.
    static void prepare(range const& variables) noexcept;
    // By main, whose vector this is. A library that is loaded from now on and has few variables
    // gets no place for them in blocks, which the dynamic linker may give it so that they are found
    // sooner: it would not write their first values to blocks that are in use. If the words of the
    // linker are not recognized, nothing changes. Those of the model initial-exec need such places.
    static void keep_later_ones_apart(vector_entry const* of_main) noexcept;
    // By a worker. The variables of a block that has been used have their first values again, and
    // its vector holds. False: this is not known, and nothing has been changed.
    [[nodiscard]] static bool give(std::byte* block, vector_entry const* vector) noexcept;
    // By a worker: the dynamic linker has just given them to this block.
    static void learn(std::byte const* block, vector_entry const* vector) noexcept;
    // In a forked child: others may have been learning.
    static void forget() noexcept;
};

} // namespace tulle::posix
