// SPDX-License-Identifier: Apache-2.0
// Cases of C++: what becomes of exceptions, and of objects on the stack of a thread that ends.
#include "cases.h"

#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

struct noisy {
    char const* name;
    ~noisy() { std::printf("destroyed: %s\n", name); }
};

thread_local noisy t_own{"with its thread"};

void* touch_own(void* argument) {
    std::puts(t_own.name);
    return argument;
}
void* touch_own_and_exit(void* argument) {
    noisy const here{"before what the thread has of its own"};
    pthread_exit(touch_own(argument));
}

// How a child process ends in which a thread runs `f`.
template <class F> void show_end(F f) {
    std::fflush(stdout);
    pid_t const child = fork();
    if (child == 0) {
        rlimit const none{0, 0};
        setrlimit(RLIMIT_CORE, &none);
        std::thread(f).join();
        std::puts("the thread has been joined");
        std::fflush(stdout);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    SHOW(WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

void say_and_abort() {
    std::puts("a handler for terminate");
    std::fflush(stdout);
    std::abort();
}

void* throw_it(void*) {
    noisy const here{"in the frame that throws"};
    throw std::runtime_error("thrown");
}

void* exit_in_handler(void* argument) {
    try {
        noisy const here{"before the handler"};
        throw 1;
    } catch (int) {
        noisy const here{"in the handler"};
        pthread_exit(argument);
    }
}

void* pass_on(void* argument) {
    noisy const outer{"around the handler"};
    try {
        pthread_exit(argument);
    } catch (...) {
        std::puts("passed on");
        throw;
    }
}

void* catch_own(void* argument) {
    for (int k = 0; k != 3; ++k) {
        try {
            noisy const here{"thrown over"};
            throw std::runtime_error("caught");
        } catch (std::exception const& e) {
            std::puts(e.what());
        }
    }
    return argument;
}

// What a log that the destructor of a key writes to would have.
std::string& own_text() {
    thread_local std::string text;
    return text;
}

void write_text(void*) { own_text().assign(1000, 'x'); }

void* leave_value(void* key) {
    pthread_setspecific(*static_cast<pthread_key_t*>(key), key);
    return nullptr;
}
// Whether its text is as new.
void* look_at_text(void* argument) {
    bool const is_new = own_text().empty();
    own_text().assign(2000, 'y');
    return is_new ? argument : nullptr;
}

} // namespace

void uncaught() {
    show_end([] { static_cast<void>(throw_it(nullptr)); });
    show_end([] {
        pthread_t t;
        pthread_create(&t, nullptr, &throw_it, nullptr);
        pthread_join(t, nullptr);
    });
    show_end([] { std::terminate(); });
    show_end([] {
        std::set_terminate(&say_and_abort);
        throw 7;
    });
    show_end([]() noexcept { throw_it(nullptr); });
    show_end([] {
        try {
            pthread_exit(nullptr);
        } catch (...) {
            std::puts("caught and kept");
            std::fflush(stdout);
        }
    });
    show_end([] { std::thread t([] {}); });
}

void unwound() {
    SHOW(in_thread(&exit_in_handler, stdout) == stdout);
    SHOW(in_thread(&pass_on, stdout) == stdout);
    SHOW(in_thread(&catch_own, stdout) == stdout);
}

void objects_of_threads() {
    SHOW(in_thread(&touch_own, stdout) == stdout);
    SHOW(in_thread(&touch_own_and_exit, stdout) == stdout);
    SHOW(in_thread(&touch_own, stdout) == stdout);
}

// The destructor of a key is the first in its thread to use a thread-local object.
void objects_of_destructors() {
    pthread_key_t key{};
    int good = 0;
    pthread_key_create(&key, &write_text);
    for (int k = 0; k != 20; ++k) {
        in_thread(&leave_value, &key);
        good += in_thread(&look_at_text, &key) == &key ? 1 : 0;
    }
    SHOW(good);
}
