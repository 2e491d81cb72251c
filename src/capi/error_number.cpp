// SPDX-License-Identifier: Apache-2.0
// Exceptions as numbers, for the C functions.
#include "capi/without_exceptions.hpp"

namespace tulle::capi {
namespace {

// Of several exceptions a death says most, and then a lack of memory.
int number_of_worst(exception_list const& e) noexcept {
    int worst = -EREMOTEIO;
    for (std::exception_ptr const& one : e.all()) {
        int const number = error_number(one);
        if (number == -EHOSTDOWN) return number;
        if (number == -ENOMEM) worst = number;
    }
    return worst;
}
int number_of_code(std::error_code const& code) noexcept {
    return code.value() > 0 ? -code.value() : -EREMOTEIO;
}

} // namespace

int error_number(std::exception_ptr const& e) noexcept try {
    std::rethrow_exception(e);
} catch (std::invalid_argument const&) {
    return -EINVAL;
} catch (std::out_of_range const&) {
    return -EFAULT;
} catch (std::length_error const&) {
    return -ENOMEM;
} catch (std::logic_error const&) {
    return -EPERM;
} catch (std::system_error const& error) {
    return number_of_code(error.code());
} catch (dead_place const&) {
    return -EHOSTDOWN;
} catch (exception_list const& all) {
    return number_of_worst(all);
} catch (std::bad_alloc const&) {
    return -ENOMEM;
} catch (...) {
    return -EREMOTEIO;
}

} // namespace tulle::capi
