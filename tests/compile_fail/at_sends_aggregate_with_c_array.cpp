// expect: a C array of these does not travel: have a std::array
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

#include <string>

struct names {
    std::string all[3];
};

int main() {
    tulle::at(
        tulle::place(0), [](names const&) {}, names());
}
