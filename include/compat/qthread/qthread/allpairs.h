/* SPDX-License-Identifier: Apache-2.0
 *
 * A function of each pair of a unit of one array and a unit of another, by all workers in any
 * order. */
#ifndef QTHREAD_ALLPAIRS_H
#define QTHREAD_ALLPAIRS_H

#include "macros.h"
#include "qarray.h"

Q_STARTCXX

typedef void (*dist_f)(void const* unit1, void const* unit2);
typedef void (*dist_out_f)(void const* unit1, void const* unit2, void* restrict outstore);

void qt_allpairs(qarray const* array1, qarray const* array2, dist_f distfunc);
/* The result of units i and j goes to (char*)output[i] + j * outsize; without `output`, to NULL. */
void qt_allpairs_output(qarray const* array1, qarray const* array2, dist_out_f distfunc,
                        void* restrict* restrict output, size_t outsize);

Q_ENDCXX

#endif
