// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tulle::compat {

// At the end of the library: the limit is forgotten.
void end_futures() noexcept;

} // namespace tulle::compat
