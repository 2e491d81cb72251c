// SPDX-License-Identifier: Apache-2.0
// Exceptions that travel: the standard ones as what they are, others as remote_error with their
// type's name and what they said.
#pragma once

#include <tulle/wire.hpp>

#include <exception>
#include <string>
#include <typeinfo>

namespace tulle::messenger {

void put_exception(wire_writer& out, std::exception_ptr const& e,
                   int here); // throws std::bad_alloc
// Throws std::bad_alloc, wire_error.
[[nodiscard]] std::exception_ptr get_exception(wire_reader& in);

// As it is written in the source.
[[nodiscard]] std::string readable_name(std::type_info const& type);

// Of the exception that is being handled; of none that C++ knows: void. The object does not always
// tell: that of a class of a program without run-time type information has no type in its table of
// virtual functions.
[[nodiscard]] std::type_info const& handled_type() noexcept;

// An exception that fits into any message, as it says less than `e`.
[[nodiscard]] std::exception_ptr shortened(std::exception_ptr const& e, int here);

} // namespace tulle::messenger
