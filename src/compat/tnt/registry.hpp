// SPDX-License-Identifier: Apache-2.0
// Objects of one node by numbers that name the node, too. Any thread.
#pragma once

#include <tulle/mutex.hpp>
#include <tulle/place.hpp>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <unordered_map>
#include <utility>

namespace tulle::tnt {

using number = std::uint64_t; // the node in the upper bits, a serial number from 1 on below

inline constexpr unsigned k_serial_bits = 48;

inline int node_of(number n) noexcept { return static_cast<int>(n >> k_serial_bits); }
// Whether it can name anything.
inline bool is_number(number n) { return n != 0 && node_of(n) < place_count(); }

template <class T> class registry {
public:
    template <class... A> number add(A&&... arguments) { // std::bad_alloc
        auto made = std::make_shared<T>(std::forward<A>(arguments)...);
        std::lock_guard const held(m_lock);
        number const name = static_cast<number>(here().index()) << k_serial_bits | (m_last + 1);
        m_all.emplace(name, std::move(made));
        ++m_last;
        return name;
    }
    // Null: there is none.
    [[nodiscard]] std::shared_ptr<T> find(number n) {
        std::lock_guard const held(m_lock);
        auto const found = m_all.find(n);
        return found != m_all.end() ? found->second : nullptr;
    }
    void remove(number n) {
        std::lock_guard const held(m_lock);
        m_all.erase(n);
    }

private:
    tulle::mutex m_lock; // guards the rest
    number m_last = 0;
    std::unordered_map<number, std::shared_ptr<T>> m_all;
};

// That of this node; never destroyed, as threads may outlive static objects.
template <class T> registry<T>& registry_of() {
    static auto* const s_all = new registry<T>;
    return *s_all;
}

// What `call()` returns, or the errno value for what it throws.
template <class F> int guarded(F call) noexcept try {
    return call();
} catch (std::bad_alloc const&) {
    return EAGAIN;
} catch (std::system_error const& e) {
    return e.code().value() == EAGAIN ? EAGAIN : EIO;
} catch (...) {
    return EIO; // the program of another node differs
}

} // namespace tulle::tnt
