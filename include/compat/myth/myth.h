/* SPDX-License-Identifier: Apache-2.0 */
/* Programs for MassiveThreads before 0.50 include <myth.h>. */
#ifndef TULLE_COMPAT_MYTH_H
#define TULLE_COMPAT_MYTH_H

#include <myth/myth.h>

#endif
