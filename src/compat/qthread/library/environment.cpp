// SPDX-License-Identifier: Apache-2.0
#include "compat/qthread/library/environment.hpp"

#include "base/option.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tulle::compat {

namespace {

// There are as many again to stand in for those that are blocked, and the last workers of shepherds
// of which some are disabled at the start.
constexpr std::size_t k_most_workers = base::k_most_workers / 3;

// The C library would take a sign, and count from the end. What does not fit is the largest number.
bool parse(char const* text, std::size_t& number) {
    char* rest = nullptr;
    number = std::strtoul(text, &rest, 0);
    return rest != text && *rest == '\0' && std::strchr(text, '-') == nullptr;
}

void complain(char const* name, char const* text) {
    std::fprintf(stderr, "qthreads: %s: '%s' makes no sense\n", name, text);
}

void tell_limit(char const* name, std::size_t most) {
    std::fprintf(stderr, "qthreads: %s is too large: %zu is taken\n", name, most);
}

std::size_t quotient(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

bool native_options_are_set() {
    return ::secure_getenv("TULLE_WORKERS") != nullptr ||
           ::secure_getenv("TULLE_SHEPHERDS") != nullptr;
}

} // namespace

char const* find_variable(char const* name) {
    for (char const* const prefix : {"QT_", "QTHREAD_"}) {
        char whole[64];
        static_cast<void>(std::snprintf(whole, sizeof whole, "%s%s", prefix, name));
        char const* const found = ::secure_getenv(whole);
        if (found != nullptr && *found != '\0') return found;
    }
    return nullptr;
}

std::size_t number_of(char const* name, std::size_t otherwise, std::size_t most) {
    char const* const text = find_variable(name);
    std::size_t number = 0;
    if (text == nullptr) return otherwise;
    if (!parse(text, number)) {
        complain(name, text);
        return otherwise;
    }
    if (number > most) tell_limit(name, most);
    return std::min(number, most);
}

shape wanted_shape(std::size_t usable) {
    std::size_t shepherds = number_of("NUM_SHEPHERDS", 0, k_most_workers);
    std::size_t each = number_of("NUM_WORKERS_PER_SHEPHERD", 0, k_most_workers);
    if (shepherds * each > k_most_workers) {
        each = k_most_workers / shepherds;
        tell_limit("NUM_WORKERS_PER_SHEPHERD", each);
    }
    std::size_t all = number_of("HWPAR", shepherds * each, k_most_workers);
    if (shepherds == 0 && each == 0 && all == 0) {
        if (native_options_are_set()) return {};
        all = usable;
    }
    if (shepherds == 0)
        shepherds =
            std::max<std::size_t>(1, (all != 0 ? all : usable) / std::max<std::size_t>(1, each));
    if (all == 0) all = shepherds * std::max<std::size_t>(1, each);
    shepherds = std::min(shepherds, all);
    each = quotient(all, shepherds);
    return {shepherds, all, shepherds * each};
}

} // namespace tulle::compat
