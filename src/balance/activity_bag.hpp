// SPDX-License-Identifier: Apache-2.0
// Activities that have not begun and may begin at any place. The place itself takes the youngest,
// so that trees are walked in depth and few wait; others get the oldest, which have most below
// them. The bag owns what is in it. Its user locks.
#pragma once

#include "base/intrusive_list.hpp"

#include <tulle/detail/remote.hpp>

#include <cstddef>
#include <memory>

namespace tulle::balance {

using detail::any_activity;

class activity_bag {
public:
    activity_bag() = default;
    activity_bag(activity_bag const&) = delete;
    activity_bag& operator=(activity_bag const&) = delete;
    ~activity_bag() {
        while (take_youngest() != nullptr) {}
    }

    [[nodiscard]] std::size_t size() const noexcept { return m_size; }
    void add_youngest(std::unique_ptr<any_activity> one) noexcept {
        m_by_age.push_back(*one.release());
        ++m_size;
    }
    void add_oldest(std::unique_ptr<any_activity> one) noexcept {
        m_by_age.push_front(*one.release());
        ++m_size;
    }
    // Null: it is empty.
    [[nodiscard]] std::unique_ptr<any_activity> take_youngest() noexcept {
        return own(m_by_age.pop_back());
    }
    [[nodiscard]] std::unique_ptr<any_activity> take_oldest() noexcept {
        return own(m_by_age.pop_front());
    }

private:
    [[nodiscard]] std::unique_ptr<any_activity> own(any_activity* taken) noexcept {
        if (taken != nullptr) --m_size;
        return std::unique_ptr<any_activity>(taken);
    }

    base::intrusive_list<&any_activity::younger, &any_activity::older> m_by_age; // oldest first
    std::size_t m_size = 0;
};

} // namespace tulle::balance
