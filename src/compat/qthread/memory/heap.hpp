// SPDX-License-Identifier: Apache-2.0
// The two kinds of heaps in files (qalloc.h). Free pieces are on lists, one for each stream, or one
// for each stream and size; a thread prefers one stream. A static heap gives out fresh pieces in
// order. A dynamic heap is made of pages: a page has pieces of one size for ever, or belongs to a
// run for one large piece.
#pragma once

#include "compat/qthread/memory/heap_file.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace tulle::compat {

class heap {
public:
    virtual ~heap() = default;
    heap() = default;
    heap(heap const&) = delete;
    heap& operator=(heap const&) = delete;

    // False: no heap can be so.
    [[nodiscard]] static bool lay_out(heap_header& h);
    // Null: errno says why.
    [[nodiscard]] static heap* open(char const* name, heap_header const& wanted);

    [[nodiscard]] virtual void* allocate(std::size_t size) = 0;
    virtual void free(void* piece) = 0;
    void write_back(); // nobody allocates meanwhile
    // Of the file, which may have been damaged: whether numbers in it lead to pieces of the heap.
    // Pieces themselves are the program's, and are looked at when they are given out.
    [[nodiscard]] virtual bool is_sound() const noexcept = 0;
    void close() noexcept { m_file.close(); }

protected:
    struct alignas(64) stream {
        std::mutex lock;
    };
    [[nodiscard]] std::size_t stream_count() const noexcept {
        return static_cast<std::size_t>(m_file.header().streams);
    }
    [[nodiscard]] std::size_t preferred_stream() const noexcept;
    // First word of list `list`, of which the first lies behind the header.
    [[nodiscard]] std::uint64_t& list_head(std::size_t list) const noexcept {
        return m_file.word(sizeof(heap_header) + list * sizeof(std::uint64_t));
    }
    // Whether a free piece may begin there.
    [[nodiscard]] bool may_be_piece(std::uint64_t offset, std::uint64_t size) const noexcept;
    // Of a list of pieces of that size. A number that leads to no piece ends the list.
    [[nodiscard]] void* pop(std::uint64_t& head, std::uint64_t size) const noexcept;
    void push(std::uint64_t& head, std::uint64_t piece) const noexcept;

    heap_file m_file;
    std::vector<stream> m_streams;
    std::mutex m_fresh_lock; // guards what no stream has; taken after a stream's lock
};

class static_heap final : public heap {
public:
    static void lay_out(heap_header& h);
    void* allocate(std::size_t size) override;
    void free(void* piece) override;
    [[nodiscard]] bool is_sound() const noexcept override;
};

class dynamic_heap final : public heap {
public:
    static void lay_out(heap_header& h);
    void* allocate(std::size_t size) override;
    void free(void* piece) override;
    [[nodiscard]] bool is_sound() const noexcept override;

private:
    // What the table of pages says of each.
    // run: and its length; else: class + 1
    enum class use : std::uint32_t { free_page = 0, inside_run = 0x40000000, run = 0x80000000 };

    [[nodiscard]] std::uint32_t& page_use(std::uint64_t page) const noexcept;
    [[nodiscard]] std::uint64_t page_count() const noexcept;
    [[nodiscard]] void* allocate_small(std::size_t size_class);
    [[nodiscard]] void* allocate_run(std::uint64_t pages);
    [[nodiscard]] std::uint64_t find_run(std::uint64_t pages, std::uint64_t from,
                                         std::uint64_t end) const noexcept;
    void free_run(std::uint64_t page) noexcept;
    void carve(std::uint64_t page, std::size_t size_class, std::uint64_t& head) noexcept;
};

} // namespace tulle::compat
