// SPDX-License-Identifier: Apache-2.0
// How a guest waits: its OS thread sleeps until the guest is resumed, or until the sooner of its
// own deadline and that of its token has come. No worker has a part in that.
#pragma once

#include "sched/switch.hpp"

namespace tulle::sched {

// suspend() of a guest, which stands on `self`.
void wait_as_guest(worker& w, fiber& self, post_function post, void* a, void* b) noexcept;

} // namespace tulle::sched
