// expect: deleted (member )?function .*\ballocate_global_at\b
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

int main() { auto const p = tulle::allocate_global_at<int>(1); }
