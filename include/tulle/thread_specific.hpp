// SPDX-License-Identifier: Apache-2.0
// One value for each thread, destroyed when the thread ends. Threads made by spawn have values of
// their own, and so have OS threads that Tulle has not made. A forked child is another matter: as
// long as nobody steals it, it is a function call in its parent, and sees and changes its parent's
// values; stolen, it has its own, empty at its start. So keep there only what may be either.
// Threads that use no such object pay nothing for it.
#pragma once

#include <tulle/detail/attributes.hpp>

#include <cstdint>
#include <memory>

namespace tulle {

namespace detail {

// Throws std::system_error (EAGAIN): more than 1024 keys.
[[nodiscard]] TULLE_API std::uint64_t make_key(void (*destructor)(void*));
TULLE_API void drop_key(std::uint64_t key) noexcept;
// Throws std::system_error: ENOMEM.
TULLE_API void set_specific(std::uint64_t key, void* value);
[[nodiscard]] TULLE_API void* get_specific(std::uint64_t key) noexcept;

} // namespace detail

// A pointer for each thread, which owns what it points to, as std::unique_ptr<T> would.
// When a thread ends, its value is destroyed by that thread, before others see it as ended. The
// destructor may use values, also this one;
// what it stores anew is destroyed in another round, of which there are four. The thread that
// initialised the run time ends, for this purpose, in finalize(). Nothing is destroyed at the end
// of the process.
// Contexts: any thread of the process.
template <class T> class thread_specific {
public:
    // Errors: std::system_error (EAGAIN): there are 1024 of them.
    thread_specific() : m_key(detail::make_key(&destroy)) {}
    // Destroys the caller's value. Those of other threads that live are not destroyed any more.
    ~thread_specific() {
        delete get();
        detail::drop_key(m_key);
    }
    thread_specific(thread_specific const&) = delete;
    thread_specific& operator=(thread_specific const&) = delete;

    // The caller's value; null if there is none.
    [[nodiscard]] T* get() const noexcept { return static_cast<T*>(detail::get_specific(m_key)); }
    [[nodiscard]] T& operator*() const noexcept { return *get(); }
    [[nodiscard]] T* operator->() const noexcept { return get(); }

    // The caller's value, made by T() at the first use. Errors: what T() throws; std::system_error
    // (ENOMEM).
    [[nodiscard]] T& local() {
        T* found = get();
        if (found == nullptr) found = &reset(std::make_unique<T>());
        return *found;
    }
    // Destroys the caller's value and puts another in its place. Errors: std::system_error
    // (ENOMEM); nothing has changed then.
    T& reset(std::unique_ptr<T> value) {
        T* const old = get();
        detail::set_specific(m_key, value.get());
        delete old;
        return *value.release();
    }
    void reset() noexcept { release().reset(); }
    // Gives the caller's value away.
    [[nodiscard]] std::unique_ptr<T> release() noexcept {
        std::unique_ptr<T> value(get());
        // No error: there is room for it.
        if (value != nullptr) detail::set_specific(m_key, nullptr);
        return value;
    }

private:
    static void destroy(void* value) { delete static_cast<T*>(value); }

    std::uint64_t m_key;
};

} // namespace tulle
