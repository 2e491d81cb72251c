// expect: a lock does not travel: use one of another place
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

#include <memory>
#include <mutex>

int main() {
    tulle::at(
        tulle::place(0), [](std::shared_ptr<std::mutex> const&) {}, std::make_shared<std::mutex>());
}
