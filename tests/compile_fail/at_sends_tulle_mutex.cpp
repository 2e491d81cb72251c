// expect: a lock does not travel: use one of another place
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

#include <memory>

struct guarded {
    tulle::mutex lock;
    int value = 0;
};

int main() {
    tulle::at(
        tulle::place(0), [](std::unique_ptr<guarded> const&) {}, std::make_unique<guarded>());
}
