// SPDX-License-Identifier: Apache-2.0

#include <tulle/version.hpp>

#include <cstdio>

int main() { std::puts(tulle::version()); }
