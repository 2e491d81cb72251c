// SPDX-License-Identifier: Apache-2.0
// The C functions of <tulle/c/clock.h>.
#include "capi/activities_of.hpp"
#include "capi/bytes.hpp"
#include "capi/without_exceptions.hpp"

#include <tulle/c/clock.h>
#include <tulle/clock.hpp>

#include <bit>
#include <cerrno>
#include <cstdint>

namespace tulle::capi {
namespace {

// The bytes of a clock; its home is a place by the time they are read.
struct clock_image {
    int home;
    int padding; // is sent, too, and searched for addresses (messenger/stray_address.cpp)
    std::uint64_t name;
};

template <class Action> int with_clock(tulle_clock_t const& c, Action action) {
    if (c.home >= static_cast<std::uint64_t>(detail::place_count())) return -EINVAL;
    return without_exceptions([&] {
        action(std::bit_cast<clock>(clock_image{static_cast<int>(c.home), 0, c.name}));
        return 0;
    });
}

struct run_clocked {
    void operator()(clock const& /*own*/, code_name code, byte_block const& argument) const {
        run_named()(code, argument);
    }
};

} // namespace
} // namespace tulle::capi

using namespace tulle::capi;

int tulle_clock_create(tulle_clock_t* out) {
    if (out == nullptr) return -EINVAL;
    return without_exceptions([&] {
        auto const made = std::bit_cast<clock_image>(tulle::clock::make());
        *out = {static_cast<std::uint64_t>(made.home), made.name};
        return 0;
    });
}

int tulle_clock_advance(tulle_clock_t clock, uint64_t* phase) {
    return with_clock(clock, [&](tulle::clock const& c) {
        std::uint64_t const reached = c.advance();
        if (phase != nullptr) *phase = reached;
    });
}

int tulle_clock_drop(tulle_clock_t clock) {
    return with_clock(clock, [](tulle::clock const& c) { c.drop(); });
}

int tulle_clock_async_at(tulle_clock_t clock, tulle_activities_t* activities, int place,
                         tulle_activity_function_t* function, const void* argument, size_t size) {
    if (!is_place_number(place)) return -EINVAL;
    if (int const error = refusal_of(function, argument, size)) return error;
    return with_clock(clock, [&](tulle::clock const& c) {
        tulle::activities all = activities_of(activities);
        c.async_at(all, tulle::place(place), run_clocked(), name_of_function(function),
                   copy_of(argument, size));
    });
}
