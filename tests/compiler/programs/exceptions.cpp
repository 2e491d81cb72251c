// SPDX-License-Identifier: Apache-2.0
// What an exception passes on its way out of a call: the handler knows of no check.
#include "recorder.h"

#include <new>
#include <stdexcept>

namespace {

struct node {
    long value;
    node* next;
    virtual long get() const {
        synchronise();
        long const found = value;
        synchronise();
        return found;
    }
};

struct on_exit {
    long* counter;
    ~on_exit() { ++*counter; }
};

[[gnu::noinline]] void synchronise_and_throw(bool wanted) {
    synchronise();
    if (wanted) throw std::runtime_error("thrown");
}

[[gnu::noinline]] long caught(long* a) {
    a[0] = 7;
    try {
        synchronise_and_throw(true);
    } catch (std::runtime_error const&) {
        return a[0];
    }
    return 0;
}

[[gnu::noinline]] void cleaned_up(long* a, bool by_exception) {
    a[0] = 8;
    on_exit const count{a};
    synchronise_and_throw(by_exception);
}

[[gnu::noinline]] long walk(node const* n) {
    long s = 0;
    for (; n != nullptr; n = n->next) s += n->get();
    return s;
}

} // namespace

int main() {
    auto* const a = static_cast<long*>(coherent_memory(64));
    REQUIRE(caught(a) == 7);
    synchronise();
    try {
        cleaned_up(a, false);
        REQUIRE(a[0] == 9);
        synchronise();
        cleaned_up(a, true);
    } catch (std::exception const&) {
        synchronise();
    }
    REQUIRE(a[0] == 9);
    node* list = nullptr;
    for (int i = 0; i < 10; ++i) {
        auto* const n = new (coherent_memory(sizeof(node))) node;
        n->value = i;
        n->next = list;
        list = n;
        synchronise();
    }
    REQUIRE(walk(list) == 45);
    return 0;
}
