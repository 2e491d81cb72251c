// expect: deleted (member )?function .*\bmake_global\b
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

int main() { auto const p = tulle::make_global<tulle::mutex>(1); }
