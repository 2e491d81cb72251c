// SPDX-License-Identifier: Apache-2.0
#include <qthread/cacheline.h>

#include <unistd.h>

int qthread_cacheline() {
    constexpr int k_usual = 64;
    long const bytes = ::sysconf(_SC_LEVEL1_DCACHE_LINESIZE);
    return bytes > 0 ? static_cast<int>(bytes) : k_usual;
}
