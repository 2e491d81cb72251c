// SPDX-License-Identifier: Apache-2.0
// Objects on which processes wait, wherever they are: on this machine (waiting.hpp), or at a home
// on another one, which is asked (home_calls.hpp).
#pragma once

#include "compat/parmacs/home_calls.hpp"
#include "compat/parmacs/waiting.hpp"

#include <cstdint>

namespace tulle::parmacs {

class anywhere {
public:
    // A part of the world.
    explicit anywhere(void* object) noexcept : anywhere(object, kind::part, "") {}
    // Ends the program if it is nothing of that kind, but perhaps only when it is used.
    anywhere(void* object, kind of, char const* macro) noexcept;

    // --- values
    void wait_for(wish what, std::int64_t amount = 0) const noexcept;
    void change(std::int64_t to) const noexcept;
    void add(std::int64_t amount) const noexcept;
    // --- locks
    void lock() const noexcept;
    [[nodiscard]] bool unlock() const noexcept; // false: nobody holds it
    // --- conditions
    // Gives up the lock, and takes it again once woken. False: nobody holds it, and the caller must
    // end.
    [[nodiscard]] bool wait(anywhere const& held) const noexcept;
    void wake_one() const noexcept;
    void wake_all() const noexcept;
    // --- barriers
    void wait_for_all(std::int64_t processes) const noexcept;
    // From 0 to `most`; then waits as above, and returns -1.
    [[nodiscard]] std::int64_t next_subscript(std::int64_t most,
                                              std::int64_t processes) const noexcept;

private:
    template <class T> [[nodiscard]] T& near() const noexcept;
    [[nodiscard]] bool is_near() const noexcept { return m_home < 0; }
    [[nodiscard]] home_request request(action what, std::int64_t amount = 0) const noexcept;
    std::int64_t ask(home_request const& wanted) const noexcept;
    std::int64_t ask_and_wait(home_request const& wanted) const noexcept;
    std::int64_t checked(std::int64_t done) const noexcept;
    [[noreturn]] void refuse() const noexcept;

    void* m_object;
    kind m_kind;
    char const* m_macro;
    int m_home;
};

} // namespace tulle::parmacs
