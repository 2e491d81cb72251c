/* SPDX-License-Identifier: Apache-2.0 */
/* For programs that say #include <qthread.h>. */
#include "qthread/qthread.h"
