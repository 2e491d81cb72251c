// SPDX-License-Identifier: Apache-2.0
//
// The first call starts the run time: a fork or a wait, which cannot report that it fails.
#include "inject.hpp"

#include <tulle/tulle.hpp>

namespace {

void body() {
    fault::arm();
    auto child = tulle::fork([]() noexcept { return 1; });
    tulle::latch done(1);
    done.count_down();
    done.wait();
    fault::require(child.join() == 1, "a child is lost");
    tulle::finalize();
}

} // namespace

int main() { return fault::run(&body); }
