// SPDX-License-Identifier: Apache-2.0
// The control words of floating point that a loop goes on with after a thread that began at once.
// Threads run on its stack one after the other, and may leave behind others. A backend that can has
// a specialisation of its own, which need not read what has been left behind. A loop that is left
// otherwise keeps what it finds, but that the next thread rounds to nearest.
#pragma once

namespace tulle::arch {

// Made by the loop when it begins, with what it has then, but that it rounds to nearest.
template <class Backend> class control_at_rest {
public:
    // As the backend's: suspends a loop.
    [[gnu::always_inline]] inline void
    switch_to(typename Backend::context& from, typename Backend::context const& to) const noexcept {
        Backend::switch_to(from, to);
    }
    // Of a suspended loop, on which a thread begins when it goes on: it rounds to nearest then.
    static void begin_rounding(typename Backend::context& /*suspended*/) noexcept {}
    // Whether the above does that; otherwise it is to be done when the loop goes on.
    static constexpr bool k_begins_rounding = false;
};

} // namespace tulle::arch
