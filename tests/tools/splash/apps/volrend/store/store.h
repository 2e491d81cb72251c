/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STORE_H
#define STORE_H

/* A picture in that file; the process that stores it has not seen all of the pixels before. */
void store(char const* file, unsigned char const* pixels, long count);

#endif
