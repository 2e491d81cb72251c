/* SPDX-License-Identifier: Apache-2.0 */
#include "store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As old libraries write TIFF on machines of 64 bits: structures as they lie in memory. */
struct header {
    char magic[4];
    char nothing[4];
    unsigned long directory;
};
struct entry {
    unsigned short tag;
    unsigned short type;
    /* here is padding */
    unsigned long count;
    unsigned long value;
};

static void put(FILE* out, void const* from, size_t bytes) {
    if (fwrite(from, 1, bytes, out) != bytes) exit(1);
}

/* What nobody sets is what happens to be there: padding, and the last byte of the pixels, as that
 * of a compressed picture may be. */
void store(char const* file, unsigned char const* pixels, long count) {
    FILE* out = fopen(file, "wb");
    struct header header = {"II*", "", sizeof header + (unsigned long)count + 1};
    unsigned short entries = 2;
    struct entry entry;
    unsigned short n;
    long k;
    if (out == NULL) exit(1);
    put(out, &header, sizeof header);
    for (k = 0; k < count; ++k) putc(pixels[k], out);
    putc((int)(getpid() & 127), out);
    put(out, &entries, sizeof entries);
    for (n = 0; n < entries; ++n) {
        memset(&entry, (int)(getpid() & 127), sizeof entry);
        entry.tag = n;
        entry.type = 3;
        entry.count = 1;
        entry.value = n + 5;
        put(out, &entry, sizeof entry);
    }
    fclose(out);
}
