// SPDX-License-Identifier: Apache-2.0
// Objects that this process has used and that its loads and stores reach, where all processes are
// on one machine: found again by one comparison, which reads nothing that others write. Empty
// unless there is a world.
#pragma once

#include "compat/parmacs/home_calls.hpp"
#include "compat/parmacs/waiting.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tulle::parmacs {

// Some addresses, by kind; kind::part has none. relaxed, wherever they are used: an entry stands
// for itself, as an object is not given back.
inline constexpr auto k_kinds =
    static_cast<std::size_t>(kind::condition) - static_cast<std::size_t>(kind::lock) + 1;
inline std::array<std::array<std::atomic<void const*>, 64>, k_kinds> s_known_objects{};

[[nodiscard]] inline std::atomic<void const*>& known_entry(void const* object, kind of) noexcept {
    auto& all =
        s_known_objects[static_cast<std::size_t>(of) - static_cast<std::size_t>(kind::lock)];
    return all[reinterpret_cast<std::uintptr_t>(object) / k_line % all.size()];
}

// Null: it is not known.
template <class T> [[nodiscard]] T* known_object(void* object, kind of) noexcept {
    void const* const found = known_entry(object, of).load(std::memory_order_relaxed);
    if (found != object || object == nullptr) return nullptr;
    return &static_cast<named<T>*>(object)->object;
}

inline void remember_object(void const* object, kind of) noexcept {
    known_entry(object, of).store(object, std::memory_order_relaxed);
}
inline void forget_objects() noexcept {
    for (auto& all : s_known_objects)
        for (auto& each : all) each.store(nullptr, std::memory_order_relaxed);
}

} // namespace tulle::parmacs
