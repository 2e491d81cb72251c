// SPDX-License-Identifier: Apache-2.0
// The functions of this library under the names that programs call, for functions that are made of
// them: a plain call would pass them by (--wrap).
#pragma once

#define TULLE_OWN(name) extern "C" decltype(::name) tulle_own_##name asm("__real_" #name)
