// SPDX-License-Identifier: Apache-2.0
// Where a thread is and what it belongs to. It is attached to the thread's stack.
#pragma once

#include <tulle/detail/remote.hpp>
#include <tulle/detail/standing.hpp>

namespace tulle::messenger {

class endpoint;

using detail::finish_scope;

struct standing {
    endpoint* at = nullptr;
    finish_scope* of = nullptr; // only carried here: finishes set and read it
};

// Attached to the calling thread's stack; null: at the place of this process, of no finish.
[[nodiscard]] inline standing* current_standing() noexcept {
    return static_cast<standing*>(detail::attachment(detail::attachment_of::activity));
}

// The calling thread stands somewhere else as long as this exists.
class stand {
public:
    explicit stand(standing& where) noexcept : m_outer(current_standing()) {
        detail::set_attachment(detail::attachment_of::activity, &where);
    }
    stand(stand const&) = delete;
    stand& operator=(stand const&) = delete;
    ~stand() { detail::set_attachment(detail::attachment_of::activity, m_outer); }

private:
    standing* m_outer;
};

} // namespace tulle::messenger
