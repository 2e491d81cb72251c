// SPDX-License-Identifier: Apache-2.0
#include "sync/full_empty_object.hpp"
#include "sync/parking.hpp"
#include "sync/waiter_ids.hpp"

#include <tulle/full_empty.hpp>

namespace tulle::sync {

namespace {

// A value of a type that only the program knows.
class object_cell {
public:
    object_cell(void* object, tulle::detail::value_operations const& type) noexcept
        : m_object(object), m_type(&type) {}

    void copy_out(void* buffer) const noexcept { m_type->copy_out(m_object, buffer); }
    void move_out(void* buffer) const noexcept { m_type->move_out(m_object, buffer); }
    void copy_in(void const* buffer) const noexcept { m_type->copy_in(m_object, buffer); }
    void move_in(void* buffer) const noexcept { m_type->move_in(m_object, buffer); }
    void pass(void* target, void const* source) const noexcept { m_type->pass(target, source); }

private:
    void* m_object;
    tulle::detail::value_operations const* m_type;
};

using home = object_home<parking, object_cell>;
using tulle::detail::full_empty_front;

constexpr tulle::detail::value_operations k_no_operations{};

// Calls `read` with a home that is locked, and returns its result.
template <class F> auto locked(full_empty_front const& word, F read) noexcept {
    home h(const_cast<full_empty_front&>(word), object_cell(nullptr, k_no_operations));
    h.lock();
    auto const seen = read(h);
    h.unlock();
    return seen;
}

TULLE_NOINLINE bool apply_with_waits(full_empty_front& word, full_empty_front::value before,
                                     void* object, tulle::detail::value_operations const& type,
                                     feb_operation operation, void* buffer,
                                     tulle::detail::limit until) noexcept {
    home h(word, object_cell(object, type));
    h.adopt_lock(before);
    word_wait<parking, home> waiting(h, &word);
    return waiting.perform_locked(operation, buffer, until) == word_result::done;
}

} // namespace
} // namespace tulle::sync

namespace tulle::detail {

bool apply_full_empty(full_empty_front& front, full_empty_front::value before, void* object,
                      value_operations const& type, feb_operation operation, void* buffer,
                      limit until) noexcept {
    sync::home h(front, sync::object_cell(object, type));
    h.adopt_lock(before);
    if (sync::fills(operation) && h.hand_over(operation, buffer)) return true;
    return sync::apply_with_waits(front, before, object, type, operation, buffer, until);
}

void wait_full_empty(full_empty_front& front, void* object, value_operations const& type,
                     feb_operation operation, void* buffer) noexcept {
    sync::home h(front, sync::object_cell(object, type));
    sync::word_wait<sync::parking, sync::home> waiting(h, &front);
    static_cast<void>(waiting.wait(operation, buffer, k_no_deadline));
}

bool is_full_slow(full_empty_front const& front) noexcept {
    return sync::locked(front, [](sync::home const& h) { return h.is_full(); });
}

std::size_t full_empty_waiting(full_empty_front const& front, std::uint64_t* ids,
                               std::size_t capacity) noexcept {
    return sync::locked(front, [=](sync::home const& h) {
        sync::waiter_ids found(ids, capacity);
        if (auto const* const q = h.waiting()) q->visit([&found](auto const& w) { found.add(w); });
        return found.count();
    });
}

} // namespace tulle::detail
