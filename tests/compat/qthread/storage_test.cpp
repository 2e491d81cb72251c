// SPDX-License-Identifier: Apache-2.0
// qpool, and heaps in files (qalloc).
#include "base/sanitize.hpp"

#include <qthread/qalloc.h>
#include <qthread/qpool.h>
#include <qthread/qthread.h>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using pool = std::unique_ptr<qpool, void (*)(qpool*)>;
pool make_pool(std::size_t size, std::size_t alignment = 0) {
    return {qpool_create_aligned(size, alignment), qpool_destroy};
}

TEST(qpool, pieces_do_not_overlap) {
    for (std::size_t const size : {1U, 8U, 24U, 100U, 5000U, 200000U}) {
        auto const p = make_pool(size);
        std::vector<char*> pieces;
        for (int k = 0; k != 300; ++k) {
            pieces.push_back(static_cast<char*>(qpool_alloc(p.get())));
            ASSERT_NE(pieces.back(), nullptr);
            std::memset(pieces.back(), k, size);
        }
        for (std::size_t k = 0; k != pieces.size(); ++k) {
            EXPECT_EQ(pieces[k][0], static_cast<char>(k));
            EXPECT_EQ(pieces[k][size - 1], static_cast<char>(k));
        }
        for (char* piece : pieces) qpool_free(p.get(), piece);
    }
}

TEST(qpool, pieces_are_used_again) {
    pool const p{qpool_create(64), qpool_destroy};
    std::set<void*> seen;
    for (int k = 0; k != 10000; ++k) {
        void* const piece = qpool_alloc(p.get());
        seen.insert(piece);
        qpool_free(p.get(), piece);
    }
    EXPECT_EQ(seen.size(), 1U);
}

// What one shepherd does with a pool.
struct tenant {
    qpool* pool;
    qthread_shepherd_id_t shepherd;
    std::size_t wanted = 0;
    std::set<void*> pieces{};
    bool was_there = false;

    void take(std::size_t count) {
        wanted = count;
        run([](void* self) -> aligned_t {
            auto& t = *static_cast<tenant*>(self);
            t.was_there = qthread_shep() == t.shepherd;
            while (t.pieces.size() < t.wanted) t.pieces.insert(qpool_alloc(t.pool));
            return 0;
        });
    }
    std::set<void*> give() {
        run([](void* self) -> aligned_t {
            auto& t = *static_cast<tenant*>(self);
            t.was_there = qthread_shep() == t.shepherd;
            for (void* piece : t.pieces) qpool_free(t.pool, piece);
            return 0;
        });
        return std::exchange(pieces, {});
    }
    [[nodiscard]] bool has_one_of(std::set<void*> const& of) const {
        return std::any_of(pieces.begin(), pieces.end(),
                           [&of](void* piece) { return of.count(piece) != 0; });
    }
    void run(qthread_f f) {
        aligned_t done = 0;
        was_there = false;
        EXPECT_EQ(qthread_fork_to(f, this, &done, shepherd), QTHREAD_SUCCESS);
        EXPECT_EQ(qthread_readFF(nullptr, &done), QTHREAD_SUCCESS);
        EXPECT_TRUE(was_there);
    }
};

TEST(qpool, memory_stays_with_its_shepherd) {
    ASSERT_EQ(qthread_init(2), QTHREAD_SUCCESS);
    {
        auto const p = make_pool(64);
        tenant here{p.get(), 0}, there{p.get(), 1};
        here.take(10000);
        there.take(10000);
        std::set<void*> const from_here = here.give(), from_there = there.give();
        there.take(8000);
        here.take(8000);
        EXPECT_FALSE(there.has_one_of(from_here));
        EXPECT_FALSE(here.has_one_of(from_there));
        // Before new memory is taken, what others do not use is.
        static_cast<void>(here.give());
        there.take(15000);
        EXPECT_TRUE(there.has_one_of(from_here));
        static_cast<void>(there.give());
    }
    qthread_finalize();
}

TEST(qpool, aligns) {
    for (std::size_t const alignment : {16U, 64U, 4096U}) {
        auto const p = make_pool(40, alignment);
        for (int k = 0; k != 100; ++k)
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(qpool_alloc(p.get())) % alignment, 0U);
    }
    EXPECT_EQ(qpool_create_aligned(8, 48), nullptr);
    EXPECT_EQ(qpool_create(~std::size_t{0}), nullptr);
}

TEST(qpool, null) {
    EXPECT_EQ(qpool_alloc(nullptr), nullptr);
    qpool_free(nullptr, nullptr);
    qpool_destroy(nullptr);
    auto const p = make_pool(8);
    qpool_free(p.get(), nullptr);
}

// One thread takes, the other gives back: what comes back is used again, so the pool has no more
// pieces than were in use at once, and some that lie on lists.
TEST(qpool, pieces_come_back_from_another_thread) {
    constexpr int k_rounds = 2000, k_each = 64;
    auto const p = make_pool(64);
    std::vector<void*> handed(k_each);
    std::set<void*> seen;
    std::atomic<int> turn{0};
    std::thread other([&] {
        for (int r = 0; r != k_rounds; ++r) {
            // Not by yielding: beside busy processes each look would take a time slice.
            turn.wait(2 * r);
            for (void* piece : handed) qpool_free(p.get(), piece);
            turn = 2 * r + 2;
            turn.notify_one();
        }
    });
    for (int r = 0; r != k_rounds; ++r) {
        for (void*& piece : handed) seen.insert(piece = qpool_alloc(p.get()));
        turn = 2 * r + 1;
        turn.notify_one();
        turn.wait(2 * r + 1);
    }
    other.join();
    EXPECT_LT(seen.size(), 10000U);
}

TEST(qpool, many_threads) {
    auto const p = make_pool(sizeof(std::size_t));
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t != 4; ++t) {
        threads.emplace_back([&, t] {
            std::vector<std::size_t*> mine;
            for (std::size_t k = 0; k != 20000; ++k) {
                mine.push_back(static_cast<std::size_t*>(qpool_alloc(p.get())));
                *mine.back() = t;
                if (mine.size() == 500) {
                    for (std::size_t* piece : mine) {
                        ASSERT_EQ(*piece, t);
                        qpool_free(p.get(), piece);
                    }
                    mine.clear();
                }
            }
        });
    }
    for (auto& t : threads) t.join();
}

// --- heaps in files ------------------------------------------------------------------------------

// A name for a file that is not there, which is removed at the end.
class file_name {
public:
    file_name() {
        int const file = ::mkstemp(m_name.data());
        if (file >= 0) ::close(file);
    }
    ~file_name() {
        qalloc_cleanup();
        ::unlink(m_name.c_str());
    }
    file_name(file_name const&) = delete;
    file_name& operator=(file_name const&) = delete;
    [[nodiscard]] char const* get() const { return m_name.c_str(); }

private:
    std::string m_name = testing::TempDir() + "heapXXXXXX";
};

constexpr off_t k_size = off_t{4} << 20U;

TEST(qalloc, static_pieces_do_not_overlap) {
    file_name const name;
    auto* const map =
        static_cast<mapinfo_t*>(qalloc_makestatmap(k_size, nullptr, name.get(), 100, 3));
    ASSERT_NE(map, nullptr);
    std::vector<char*> pieces;
    while (auto* const piece = static_cast<char*>(qalloc_statmalloc(map))) {
        std::memset(piece, static_cast<int>(pieces.size()), 100);
        pieces.push_back(piece);
    }
    EXPECT_EQ(errno, ENOMEM);
    EXPECT_GT(pieces.size(), static_cast<std::size_t>(k_size) / 104 - 10);
    for (std::size_t k = 0; k != pieces.size(); ++k) ASSERT_EQ(pieces[k][99], static_cast<char>(k));
    for (char* piece : pieces) qalloc_statfree(piece, map);
    for (std::size_t k = 0; k != pieces.size(); ++k) ASSERT_NE(qalloc_malloc(map, 5), nullptr);
    EXPECT_EQ(qalloc_statmalloc(map), nullptr);
}

TEST(qalloc, dynamic_pieces_do_not_overlap) {
    file_name const name;
    auto* const map = static_cast<dynmapinfo_t*>(qalloc_makedynmap(k_size, nullptr, name.get(), 2));
    ASSERT_NE(map, nullptr);
    std::vector<std::pair<char*, std::size_t>> pieces;
    std::size_t size = 1;
    for (int k = 0; k != 400; ++k, size = size * 5 % 16381) {
        auto* const piece = static_cast<char*>(qalloc_dynmalloc(map, size));
        ASSERT_NE(piece, nullptr) << k;
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(piece) % 16, 0U);
        std::memset(piece, k, size);
        pieces.emplace_back(piece, size);
        if (k % 5 == 4) { // one goes
            qalloc_dynfree(pieces[pieces.size() / 2].first, map);
            pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(pieces.size() / 2));
        }
    }
    for (auto const& [piece, n] : pieces)
        ASSERT_TRUE(std::all_of(piece, piece + n, [first = *piece](char c) { return c == first; }));
}

TEST(qalloc, large_pieces_come_back) {
    file_name const name;
    void* const map = qalloc_makedynmap(k_size, nullptr, name.get(), 1);
    for (int k = 0; k != 100; ++k) {
        void* const a = qalloc_malloc(map, static_cast<std::size_t>(k_size) / 3);
        void* const b = qalloc_malloc(map, static_cast<std::size_t>(k_size) / 3);
        ASSERT_NE(a, nullptr);
        ASSERT_NE(b, nullptr);
        EXPECT_EQ(qalloc_malloc(map, static_cast<std::size_t>(k_size) / 2), nullptr);
        EXPECT_EQ(errno, ENOMEM);
        qalloc_free(a, map);
        qalloc_free(b, map);
    }
    EXPECT_EQ(qalloc_malloc(map, std::size_t{1} << 60U), nullptr);
}

// What one process leaves there, another one finds.
struct list_node {
    list_node* next;
    int number;
};

void leave_list(char const* name) {
    void* const map = qalloc_makedynmap(k_size, nullptr, name, 2);
    auto** const root = static_cast<list_node**>(qalloc_malloc(map, sizeof(list_node*)));
    *root = nullptr;
    for (int k = 0; k != 1000; ++k)
        *root = new (qalloc_malloc(map, sizeof(list_node))) list_node{*root, k};
    int const file =
        ::open((std::string(name) + ".root").c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
    bool const written = ::write(file, &root, sizeof root) == sizeof root;
    ::close(file);
    qalloc_cleanup();
    std::_Exit(written ? 0 : 1);
}

TEST(qalloc, data_persist) {
    file_name const name;
    pid_t const child = ::fork();
    if (child == 0) leave_list(name.get());
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
    list_node** root = nullptr;
    std::string const root_name = std::string(name.get()) + ".root";
    int const file = ::open(root_name.c_str(), O_RDONLY);
    ASSERT_EQ(::read(file, &root, sizeof root), static_cast<ssize_t>(sizeof root));
    ::close(file);
    ::unlink(root_name.c_str());
    void* const map = qalloc_loadmap(name.get());
    ASSERT_NE(map, nullptr) << std::strerror(errno);
    int expected = 1000;
    for (list_node const* n = *root; n != nullptr; n = n->next) ASSERT_EQ(n->number, --expected);
    EXPECT_EQ(expected, 0);
    void* const more = qalloc_malloc(map, sizeof(list_node));
    for (list_node const* n = *root; n != nullptr; n = n->next) ASSERT_NE(n, more);
}

TEST(qalloc, a_map_can_be_loaded_again) {
    file_name const name;
    auto* const map =
        static_cast<mapinfo_t*>(qalloc_makestatmap(k_size, nullptr, name.get(), 8, 1));
    auto* const piece = static_cast<int*>(qalloc_statmalloc(map));
    *piece = 42;
    qalloc_checkpoint();
    qalloc_cleanup();
    void* const again = qalloc_makestatmap(k_size, nullptr, name.get(), 8, 1);
    ASSERT_NE(again, nullptr) << std::strerror(errno);
    EXPECT_EQ(*piece, 42);
    EXPECT_NE(qalloc_malloc(again, 0), piece);
    qalloc_free(piece, again);
    EXPECT_EQ(qalloc_malloc(again, 0), piece);
}

// A file that somebody has written over is refused, or what it has left can be used.
class damaged_heap {
public:
    damaged_heap(char const* name, bool is_dynamic) : m_name(name) {
        void* const map = is_dynamic ? qalloc_makedynmap(k_small, nullptr, name, 2)
                                     : qalloc_makestatmap(k_small, nullptr, name, 64, 2);
        void* const piece = qalloc_malloc(map, 64);
        EXPECT_NE(qalloc_malloc(map, 10000), nullptr);
        qalloc_free(piece, map); // so that a list has one
        qalloc_cleanup();
        int const file = ::open(name, O_RDONLY | O_CLOEXEC);
        EXPECT_EQ(::pread(file, m_sound.data(), m_sound.size(), 0),
                  static_cast<ssize_t>(m_sound.size()));
        ::close(file);
    }
    // Whether a file with this word can be loaded; if so, pieces are taken and given back.
    [[nodiscard]] bool loads_with(std::size_t offset, std::uint64_t word) const {
        std::vector<char> damaged = m_sound;
        std::memcpy(damaged.data() + offset, &word, sizeof word);
        int const file = ::open(m_name, O_WRONLY | O_CLOEXEC);
        EXPECT_EQ(::pwrite(file, damaged.data(), damaged.size(), 0),
                  static_cast<ssize_t>(damaged.size()));
        ::close(file);
        void* const map = qalloc_loadmap(m_name);
        if (map == nullptr) return false;
        for (std::size_t const size : {64U, 64U, 64U, 9000U})
            if (void* const piece = qalloc_malloc(map, size)) {
                std::memset(piece, -1, 64);
                qalloc_free(piece, map);
            }
        qalloc_cleanup();
        return true;
    }

private:
    static constexpr off_t k_small = off_t{1} << 16U;

    char const* m_name;
    std::vector<char> m_sound = std::vector<char>(k_small);
};

TEST(qalloc, refuses_damaged_files) {
    if (tulle::base::k_thread_sanitizer)
        GTEST_SKIP() << "it ends programs that map memory at an address that it does not have";
    constexpr std::size_t k_kind = 24, k_streams = 40, k_begin = 48, k_fresh = 56;
    for (bool const is_dynamic : {false, true}) {
        file_name const name;
        damaged_heap const heap(name.get(), is_dynamic);
        for (std::uint64_t const word :
             {std::uint64_t{0}, std::uint64_t{3}, std::uint64_t{1} << 16U, std::uint64_t{1} << 62U,
              ~std::uint64_t{0}})
            for (std::size_t offset = 0; offset != 448; offset += 8) {
                bool const loads = heap.loads_with(offset, word);
                bool const is_of_use = word == 0 && is_dynamic && offset == k_fresh;
                for (std::size_t const number : {k_kind, k_streams, k_begin, k_fresh})
                    EXPECT_FALSE(loads && offset == number && !is_of_use && word != 3)
                        << offset << ": " << word;
            }
    }
}

TEST(qalloc, says_what_is_wrong) {
    file_name const name;
    auto const fails_with = [](void* map, int error) { return map == nullptr && errno == error; };
    EXPECT_TRUE(fails_with(qalloc_loadmap((std::string(name.get()) + ".none").c_str()), ENOENT));
    EXPECT_TRUE(fails_with(qalloc_loadmap(name.get()), EINVAL)); // empty
    EXPECT_TRUE(fails_with(qalloc_loadmap(nullptr), EINVAL));
    EXPECT_TRUE(fails_with(qalloc_makedynmap(k_size, nullptr, name.get(), 0), EINVAL));
    EXPECT_TRUE(fails_with(qalloc_makedynmap(-1, nullptr, name.get(), 1), EINVAL));
    EXPECT_TRUE(fails_with(qalloc_makestatmap(k_size, nullptr, nullptr, 8, 1), EINVAL));
    ASSERT_NE(qalloc_makestatmap(k_size, nullptr, name.get(), 8, 1), nullptr);
    EXPECT_TRUE(fails_with(qalloc_makestatmap(k_size, nullptr, name.get(), 16, 1), EINVAL));
    EXPECT_TRUE(fails_with(qalloc_makedynmap(k_size, nullptr, name.get(), 1), EINVAL));
    // Mapped already.
    EXPECT_TRUE(fails_with(qalloc_makestatmap(k_size, nullptr, name.get(), 8, 1), EEXIST));
    EXPECT_EQ(qalloc_malloc(nullptr, 1), nullptr);
    qalloc_free(nullptr, nullptr);
}

TEST(qalloc, many_threads) {
    file_name const name;
    void* const map = qalloc_makedynmap(k_size, nullptr, name.get(), 3);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t != 4; ++t) {
        threads.emplace_back([=] {
            std::vector<std::pair<char*, std::size_t>> mine;
            for (std::size_t k = 0; k != 4000; ++k) {
                std::size_t const size = 1 + (k * 37 + t) % 3000;
                auto* const piece = static_cast<char*>(qalloc_malloc(map, size));
                ASSERT_NE(piece, nullptr);
                std::memset(piece, static_cast<int>(t), size);
                mine.emplace_back(piece, size);
                if (mine.size() < 50) continue;
                for (auto const& [p, n] : mine) {
                    ASSERT_EQ(p[n - 1], static_cast<char>(t));
                    qalloc_free(p, map);
                }
                mine.clear();
            }
        });
    }
    for (auto& t : threads) t.join();
}

} // namespace
