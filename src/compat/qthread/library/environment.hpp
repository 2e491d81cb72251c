// SPDX-License-Identifier: Apache-2.0
// What the environment says: variables QT_NAME, and QTHREAD_NAME where that is not set or empty.
// Values that make no sense are told on the standard error, and do not count.
#pragma once

#include <cstddef>

namespace tulle::compat {

// Null: not set.
[[nodiscard]] char const* find_variable(char const* name);
// What is larger than `most` is told, and counts as that.
[[nodiscard]] std::size_t number_of(char const* name, std::size_t otherwise, std::size_t most);

// Zero: the native options decide.
struct shape {
    std::size_t shepherds = 0;
    std::size_t workers = 0; // that are enabled at the start
    std::size_t most = 0;    // as many for each shepherd
};

// From NUM_SHEPHERDS, NUM_WORKERS_PER_SHEPHERD and HWPAR. Of none of them, nor of native options,
// one shepherd for each of `usable` processors.
[[nodiscard]] shape wanted_shape(std::size_t usable);

} // namespace tulle::compat
