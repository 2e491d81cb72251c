/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QTHREAD_QTHREAD_H
#define QTHREAD_QTHREAD_H

#include "interface.h"

#ifdef __cplusplus
#include "qthread.hpp"
#endif

#endif
