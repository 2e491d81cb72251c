// SPDX-License-Identifier: Apache-2.0
// Names of functions and variables in object files, as the source of a program in C++ has them.
#pragma once

#include <cstdlib>
#include <memory>

#include <cxxabi.h>

namespace tulle::base {

// Null: the symbol is not one of C++, and is its own name, or there is no memory. Names of C must
// not be asked for: `f` alone is a type to the demangler, float.
inline std::unique_ptr<char, void (*)(void*)> name_in_source(char const* symbol) noexcept {
    bool const is_mangled = symbol[0] == '_' && symbol[1] == 'Z';
    return {is_mangled ? abi::__cxa_demangle(symbol, nullptr, nullptr, nullptr) : nullptr,
            &std::free};
}

} // namespace tulle::base
