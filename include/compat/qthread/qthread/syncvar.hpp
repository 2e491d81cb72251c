// SPDX-License-Identifier: Apache-2.0
// A syncvar_t as a class. Values have 60 bits.
#ifndef QTHREAD_SYNCVAR_HPP
#define QTHREAD_SYNCVAR_HPP

#include "interface.h"

#include <cassert>

class syncvar {
public:
    syncvar() noexcept { the_syncvar_t.u.w = 0; } // full, 0
    syncvar(uint64_t const& val) noexcept { the_syncvar_t.u.w = checked(val) << 4; }
    syncvar(syncvar const& val) noexcept { the_syncvar_t.u.w = val.the_syncvar_t.u.w; }
    syncvar(syncvar_t const& val) noexcept { the_syncvar_t.u.w = val.u.w; }
    syncvar& operator=(syncvar const& val) noexcept {
        the_syncvar_t.u.w = val.the_syncvar_t.u.w;
        return *this;
    }

    int empty() { return qthread_syncvar_empty(&the_syncvar_t); }
    int fill() { return qthread_syncvar_fill(&the_syncvar_t); }
    int status() { return qthread_syncvar_status(&the_syncvar_t); }

    uint64_t readFF() {
        uint64_t value = 0;
        readFF(&value);
        return value;
    }
    int readFF(uint64_t* const dest) { return qthread_syncvar_readFF(dest, &the_syncvar_t); }
    uint64_t readFE() {
        uint64_t value = 0;
        readFE(&value);
        return value;
    }
    int readFE(uint64_t* const dest) { return qthread_syncvar_readFE(dest, &the_syncvar_t); }

    int writeF(uint64_t src) { return qthread_syncvar_writeF_const(&the_syncvar_t, checked(src)); }
    int writeEF(uint64_t src) {
        return qthread_syncvar_writeEF_const(&the_syncvar_t, checked(src));
    }
    uint64_t incr(int64_t inc = 1) {
        return qthread_syncvar_incrF(&the_syncvar_t, static_cast<uint64_t>(inc));
    }

    // Whatever the state is, and without regard to other threads.
    uint64_t read() const { return the_syncvar_t.u.w >> 4; }
    void write(uint64_t src) {
        the_syncvar_t.u.w = (the_syncvar_t.u.w & 0xf) | (checked(src) << 4);
    }

protected:
    syncvar_t the_syncvar_t;

private:
    static uint64_t checked(uint64_t value) noexcept {
        assert((value & UINT64_C(0xf000000000000000)) == 0);
        return value;
    }
};

#endif
