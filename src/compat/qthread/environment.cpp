// SPDX-License-Identifier: Apache-2.0
#include "compat/qthread/environment.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <strings.h>

namespace tulle::compat {

namespace {

bool is_any_of(char const* word, char const* first, char const* second) {
    return strcasecmp(word, first) == 0 || strcasecmp(word, second) == 0;
}

bool parse(char const* text, std::size_t& number) {
    char* rest = nullptr;
    number = std::strtoul(text, &rest, 0);
    return rest != text && *rest == '\0';
}

void complain(char const* name, char const* text) {
    std::fprintf(stderr, "qthreads: %s: '%s' makes no sense\n", name, text);
}

std::size_t quotient(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

bool native_options_are_set() {
    return std::getenv("TULLE_WORKERS") != nullptr || std::getenv("TULLE_SHEPHERDS") != nullptr;
}

} // namespace

char const* find_variable(char const* name) {
    for (char const* const prefix : {"QT_", "QTHREAD_"}) {
        char whole[64];
        static_cast<void>(std::snprintf(whole, sizeof whole, "%s%s", prefix, name));
        char const* const found = std::getenv(whole);
        if (found != nullptr && *found != '\0') return found;
    }
    return nullptr;
}

std::size_t number_of(char const* name, std::size_t otherwise) {
    char const* const text = find_variable(name);
    std::size_t number = 0;
    if (text == nullptr) return otherwise;
    if (parse(text, number)) return number;
    complain(name, text);
    return otherwise;
}

bool flag_of(char const* name, bool otherwise) {
    char const* const text = find_variable(name);
    std::size_t number = 0;
    if (text == nullptr) return otherwise;
    if (parse(text, number)) return number != 0;
    if (is_any_of(text, "yes", "true")) return true;
    if (is_any_of(text, "no", "false")) return false;
    complain(name, text);
    return otherwise;
}

shape wanted_shape(std::size_t usable) {
    std::size_t shepherds = number_of("NUM_SHEPHERDS", 0);
    std::size_t each = number_of("NUM_WORKERS_PER_SHEPHERD", 0);
    std::size_t all = number_of("HWPAR", shepherds * each);
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
