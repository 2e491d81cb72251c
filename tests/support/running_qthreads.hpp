// SPDX-License-Identifier: Apache-2.0
// The Qthreads face for as long as a test runs.
#pragma once

#include <qthread/qthread.h>

#include <gtest/gtest.h>

namespace tulle::testing {

class running_qthreads {
public:
    explicit running_qthreads(qthread_shepherd_id_t shepherds) {
        EXPECT_EQ(qthread_init(shepherds), QTHREAD_SUCCESS);
    }
    running_qthreads(running_qthreads const&) = delete;
    running_qthreads& operator=(running_qthreads const&) = delete;
    ~running_qthreads() { qthread_finalize(); }
};

} // namespace tulle::testing
