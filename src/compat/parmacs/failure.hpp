// SPDX-License-Identifier: Apache-2.0
// Macros return nothing, so an error of one ends the program with a message.
#pragma once

namespace tulle::parmacs {

[[noreturn, gnu::format(printf, 1, 2)]] void fail(char const* format, ...) noexcept;

} // namespace tulle::parmacs
