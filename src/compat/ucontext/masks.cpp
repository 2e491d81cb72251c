// SPDX-License-Identifier: Apache-2.0
//
// Whether a switch of contexts switches signal masks: TULLE_UCONTEXT_MASKS, read once.
#include <cstdlib>
#include <cstring>

#include <unistd.h>

#include "compat/ucontext/switch.hpp"

std::uint8_t tulle_ucontext_keeps_masks = 1;

namespace {

void warn_of_value() {
    constexpr char const k_message[] = "tulle: warning: TULLE_UCONTEXT_MASKS must be 0 or 1; "
                                       "contexts keep their signal masks, as with 1\n";
    [[maybe_unused]] ssize_t const written = write(STDERR_FILENO, k_message, sizeof k_message - 1);
}

[[gnu::constructor]] void read_environment() {
    char const* const value =
        ::secure_getenv("TULLE_UCONTEXT_MASKS"); // NOLINT(concurrency-mt-unsafe)
    if (value == nullptr || std::strcmp(value, "1") == 0) return;
    if (std::strcmp(value, "0") == 0)
        tulle_ucontext_keeps_masks = 0;
    else
        warn_of_value();
}

} // namespace
