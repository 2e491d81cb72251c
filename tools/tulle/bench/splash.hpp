// SPDX-License-Identifier: Apache-2.0
// The programs of the paper on DSZOOM, from sources that the user has (`tulle bench splash
// --sources DIR`), unchanged. `splash`: with POSIX threads, as processes that share memory, as
// processes with copies of it on one host or on several; `splash-checks`: each kind of checks.
#pragma once

#include "bench/runner.hpp"

namespace tulle::tool {

// Whether a benchmark of that name is one of these.
[[nodiscard]] bool is_from_sources(std::string_view name);

// What they need and where that is to be had: "needs ...".
[[nodiscard]] std::string needed_sources();

// Throws failure: there are no such sources, or what compiles them is missing.
[[nodiscard]] bench_result measure_splash(bench_settings const& settings, workload const& w,
                                          bench_report const& report);

} // namespace tulle::tool
