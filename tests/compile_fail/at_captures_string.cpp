// expect: a callable travels to another place if it has no captures
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

#include <string>

int main() {
    std::string const text = "text";
    tulle::at(tulle::place(0), [text] { return text.size(); });
}
