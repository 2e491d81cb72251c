// SPDX-License-Identifier: Apache-2.0
//
// TULLE_API marks what the shared library exports; everything else is hidden. Valid in C11 and
// C++20.
#ifndef TULLE_DETAIL_VISIBILITY_H
#define TULLE_DETAIL_VISIBILITY_H

#define TULLE_API __attribute__((visibility("default")))

#endif
