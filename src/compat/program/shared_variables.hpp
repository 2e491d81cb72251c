// SPDX-License-Identifier: Apache-2.0
// The program's global variables in memory that all places of a host map at the addresses where
// the program has them, as if the places were threads of one process. Place 0 copies its variables
// into global memory once; then each place maps that memory over its own. Addresses in them mean
// the same at all places only if the program and its libraries lie at the same addresses
// everywhere, which is compared. What stays each place's own: variables of libraries, of threads,
// the heap and stacks, and what the dynamic linker writes before main and protects (relro). Objects
// of libraries that the program holds (copy relocations, as stdout) are shared: they must begin
// equal.
#pragma once

#include <string>

namespace tulle::program {

enum class sharing { automatic, off, on };
// TULLE_SHARE_GLOBALS, which the library checks when it starts.
[[nodiscard]] sharing chosen_sharing() noexcept;

// By each process, before main: notes what is loaded, and makes what of the C++ library the first
// constructor of the program makes that names it, since constructors of the program may run at
// place 0 only. std::bad_alloc.
void prepare();

// By place 0, while no thread of the program runs at another place, with the places below `count`.
// What is wrong, in words for the user; empty: they are shared, or there is one place. Of all:
// std::bad_alloc, remote_error.
[[nodiscard]] std::string share_variables(int count);
// With a place that has been started later, by any place that has them.
[[nodiscard]] std::string share_variables_with(int place);
// The same where places have copies of coherent memory, on several hosts or one.
[[nodiscard]] std::string share_variables_coherently();
// Whether the program lies where that is possible (`tulle cc --share-globals`).
[[nodiscard]] bool can_be_coherent() noexcept;
[[nodiscard]] bool are_shared() noexcept; // at this place

// What would be shared by mistake: a function of Tulle, of an allocator or of a sanitizer that the
// program has in itself. Null: nothing.
[[nodiscard]] char const* foreign_function() noexcept;
[[nodiscard]] bool has_this_library() noexcept; // whether the program has this code in itself

} // namespace tulle::program
