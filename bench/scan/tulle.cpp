// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle.hpp"
#include "scan.hpp"

#include <tulle/parallel_scan.hpp>

namespace {

void scan(double const* first, double const* last, double* out) {
    tulle::parallel_inclusive_scan(first, last, out);
}

} // namespace

tulle::bench::benchmark const registered("scan", "tulle", [](int argc, char** argv) {
    using namespace tulle::bench;
    settings const s = scan_settings(argc, argv);
    tulle_runtime library(s.workers);
    int result = 0;
    library.run([&] { result = scan_main("tulle", s, scan); });
    return result;
});
