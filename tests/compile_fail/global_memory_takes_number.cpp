// expect: a number stands where a place is wanted: write tulle::place\(1\) instead of 1
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

int main() { auto const p = tulle::allocate_global_at<int>(1); }
