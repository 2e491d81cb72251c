// SPDX-License-Identifier: Apache-2.0
// What has been asked of another place and is waited for here: it comes, or that place dies.
#pragma once

namespace tulle::messenger {

// It lies in the frame of the thread that waits, and is linked into the list of the place that is
// to answer, under that list's lock.
struct awaited {
    using loss = void (*)(awaited& self) noexcept;

    explicit awaited(loss by_death) noexcept : is_lost(by_death) {}
    awaited(awaited const&) = delete;
    awaited& operator=(awaited const&) = delete;
    ~awaited() = default;

    loss is_lost; // in place of the answer; it may be gone then
    awaited* next = nullptr;
    awaited* before = nullptr;
};

class awaited_list {
public:
    void add(awaited& one) noexcept {
        one.before = nullptr;
        one.next = m_first;
        if (m_first != nullptr) m_first->before = &one;
        m_first = &one;
    }
    void remove(awaited& one) noexcept {
        (one.before != nullptr ? one.before->next : m_first) = one.next;
        if (one.next != nullptr) one.next->before = one.before;
    }
    // Null: none is left.
    [[nodiscard]] awaited* take() noexcept {
        awaited* const first = m_first;
        if (first != nullptr) remove(*first);
        return first;
    }

private:
    awaited* m_first = nullptr;
};

} // namespace tulle::messenger
