// expect: a lock does not travel
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

#include <memory>
#include <mutex>

int main() {
    return tulle::at(tulle::place(0), [] { return std::make_unique<std::mutex>(); }) == nullptr;
}
