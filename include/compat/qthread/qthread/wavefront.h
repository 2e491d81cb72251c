/* SPDX-License-Identifier: Apache-2.0
 *
 * A rectangle of values, each of which is computed from those at its left, below, and left below.
 */
#ifndef QTHREAD_WAVEFRONT_H
#define QTHREAD_WAVEFRONT_H

#include "qarray.h"

Q_STARTCXX

typedef void (*wave_comp_f)(void const* restrict left, void const* restrict leftdown,
                            void const* restrict down, void* restrict out);
typedef void (*wave_f)(qarray* restrict left, qarray* restrict below, void** R);

typedef struct qt_wavefront_lattice_s qt_wavefront_lattice;

/* `left`: the values at the left edge, from below; `below`: those at the lower edge, the first of
 * which is the corner at the left. Computes the others, as many rows as `left` has and a column
 * less than `below` has, by all workers, in blocks of a segment of each. Keeps those at the edges
 * of the blocks. NULL: an array is missing, `below` has less than two units, their units have
 * different sizes, no memory. */
qt_wavefront_lattice* qt_wavefront(qarray* restrict const left, qarray* restrict const below,
                                   wave_comp_f func);
/* The values at the edges of blocks, which must be of type double, to the standard output, the
 * uppermost first. */
void qt_wavefront_print_lattice(qt_wavefront_lattice const* const L);
void qt_wavefront_destroy_lattice(qt_wavefront_lattice* const L);

/* The same for R[column][row], whose first column and row are given; by the caller alone. */
void qt_basic_wavefront(int* restrict const* const R, size_t cols, size_t rows, wave_comp_f func);

Q_ENDCXX

#endif
