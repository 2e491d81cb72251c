// SPDX-License-Identifier: Apache-2.0
// Objects on which processes wait, wherever they are: on this machine (waiting.hpp), or at a home
// on another one, which is asked (home_calls.hpp).
#pragma once

#include "compat/parmacs/home_calls.hpp"
#include "compat/parmacs/known_lines.hpp"
#include "compat/parmacs/known_objects.hpp"
#include "compat/parmacs/machines.hpp"
#include "compat/parmacs/race_order.hpp"
#include "compat/parmacs/spanning_lock.hpp"
#include "compat/parmacs/waiting.hpp"
#include "compat/parmacs/world.hpp"

#include <cstdint>

namespace tulle::parmacs {

class anywhere {
public:
    // A part of the world.
    explicit anywhere(void* object) noexcept
        : m_object(object), m_kind(kind::part), m_macro(""), m_home(far_home_of(object)) {}
    // Ends the program if it is nothing of that kind, but perhaps only when it is used.
    anywhere(void* object, kind of, char const* macro) noexcept
        : m_object(object), m_kind(of), m_macro(macro), m_home(far_home_of(object)) {
        if (find_world() == nullptr || !is_line(object) || (is_near() && mark() != of)) refuse();
        // What is known goes by without being ordered for the search for races.
        if (!spans_machines() && !s_looks_for_races) remember_object(object, of);
    }

    // --- values
    void wait_for(wish what, std::int64_t amount = 0) const noexcept;
    void change(std::int64_t to) const noexcept;
    void add(std::int64_t amount) const noexcept;
    // --- locks
    void lock() const noexcept {
        if (spans_machines())
            lock_beyond();
        else
            near<spanning_lock>().share.local().lock();
        acquire_from(m_object);
    }
    // False: nobody holds it.
    [[nodiscard]] bool unlock() const noexcept {
        if (spans_machines()) return give_spanning(m_object, m_home);
        release_to(m_object);
        return near<spanning_lock>().share.local().unlock();
    }
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
    void lock_beyond() const noexcept;
    [[nodiscard]] kind mark() const noexcept { return *static_cast<kind const*>(m_object); }
    template <class T> [[nodiscard]] T& near() const noexcept {
        if (m_kind == kind::part) return *static_cast<T*>(m_object);
        return static_cast<named<T>*>(m_object)->object;
    }
    [[nodiscard]] bool is_near() const noexcept { return m_home < 0; }
    [[nodiscard]] home_request request(action what, std::int64_t amount = 0) const noexcept;
    std::int64_t ask(home_request const& wanted) const noexcept;
    std::int64_t ask_and_wait(home_request const& wanted) const noexcept;
    std::int64_t checked(std::int64_t done) const noexcept;
    [[noreturn, gnu::cold]] void refuse() const noexcept;

    void* m_object;
    kind m_kind;
    char const* m_macro;
    int m_home;
};

} // namespace tulle::parmacs
