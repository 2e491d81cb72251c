// SPDX-License-Identifier: Apache-2.0
// One entry for functions with and without a result, as the kernels call it (kernels/fib.hpp):
// `invoke` on top of a library's own `both` (a pair of results) and `both_void`.
#pragma once

#include <type_traits>

namespace tulle::bench {

template <class Library> struct fork_join {
    template <class F, class G> [[gnu::always_inline]] static auto invoke(F&& f, G&& g) {
        if constexpr (std::is_void_v<decltype(f())>)
            Library::both_void(f, g);
        else
            return Library::both(f, g);
    }
};

} // namespace tulle::bench
