// SPDX-License-Identifier: Apache-2.0
// Random numbers for choices that need not be repeatable.
#pragma once

namespace tulle::myth {

[[nodiscard]] int random_below(int limit) noexcept;     // 0 if the limit is not positive
[[nodiscard]] int random_in(int min, int max) noexcept; // below max; min < max

} // namespace tulle::myth
