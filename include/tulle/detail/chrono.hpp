// SPDX-License-Identifier: Apache-2.0
// Durations, points in time, clocks and their literals, of <chrono>. Its calendar and its
// formatting, with the streams that these need, are a tenth of the time that a compiler takes for
// all of Tulle; code that uses them includes <chrono>.
#pragma once

#if defined(__has_include) &&                                                                      \
    __has_include(<bits/chrono.h>) // GNU's library keeps them in a file of their own
#include <bits/chrono.h>
#else
#include <chrono>
#endif
