// expect: Tulle needs C\+\+20: compile with -std=c\+\+20
// options: -std=c++17
// SPDX-License-Identifier: Apache-2.0
#include <tulle/thread.hpp>

int main() {}
