// SPDX-License-Identifier: Apache-2.0
// The context of a thread: the place that it is at, and the finish scope that it belongs to. The
// context is attached to the thread's stack.
#pragma once

#include <tulle/detail/remote.hpp>
#include <tulle/detail/stack_attachments.hpp>

namespace tulle::messenger {

class endpoint;

using detail::finish_scope;

struct place_context {
    endpoint* at = nullptr;
    finish_scope* scope = nullptr; // only carried here: finishes set and read it
};

// The context of the calling thread. Null: it is at the place of this process, and belongs to no
// finish.
[[nodiscard]] inline place_context* current_context() noexcept {
    return static_cast<place_context*>(detail::attachment(detail::attachment_of::activity));
}

// The calling thread has another context as long as this object exists.
class scoped_context {
public:
    explicit scoped_context(place_context& inner) noexcept : m_outer(current_context()) {
        detail::set_attachment(detail::attachment_of::activity, &inner);
    }
    scoped_context(scoped_context const&) = delete;
    scoped_context& operator=(scoped_context const&) = delete;
    ~scoped_context() { detail::set_attachment(detail::attachment_of::activity, m_outer); }

private:
    place_context* m_outer;
};

} // namespace tulle::messenger
