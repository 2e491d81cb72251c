// SPDX-License-Identifier: Apache-2.0
// The C++ runtime keeps the exceptions that a thread is handling, and the number in flight, in a
// block per OS thread (Itanium C++ ABI, section 2.2.2, __cxa_eh_globals). A context that is
// switched out inside a handler must take its two words along, or `throw;` finds another context's
// exception.
#pragma once

#include <cstdint>

namespace tulle::arch {

// The two words of __cxa_eh_globals as one context owns them; all zero outside handlers.
struct exception_state {
    void* handled = nullptr;
    std::uintptr_t in_flight = 0; // an unsigned int in the ABI; the padding behind it travels too
};

// The block of the calling OS thread: lives as long as the thread does, so a worker asks once.
// Never keep the result of a call across a switch in a local variable.
[[nodiscard]] void* exception_globals() noexcept;

// Saves the words of the context that is switched out and loads those of the next one.
inline void swap(exception_state& saved_from, exception_state const& load_to,
                 void* globals) noexcept {
    auto* const words = static_cast<exception_state*>(globals);
    saved_from = *words;
    *words = load_to;
}

} // namespace tulle::arch
