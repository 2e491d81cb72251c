// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tbb.hpp"
#include "scan.hpp"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_scan.h>

namespace {

void scan(double const* first, double const* last, double* out) {
    using range = oneapi::tbb::blocked_range<long>;
    auto const body = [=](range const& part, double sum, bool is_final) {
        for (long i = part.begin(); i != part.end(); ++i) {
            sum += first[i];
            if (is_final) out[i] = sum;
        }
        return sum;
    };
    oneapi::tbb::parallel_scan(range(0, last - first), 0.0, body, std::plus<>{});
}

} // namespace

tulle::bench::benchmark const registered("scan", "tbb", [](int argc, char** argv) {
    using namespace tulle::bench;
    settings const s = scan_settings(argc, argv);
    tbb_runtime library(s.workers);
    int result = 0;
    library.run([&] { result = scan_main("tbb", s, scan); });
    return result;
});
