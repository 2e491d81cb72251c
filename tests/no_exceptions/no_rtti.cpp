// SPDX-License-Identifier: Apache-2.0
// A program that is compiled with -fno-rtti, alone and in two places: pointers that travel without
// classes to choose from, and exceptions that the library looks into, whose classes have no type in
// their tables of virtual functions.
#include <tulle/tulle.hpp>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#ifdef __GXX_RTTI
#error "this is about programs without run-time type information"
#endif

namespace {

int failures = 0;
void check(bool holds, std::string const& text) {
    if (holds) return;
    std::fprintf(stderr, "not so: %s\n", text.c_str());
    ++failures;
}

struct counted {
    virtual ~counted() = default;
    [[nodiscard]] virtual int count() const = 0;
};
struct pair_of_counts final : counted {
    int first = 0, second = 0;
    [[nodiscard]] int count() const override { return first + second; }
    template <class Archive> void serialize(Archive& archive) { archive(first, second); }
};
struct node {
    int number = 0;
    std::shared_ptr<node> next;
};

class own_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};
class own_code_error : public std::system_error {
public:
    using std::system_error::system_error;
};

void pointers(tulle::place there) {
    auto both = std::make_unique<pair_of_counts>();
    both->first = 1;
    both->second = 2;
    int const count = tulle::at(
        there, [](std::unique_ptr<pair_of_counts> const& p) { return p->count(); },
        std::move(both));
    check(count == 3, "an object of a class that is final");
    auto first = std::make_shared<node>();
    first->next = std::make_shared<node>();
    first->next->number = 7;
    int const number = tulle::at(
        there, [](std::shared_ptr<node> const& p) { return p->next->number; }, first);
    check(number == 7, "a list of nodes");
}

// What a call at that place throws.
template <class E> std::string thrown_at(tulle::place there, int which) {
    try {
        tulle::at(
            there,
            [](int kind) {
                if (kind == 0) throw std::out_of_range("far");
                if (kind == 1) throw own_error("own");
                if (kind == 2) throw own_code_error(EPERM, std::generic_category(), "code");
                throw 42;
            },
            which);
    } catch (E const& e) {
        return e.what();
    }
    return "nothing";
}

void exceptions(tulle::place there) {
    check(thrown_at<std::out_of_range>(there, 0) == "far", "a standard exception");
    if (there == tulle::here()) return; // the others arrive as themselves
    for (int const which : {1, 2, 3}) {
        std::string const text = thrown_at<tulle::remote_error>(there, which);
        char const* const types[] = {"", "own_error", "own_code_error", "(int"};
        check(text.find(types[which]) != std::string::npos, "the type of " + text);
    }
}

void lists(tulle::place there) {
    try {
        tulle::finish([there](tulle::activities& all) {
            for (int k = 0; k < 3; ++k) all.async_at(there, [] { throw own_error("own text"); });
        });
        check(false, "exceptions leave a finish");
    } catch (tulle::exception_list const& list) {
        check(list.all().size() == 3, "a list of all of them");
        check(std::string(list.what()).find("own text") != std::string::npos, list.what());
    }
}

} // namespace

int main() {
    check(tulle::fork([] { return 1; }).join() == 1, "fork and join");
    for (tulle::place const p : tulle::places()) {
        pointers(p);
        exceptions(p);
        lists(p);
    }
    return failures;
}
