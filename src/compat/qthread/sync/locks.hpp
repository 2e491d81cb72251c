// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tulle::compat {

// At the end of the library: the locks that qthread_lock_init() has made.
void forget_locks() noexcept;

} // namespace tulle::compat
