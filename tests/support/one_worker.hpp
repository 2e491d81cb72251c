// SPDX-License-Identifier: Apache-2.0
// The run time with one worker, for the scope's time. The worker goes on with another thread only
// when the one that it runs waits, yields or ends: a thread that has said that it is going to wait,
// waits as soon as another one sees that.
#pragma once

#include <tulle/runtime.hpp>

class one_worker {
public:
    one_worker() {
        if (tulle::is_initialized()) tulle::finalize();
        tulle::set_option("max_substitutes", "off"); // exactly one
        tulle::initialize({.workers = 1});
    }
    ~one_worker() { tulle::finalize(); }
    one_worker(one_worker const&) = delete;
    one_worker& operator=(one_worker const&) = delete;
};
