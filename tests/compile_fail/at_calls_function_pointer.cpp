// expect: a function pointer does not travel
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

void work() {}

int main() { tulle::at(tulle::place(0), &work); }
