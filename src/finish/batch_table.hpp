// SPDX-License-Identifier: Apache-2.0
// A number for each of some batches. A number that becomes zero is gone. Most finishes know of one
// batch or two at a time, and these lie in the table itself; more are in a tree. Where they lie
// depends on how many there are and on nothing else, so tables with the same numbers are equal.
// Plain data; its users lock.
#pragma once

#include "base/rare.hpp"
#include "finish/batch.hpp"

#include <tulle/detail/attributes.hpp>

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace tulle::finishes {

// Messages sent less messages arrived; a report is a row of these.
struct batch_change {
    batch messages;
    std::int32_t by;
    std::int32_t unused = 0;
    friend auto operator<=>(batch_change const&, batch_change const&) = default;
};

class batch_table {
public:
    [[nodiscard]] bool empty() const noexcept { return m_count == 0 && !m_many; }

    // std::bad_alloc, with nothing changed.
    void add(batch const& messages, std::int32_t by) {
        if (TULLE_UNLIKELY(!empty() || by == 0)) return add_to_others(messages, by);
        m_few[0] = {messages, by};
        m_count = 1;
    }
    void clear() noexcept {
        m_few = {};
        m_count = 0;
        m_many.reset();
    }
    // In the order of their names. std::bad_alloc.
    [[nodiscard]] std::vector<batch_change> all() const {
        if (!m_many) return {few().begin(), few().end()};
        std::vector<batch_change> found;
        found.reserve(m_many->size());
        for (auto const& [messages, by] : *m_many) found.push_back({messages, by});
        return found;
    }
    // All of them without a copy, if they lie in the table itself.
    [[nodiscard]] bool are_few() const noexcept { return !m_many; }
    [[nodiscard]] std::span<batch_change const> few() const noexcept {
        return {m_few.data(), m_count};
    }
    friend auto operator<=>(batch_table const&, batch_table const&) = default;

private:
    static constexpr std::size_t k_few = 3;

    TULLE_NOINLINE void add_to_others(batch const& messages, std::int32_t by) {
        if (m_many) return add_to_many(messages, by);
        batch_change* const end = m_few.data() + m_count;
        batch_change* at = m_few.data();
        while (at != end && at->messages < messages) ++at;
        if (at != end && at->messages == messages) {
            if ((at->by += by) == 0) remove(at);
        } else if (by != 0 && m_count != k_few) {
            if (at != end) std::move_backward(at, end, end + 1);
            *at = {messages, by};
            ++m_count;
        } else if (by != 0) {
            become_many({messages, by});
        }
    }
    void remove(batch_change* at) noexcept {
        batch_change* const end = m_few.data() + m_count;
        std::move(at + 1, end, at);
        *(end - 1) = {};
        --m_count;
    }
    void become_many(batch_change const& another) {
        base::rare<std::map<batch, std::int32_t>> many;
        for (auto const& [messages, by, unused] : m_few) many.get().emplace(messages, by);
        many->emplace(another.messages, another.by);
        m_many = std::move(many);
        m_few = {};
        m_count = 0;
    }
    void become_few() noexcept {
        for (auto const& [messages, by] : *m_many) m_few[m_count++] = {messages, by};
        m_many.reset();
    }
    void add_to_many(batch const& messages, std::int32_t by) {
        auto const found = m_many->try_emplace(messages, 0).first;
        if ((found->second += by) != 0) return;
        m_many->erase(found);
        if (m_many->size() == k_few) become_few();
    }

    std::array<batch_change, k_few> m_few{}; // sorted; what is not used is zero
    std::size_t m_count = 0;
    base::rare<std::map<batch, std::int32_t>> m_many; // all of them, then
};

} // namespace tulle::finishes
