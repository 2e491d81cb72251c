// SPDX-License-Identifier: Apache-2.0
// The environment variables of MassiveThreads.
#pragma once

#include <myth/myth.h>

namespace tulle::myth {

// What a start does without other words. n_workers is 0 if the environment leaves it to Tulle's own
// options.
[[nodiscard]] myth_globalattr_t attributes_of_environment() noexcept;

// The workers that a start with `n_workers` would make.
[[nodiscard]] int worker_count_of(int n_workers) noexcept;

} // namespace tulle::myth
