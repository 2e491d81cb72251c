// SPDX-License-Identifier: Apache-2.0

#include <tulle/version.hpp>

#define TULLE_TEXT_OF(x) #x
#define TULLE_TEXT(x) TULLE_TEXT_OF(x)

namespace tulle {

char const* version() noexcept {
    return TULLE_TEXT(TULLE_VERSION_MAJOR) "." TULLE_TEXT(TULLE_VERSION_MINOR) "." TULLE_TEXT(
        TULLE_VERSION_PATCH);
}

} // namespace tulle
