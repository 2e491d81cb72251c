// SPDX-License-Identifier: Apache-2.0
#include "by_signal.hpp"

namespace tulle::bench {

benchmark const registered("one-way", "tulle_c", [](int argc, char** argv) {
    return one_way_main(argc, argv, "tulle_c",
                        [](settings const& s) { return figures_of<by_signal>(s); });
});

} // namespace tulle::bench
