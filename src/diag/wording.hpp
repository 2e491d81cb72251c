// SPDX-License-Identifier: Apache-2.0
// How reports name threads, source lines and functions.
#pragma once

#include "diag/symbols.hpp"
#include "diag/text_output.hpp"
#include "sched/watch/live_threads.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>

namespace tulle::diag {

// A phrase of a fixed length at most.
struct phrase {
    char text[192] = "";

    template <class... A> static phrase make(char const* format, A... arguments) noexcept {
        phrase p;
        static_cast<void>(std::snprintf(p.text, sizeof p.text, format, arguments...));
        return p;
    }
};

// thread 7 "name"
[[nodiscard]] phrase name_of(thread_id id) noexcept;

// Frames of the library's inside tell the user nothing; its public functions do.
[[nodiscard]] bool is_internal(symbol const& s) noexcept;

// A line of a stack: "    #0  FUNCTION at FILE:LINE"
void print_call(text_output& out, std::size_t number, symbol const& s) noexcept;

// A site is an address behind the call of spawn.
[[nodiscard]] inline std::uintptr_t call_before(void const* site) noexcept {
    return reinterpret_cast<std::uintptr_t>(site) - 1;
}

// The one of the functions inlined at a site that the user wrote: the library's templates are
// inlined into it.
[[nodiscard]] symbol const& site_of(std::span<symbol const> inlined) noexcept;

// A line: "    spawned in FUNCTION at FILE:LINE"
void print_site(text_output& out, std::span<symbol const> inlined) noexcept;

// Of the function that runs the record of a forked thread, which begins there: the callable may be
// inlined further behind, so several of its addresses are asked for. std::bad_alloc.
void want_runner(symbol_table& symbols, std::uintptr_t begin);
// What is inlined at the first of them that has a line of the user's, or at the beginning.
[[nodiscard]] std::span<symbol const> runner_at(symbol_table const& symbols,
                                                std::uintptr_t begin) noexcept;

// "forked as CALLABLE at FILE:LINE", of the function that runs the record of a forked thread: a
// template over the callable, with the callable inlined into it, or not.
void print_callable(text_output& out, std::span<symbol const> inlined) noexcept;

} // namespace tulle::diag
