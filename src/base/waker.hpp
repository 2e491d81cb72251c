// SPDX-License-Identifier: Apache-2.0
// How an OS thread is woken that sleeps elsewhere than on a futex.
#pragma once

namespace tulle::base {

class waker {
public:
    // Any thread. The sleeper, which may be awake by now, sees what was written before.
    virtual void wake() noexcept = 0;

protected:
    ~waker() = default;
};

} // namespace tulle::base
