// SPDX-License-Identifier: Apache-2.0
// Objects that the C functions make at several places under one name.
#pragma once

#include <tulle/detail/collective.hpp>
#include <tulle/finish.hpp>
#include <tulle/place.hpp>

#include <cstdint>

namespace tulle::capi {

// forget(name) at all places; what has died has forgotten it, too.
template <class Forget> void forget_everywhere_by(Forget forget, std::uint64_t name) try {
    tulle::finish([forget, name](activities& all) {
        for (place const p : places()) {
            try {
                all.async_at(p, forget, name);
            } catch (dead_place const&) {}
        }
    });
} catch (dead_place const&) {}
inline void forget_everywhere(std::uint64_t name) {
    forget_everywhere_by([](std::uint64_t gone) { detail::set_local_object(gone, nullptr); }, name);
}

// start(activities, name) starts what makes them. If that fails there are none.
template <class Start> std::uint64_t make_under_new_name(Start start) {
    std::uint64_t const name = detail::new_name();
    try {
        tulle::finish([&](activities& all) { start(all, name); });
    } catch (...) {
        forget_everywhere(name);
        throw;
    }
    return name;
}

} // namespace tulle::capi
