// SPDX-License-Identifier: Apache-2.0
#include "runtime/service.hpp"

#include <cerrno>
#include <cstddef>
#include <new>

namespace tulle::runtime {

namespace {

int start_one(service const& one, launch const& with) noexcept {
    if (one.start == nullptr) return 0;
    try {
        return one.start(with);
    } catch (std::bad_alloc const&) {
        return ENOMEM;
    }
}

} // namespace

start_result start_all(std::span<service const> list, launch const& with) noexcept {
    for (std::size_t k = 0; k < list.size(); ++k) {
        if (int const error = start_one(list[k], with)) {
            stop_all(list.first(k), with);
            return {error, list[k].name};
        }
    }
    return {};
}

void stop_all(std::span<service const> list, launch const& with) noexcept {
    for (std::size_t k = list.size(); k > 0; --k)
        if (list[k - 1].stop != nullptr) list[k - 1].stop(with);
}

} // namespace tulle::runtime
