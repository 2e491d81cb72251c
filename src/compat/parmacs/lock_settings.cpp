// SPDX-License-Identifier: Apache-2.0
#include "compat/parmacs/lock_settings.hpp"

#include "compat/parmacs/failure.hpp"

#include <charconv>
#include <climits>
#include <cstdlib>
#include <string_view>
#include <system_error>

namespace tulle::parmacs {

namespace {

constexpr int k_threshold = 16;
constexpr int k_turns = 64;

int number_from(char const* name, int least, int otherwise) noexcept {
    char const* const text = std::getenv(name); // NOLINT(concurrency-mt-unsafe): nobody changes it
    if (text == nullptr) return otherwise;
    std::string_view const digits(text);
    int value = -1;
    auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size() || value < least)
        fail("%s=%s: set it to a number from %d to %d", name, text, least, INT_MAX);
    return value;
}

} // namespace

lock_settings const& chosen_locks() noexcept {
    static lock_settings const s_chosen{number_from("TULLE_LOCK_THRESHOLD", 0, k_threshold),
                                        number_from("TULLE_LOCK_TURNS", 1, k_turns)};
    return s_chosen;
}

} // namespace tulle::parmacs
