// SPDX-License-Identifier: Apache-2.0
//
// The version of these headers. The build reads it from here. Valid in C11 and C++20.
#ifndef TULLE_DETAIL_VERSION_H
#define TULLE_DETAIL_VERSION_H

/* Of these headers; tulle_version() tells of the library. */
#define TULLE_VERSION_MAJOR 0
#define TULLE_VERSION_MINOR 1
#define TULLE_VERSION_PATCH 0

#endif
