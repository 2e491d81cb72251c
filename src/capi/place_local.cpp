// SPDX-License-Identifier: Apache-2.0
// The C functions of <tulle/c/place_local.h>.
#include "capi/bytes.hpp"
#include "capi/local_names.hpp"
#include "capi/without_exceptions.hpp"

#include <tulle/c/place_local.h>
#include <tulle/finish.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace tulle::capi {
namespace {

using make_function = void*(void const*, std::size_t);
using destroy_function = void(void*);

void leave_alone(void* /*object*/) {}

void make_local(std::uint64_t name, code_name make, code_name destroy, byte_block const& argument) {
    auto* const end = destroy != 0 ? function_of<destroy_function>(destroy) : &leave_alone;
    void* const made = function_of<make_function>(make)(argument.data(), argument.size());
    if (made == nullptr) throw std::bad_alloc();
    detail::set_local_object(name, std::shared_ptr<void>(made, end));
}

std::uint64_t make_local_everywhere(code_name make, code_name destroy, byte_block const& argument) {
    return make_under_new_name([&](activities& all, std::uint64_t name) {
        for (place const p : places())
            all.async_at(
                p,
                [](std::uint64_t its_name, code_name m, code_name d, byte_block const& bytes) {
                    make_local(its_name, m, d, bytes);
                },
                name, make, destroy, argument);
    });
}

} // namespace
} // namespace tulle::capi

using namespace tulle::capi;

int tulle_place_local_create(tulle_place_local_t* out,
                             void* (*make)(const void* argument, size_t size),
                             void (*destroy)(void* object), const void* argument, size_t size) {
    if (out == nullptr) return -EINVAL;
    if (int const error = refusal_of(make, argument, size)) return error;
    code_name const end = destroy != nullptr ? name_of_function(destroy) : 0;
    if (destroy != nullptr && end == 0) return -ENOENT;
    return without_exceptions([&] {
        out->name = make_local_everywhere(name_of_function(make), end, copy_of(argument, size));
        return 0;
    });
}

void* tulle_place_local_get(tulle_place_local_t objects) {
    void* found = nullptr;
    static_cast<void>(without_exceptions([&] {
        found = tulle::detail::local_object(objects.name).get();
        return 0;
    }));
    return found;
}

int tulle_place_local_destroy(tulle_place_local_t objects) {
    if (objects.name == 0) return -EINVAL;
    return without_exceptions([objects] {
        forget_everywhere(objects.name);
        return 0;
    });
}
