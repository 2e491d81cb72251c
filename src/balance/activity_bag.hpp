// SPDX-License-Identifier: Apache-2.0
// Activities that have not begun and may begin at any place. The place itself takes the youngest,
// so that trees are walked in depth and few wait;
// others get the oldest, which have most below them. Owns what is in it. Its user locks.
#pragma once

#include <tulle/detail/remote.hpp>

#include <cstddef>
#include <memory>
#include <utility>

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
        one->older = m_youngest;
        one->younger = nullptr;
        (m_youngest != nullptr ? m_youngest->younger : m_oldest) = one.get();
        m_youngest = one.release();
        ++m_size;
    }
    void add_oldest(std::unique_ptr<any_activity> one) noexcept {
        one->younger = m_oldest;
        one->older = nullptr;
        (m_oldest != nullptr ? m_oldest->older : m_youngest) = one.get();
        m_oldest = one.release();
        ++m_size;
    }
    // Null: it is empty.
    [[nodiscard]] std::unique_ptr<any_activity> take_youngest() noexcept {
        if (m_size == 0) return nullptr;
        any_activity* const one = std::exchange(m_youngest, m_youngest->older);
        (m_youngest != nullptr ? m_youngest->younger : m_oldest) = nullptr;
        --m_size;
        return std::unique_ptr<any_activity>(one);
    }
    [[nodiscard]] std::unique_ptr<any_activity> take_oldest() noexcept {
        if (m_size == 0) return nullptr;
        any_activity* const one = std::exchange(m_oldest, m_oldest->younger);
        (m_oldest != nullptr ? m_oldest->older : m_youngest) = nullptr;
        --m_size;
        return std::unique_ptr<any_activity>(one);
    }

private:
    any_activity* m_oldest = nullptr;
    any_activity* m_youngest = nullptr;
    std::size_t m_size = 0;
};

} // namespace tulle::balance
