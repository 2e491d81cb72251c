// SPDX-License-Identifier: Apache-2.0
#include "scan.hpp"

namespace {

void scan(double const* first, double const* last, double* out) {
    std::partial_sum(first, last, out);
}

} // namespace

tulle::bench::benchmark const registered("scan", "serial", [](int argc, char** argv) {
    using namespace tulle::bench;
    return scan_main("serial", scan_settings(argc, argv), scan);
});
