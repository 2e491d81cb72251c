// SPDX-License-Identifier: Apache-2.0
#include "linearizability.hpp"

#include <qthread/dictionary.h>
#include <qthread/hash.h>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

void* pointer(std::size_t k) { return reinterpret_cast<void*>(k); }
std::size_t number(void const* p) { return reinterpret_cast<std::size_t>(p); }

int same_number(void* a, void* b) { return a == b ? 1 : 0; }
int hash_number(void* key) { return static_cast<int>(qt_hash64(number(key))); }
int same_hash_for_all(void*) { return 7; }

std::atomic<int> s_cleaned{0};
std::atomic<int> s_cleaned_with_value{0};
void count_cleanup(void*, void* value) {
    ++s_cleaned;
    if (value != nullptr) ++s_cleaned_with_value;
}

using dictionary = std::unique_ptr<qt_dictionary, void (*)(qt_dictionary*)>;
dictionary make(qt_dict_hash_f hash = hash_number, qt_dict_cleanup_f cleanup = nullptr) {
    return {qt_dictionary_create(same_number, hash, cleanup), qt_dictionary_destroy};
}

using iterator = std::unique_ptr<qt_dictionary_iterator, void (*)(qt_dictionary_iterator*)>;
iterator begin(dictionary const& d) {
    return {qt_dictionary_iterator_create(d.get()), qt_dictionary_iterator_destroy};
}

std::map<std::size_t, std::size_t> contents(dictionary const& d) {
    std::map<std::size_t, std::size_t> all;
    auto const it = begin(d);
    while (list_entry const* const e = qt_dictionary_iterator_next(it.get())) {
        EXPECT_EQ(qt_dictionary_iterator_get(it.get()), e);
        EXPECT_TRUE(all.emplace(number(e->key), number(e->value)).second) << "visited twice";
    }
    return all;
}

TEST(dictionary, put_get_delete) {
    auto const d = make();
    EXPECT_EQ(qt_dictionary_get(d.get(), pointer(1)), nullptr);
    EXPECT_EQ(qt_dictionary_put(d.get(), pointer(1), pointer(10)), pointer(10));
    EXPECT_EQ(qt_dictionary_get(d.get(), pointer(1)), pointer(10));
    EXPECT_EQ(qt_dictionary_put(d.get(), pointer(1), pointer(11)), pointer(11));
    EXPECT_EQ(qt_dictionary_put_if_absent(d.get(), pointer(1), pointer(12)), pointer(11));
    EXPECT_EQ(qt_dictionary_put_if_absent(d.get(), pointer(2), pointer(20)), pointer(20));
    EXPECT_EQ(qt_dictionary_delete(d.get(), pointer(1)), pointer(11));
    EXPECT_EQ(qt_dictionary_delete(d.get(), pointer(1)), nullptr);
    EXPECT_EQ(contents(d), (std::map<std::size_t, std::size_t>{{2, 20}}));
}

TEST(dictionary, without_one) {
    EXPECT_EQ(qt_dictionary_create(nullptr, hash_number, nullptr), nullptr);
    EXPECT_EQ(qt_dictionary_create(same_number, nullptr, nullptr), nullptr);
    EXPECT_EQ(qt_dictionary_put(nullptr, pointer(1), pointer(1)), nullptr);
    EXPECT_EQ(qt_dictionary_put_if_absent(nullptr, pointer(1), pointer(1)), nullptr);
    EXPECT_EQ(qt_dictionary_get(nullptr, pointer(1)), nullptr);
    EXPECT_EQ(qt_dictionary_delete(nullptr, pointer(1)), nullptr);
    EXPECT_EQ(qt_dictionary_iterator_create(nullptr), ERROR);
    EXPECT_EQ(qt_dictionary_iterator_next(nullptr), ERROR);
    EXPECT_EQ(qt_dictionary_iterator_get(nullptr), ERROR);
    EXPECT_EQ(qt_dictionary_iterator_copy(nullptr), nullptr);
    EXPECT_EQ(qt_dictionary_end(nullptr), nullptr);
    EXPECT_EQ(qt_dictionary_iterator_equals(nullptr, nullptr), 1);
    qt_dictionary_destroy(nullptr);
    qt_dictionary_iterator_destroy(nullptr);
    qt_dictionary_printbuckets(nullptr);
}

TEST(dictionary, cleanup_is_called_for_what_goes) {
    s_cleaned = s_cleaned_with_value = 0;
    {
        auto const d = make(hash_number, count_cleanup);
        for (std::size_t k = 1; k != 11; ++k) qt_dictionary_put(d.get(), pointer(k), pointer(k));
        qt_dictionary_put(d.get(), pointer(1), pointer(5));
        EXPECT_EQ(s_cleaned, 0);
        qt_dictionary_delete(d.get(), pointer(3));
        EXPECT_EQ(s_cleaned, 1);
        EXPECT_EQ(s_cleaned_with_value, 0);
    }
    EXPECT_EQ(s_cleaned, 10);
    EXPECT_EQ(s_cleaned_with_value, 9);
}

// The same operations on a dictionary and on a map, with many keys and with keys of one hash only.
void compare_with_map(qt_dict_hash_f hash, std::size_t keys, std::size_t steps) {
    auto const d = make(hash);
    std::map<std::size_t, std::size_t> expected;
    for (std::size_t k = 0; k != steps; ++k) {
        std::size_t const key = qt_hash64(k) % keys + 1;
        if (k % 3 == 2) {
            auto const old = expected.find(key);
            ASSERT_EQ(number(qt_dictionary_delete(d.get(), pointer(key))),
                      old == expected.end() ? 0 : old->second);
            if (old != expected.end()) expected.erase(old);
        } else {
            ASSERT_EQ(number(qt_dictionary_put(d.get(), pointer(key), pointer(k + 1))), k + 1);
            expected[key] = k + 1;
        }
    }
    EXPECT_EQ(contents(d), expected);
}

TEST(dictionary, as_a_map) { compare_with_map(hash_number, 5000, 20000); }
TEST(dictionary, as_a_map_when_all_hashes_are_alike) {
    compare_with_map(same_hash_for_all, 50, 1000);
}

TEST(dictionary, iterators_compare) {
    auto const d = make();
    qt_dictionary_put(d.get(), pointer(1), pointer(1));
    auto const a = begin(d);
    auto const b = begin(d);
    iterator const end{qt_dictionary_end(d.get()), qt_dictionary_iterator_destroy};
    EXPECT_EQ(qt_dictionary_iterator_equals(a.get(), b.get()), 1);
    EXPECT_EQ(qt_dictionary_iterator_equals(a.get(), end.get()), 0);
    EXPECT_EQ(qt_dictionary_iterator_get(a.get()), nullptr);
    list_entry const* const first = qt_dictionary_iterator_next(a.get());
    EXPECT_EQ(qt_dictionary_iterator_equals(a.get(), b.get()), 0);
    iterator const copy{qt_dictionary_iterator_copy(a.get()), qt_dictionary_iterator_destroy};
    EXPECT_EQ(qt_dictionary_iterator_equals(a.get(), copy.get()), 1);
    EXPECT_EQ(qt_dictionary_iterator_get(copy.get()), first);
    EXPECT_EQ(qt_dictionary_iterator_next(a.get()), nullptr);
    EXPECT_EQ(qt_dictionary_iterator_equals(a.get(), end.get()), 1);
    EXPECT_EQ(qt_dictionary_iterator_next(end.get()), nullptr);
    EXPECT_EQ(qt_dictionary_iterator_equals(a.get(), nullptr), 0);
}

// Visits all that stay, though others come and go, and the table grows.
TEST(dictionary, iterators_end_after_the_dictionary) {
    dictionary d = make();
    qt_dictionary_put(d.get(), pointer(8), pointer(1));
    qt_dictionary_iterator* const it = qt_dictionary_iterator_create(d.get());
    qt_dictionary_iterator* const copy = qt_dictionary_iterator_copy(it);
    EXPECT_NE(qt_dictionary_iterator_next(it), nullptr);
    qt_dictionary_delete(d.get(), pointer(8)); // kept for the iterators
    d.reset();
    qt_dictionary_iterator_destroy(it);
    qt_dictionary_iterator_destroy(copy);
}

TEST(dictionary, iterators_survive_changes) {
    auto const d = make();
    for (std::size_t k = 1; k != 1001; ++k) qt_dictionary_put(d.get(), pointer(k), pointer(k));
    std::set<std::size_t> seen;
    auto const it = begin(d);
    std::size_t fresh = 10000;
    while (list_entry const* const e = qt_dictionary_iterator_next(it.get())) {
        std::size_t const key = number(e->key);
        EXPECT_TRUE(seen.insert(key).second) << key;
        if (key % 2 == 0) qt_dictionary_delete(d.get(), pointer(key));
        EXPECT_EQ(number(e->value), key); // readable, though deleted
        if (fresh != 20000) qt_dictionary_put(d.get(), pointer(fresh), pointer(fresh)), ++fresh;
    }
    for (std::size_t k = 1; k != 1001; ++k) EXPECT_EQ(seen.count(k), 1U) << k;
}

TEST(dictionary, prints_its_size) {
    auto const d = make();
    qt_dictionary_put(d.get(), pointer(1), pointer(1));
    testing::internal::CaptureStdout();
    qt_dictionary_printbuckets(d.get());
    EXPECT_NE(testing::internal::GetCapturedStdout().find("total elements = 1;"),
              std::string::npos);
}

// --- histories -----------------------------------------------------------------------------------

struct operation {
    enum class kind { put, put_if_absent, get, remove } what;
    std::size_t key;
    std::size_t value;
    std::size_t result;
};

struct map_model {
    std::map<std::size_t, std::size_t> items{};
    auto operator<=>(map_model const&) const = default;
    bool operator==(map_model const&) const = default;
    bool apply(operation const& o) {
        auto const found = items.find(o.key);
        std::size_t const old = found == items.end() ? 0 : found->second;
        switch (o.what) {
            case operation::kind::put: items[o.key] = o.value; return o.result == o.value;
            case operation::kind::put_if_absent:
                return o.result == items.emplace(o.key, o.value).first->second;
            case operation::kind::get: return o.result == old;
            case operation::kind::remove: items.erase(o.key); return o.result == old;
        }
        return false;
    }
};

std::size_t perform(qt_dictionary* d, operation const& o) {
    switch (o.what) {
        case operation::kind::put:
            return number(qt_dictionary_put(d, pointer(o.key), pointer(o.value)));
        case operation::kind::put_if_absent:
            return number(qt_dictionary_put_if_absent(d, pointer(o.key), pointer(o.value)));
        case operation::kind::get: return number(qt_dictionary_get(d, pointer(o.key)));
        case operation::kind::remove: return number(qt_dictionary_delete(d, pointer(o.key)));
    }
    return 0;
}

TEST(linearizable, dictionary) {
    constexpr std::size_t k_threads = 3, k_steps = 8, k_histories = 300;
    for (std::size_t h = 0; h != k_histories; ++h) {
        auto const d = make();
        std::atomic<std::uint64_t> clock{0};
        std::atomic<std::size_t> ready{0};
        std::vector<linearizability::recorder<operation>> recorders(
            k_threads, linearizability::recorder<operation>(clock));
        std::vector<std::thread> threads;
        for (std::size_t t = 0; t != k_threads; ++t) {
            threads.emplace_back([&, t] {
                ++ready;
                while (ready != k_threads) std::this_thread::yield();
                for (std::size_t k = 0; k != k_steps; ++k) {
                    std::uint64_t const random = qt_hash64(h * 1000 + t * 100 + k);
                    operation o{static_cast<operation::kind>(random % 4), random / 4 % 2 + 1,
                                t * 100 + k + 1, 0};
                    recorders[t].record([&] {
                        o.result = perform(d.get(), o);
                        return o;
                    });
                }
            });
        }
        for (auto& t : threads) t.join();
        std::vector<linearizability::event<operation>> history;
        for (auto const& r : recorders)
            history.insert(history.end(), r.events().begin(), r.events().end());
        linearizability::checker<map_model, operation> checker(history);
        ASSERT_TRUE(checker.is_linearizable({})) << "history " << h;
    }
}

} // namespace
