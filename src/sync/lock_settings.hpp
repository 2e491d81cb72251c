// SPDX-License-Identifier: Apache-2.0
// What the environment says of locks in two levels (machine_lock.hpp).
#pragma once

#include <charconv>
#include <climits>
#include <cstdlib>
#include <string_view>
#include <system_error>

namespace tulle::sync {

struct lock_settings {
    int threshold = 16; // TULLE_LOCK_THRESHOLD: of contention, before a lock stays with a machine
    int turns = 64;     // TULLE_LOCK_TURNS: of that machine, while others want the lock
};

// refuse(name, text, least) for what is no number from `least` to INT_MAX; does not return.
template <class Refuse>
int number_from_environment(char const* name, int least, int otherwise, Refuse refuse) noexcept {
    char const* const text =
        ::secure_getenv(name); // NOLINT(concurrency-mt-unsafe): nobody changes it
    if (text == nullptr) return otherwise;
    std::string_view const digits(text);
    int value = -1;
    auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size() || value < least)
        refuse(name, text, least);
    return value;
}
template <class Refuse> lock_settings lock_settings_of_environment(Refuse refuse) noexcept {
    lock_settings const usual;
    return {number_from_environment("TULLE_LOCK_THRESHOLD", 0, usual.threshold, refuse),
            number_from_environment("TULLE_LOCK_TURNS", 1, usual.turns, refuse)};
}

} // namespace tulle::sync
