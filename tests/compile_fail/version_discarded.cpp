// expect: ignoring return value
// SPDX-License-Identifier: Apache-2.0

#include <tulle/version.hpp>

int main() { tulle::version(); }
