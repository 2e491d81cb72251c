// SPDX-License-Identifier: Apache-2.0
// Which sanitizer a program is built with, for the scripts that drive it: some things are the
// sanitizer's business there.
#pragma once

#if !defined(__has_feature)
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
inline constexpr char k_sanitizer[] = "AddressSanitizer";
#elif defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
inline constexpr char k_sanitizer[] = "ThreadSanitizer";
#else
inline constexpr char k_sanitizer[] = "";
#endif
