// SPDX-License-Identifier: Apache-2.0
//
// Exceptions that leave forked threads, threads with a handle and children of a scope, some of them
// while others wait.
#include "inject.hpp"

#include <tulle/tulle.hpp>

#include <stdexcept>

namespace {

int fail_after_yield(int value) {
    tulle::this_thread::yield();
    throw std::runtime_error(std::to_string(value));
}

template <class Call> void must_throw(Call call) {
    bool thrown = false;
    try {
        call();
    } catch (std::runtime_error const& e) {
        thrown = e.what() == std::string("7");
    }
    fault::require(thrown, "an exception is lost");
}

void throw_from_fork() {
    must_throw([] {
        auto child = tulle::fork([] { return fail_after_yield(7); });
        auto other = tulle::fork([] { tulle::this_thread::yield(); });
        static_cast<void>(child.join());
    });
}

void throw_from_thread() {
    must_throw([] {
        tulle::thread<int> thread;
        if (!fault::attempt([&] { thread = tulle::spawn(&fail_after_yield, 7); }))
            throw std::runtime_error("7");
        static_cast<void>(thread.join());
    });
}

void throw_from_scope() {
    must_throw([] {
        tulle::scope children;
        for (int k = 0; k < 10; ++k) children.spawn([] { static_cast<void>(fail_after_yield(7)); });
        children.join();
    });
}

void body() {
    fault::run_time const running(2);
    for (int k = 0; k < 10; ++k) {
        throw_from_fork();
        throw_from_thread();
        throw_from_scope();
    }
}

} // namespace

int main() { return fault::run(&body); }
