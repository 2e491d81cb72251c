// SPDX-License-Identifier: Apache-2.0
//
// Exceptions that leave forked threads, threads with a handle and children of a scope, some of them
// while others wait; and the text of a list of exceptions.
#include "inject.hpp"

#include <tulle/tulle.hpp>

#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

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

// Without memory for the text of the first one the list is made all the same.
void list_exceptions(std::exception_ptr const& one) {
    auto const make = [&one] {
        tulle::exception_list const list({one, one});
        fault::require(list.all().size() == 2 &&
                           std::string_view(list.what()).starts_with("tulle::finish: 2 exceptions"),
                       "a list of exceptions says something else");
    };
    static_cast<void>(fault::attempt(make, fault::allows::bad_alloc_too));
}

void body() {
    fault::run_time const running(2);
    list_exceptions(std::make_exception_ptr(std::runtime_error(std::string(300, 'x'))));
    for (int k = 0; k < 10; ++k) {
        throw_from_fork();
        throw_from_thread();
        throw_from_scope();
    }
}

} // namespace

int main() { return fault::run(&body); }
