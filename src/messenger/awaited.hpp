// SPDX-License-Identifier: Apache-2.0
// What has been asked of another place and is waited for here: it comes, or that place dies.
#pragma once

#include "base/intrusive_list.hpp"

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

using awaited_list = base::intrusive_list<&awaited::next, &awaited::before>;

} // namespace tulle::messenger
