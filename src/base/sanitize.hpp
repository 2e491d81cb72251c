// SPDX-License-Identifier: Apache-2.0
// Marks functions that read memory which a sanitizer would say that they must not read, such as
// other threads' stacks; and says which sanitizer the library is built with.
#pragma once

// clang's last attribute is for atomic accesses, which its thread sanitizer instruments in spite of
// the others.
#if defined(__clang__)
#define TULLE_NO_SANITIZE                                                                          \
    __attribute__((noinline, no_sanitize("address", "thread", "undefined"),                        \
                   disable_sanitizer_instrumentation))
#else
#define TULLE_NO_SANITIZE                                                                          \
    __attribute__((noinline, no_sanitize_address, no_sanitize_thread, no_sanitize_undefined))
#endif

namespace tulle::base {

#if defined(__clang__) // not __has_feature: the sanitizers' headers define that for gcc, as 0
inline constexpr bool k_thread_sanitizer = __has_feature(thread_sanitizer);
inline constexpr bool k_address_sanitizer = __has_feature(address_sanitizer);
#else
#if defined(__SANITIZE_THREAD__)
inline constexpr bool k_thread_sanitizer = true;
#else
inline constexpr bool k_thread_sanitizer = false;
#endif
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool k_address_sanitizer = true;
#else
inline constexpr bool k_address_sanitizer = false;
#endif
#endif

} // namespace tulle::base
