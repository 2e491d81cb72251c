// SPDX-License-Identifier: Apache-2.0
// From the C type for the activities of a finish to the C++ one.
#pragma once

#include "capi/bytes.hpp"

#include <tulle/c/activity.h>
#include <tulle/finish.hpp>

namespace tulle::capi {

// `given` null: the activities that the caller belongs to. Throws std::logic_error: it belongs to
// no finish.
[[nodiscard]] inline activities activities_of(tulle_activities_t* given) {
    return given != nullptr ? *reinterpret_cast<activities*>(given) : this_activity::siblings();
}

struct run_named {
    void operator()(code_name code, byte_block const& argument) const {
        function_of<tulle_activity_function_t>(code)(argument.data(), argument.size());
    }
};

} // namespace tulle::capi
