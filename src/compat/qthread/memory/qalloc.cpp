// SPDX-License-Identifier: Apache-2.0
// Which heaps are open, and the functions on them.
#include "compat/qthread/library/arguments.hpp"
#include "compat/qthread/memory/heap.hpp"

#include <qthread/qalloc.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace {

using namespace tulle::compat;

// Open heaps live until qalloc_cleanup() or the end of the process, which writes back what is
// mapped.
struct open_heaps {
    std::mutex lock;
    std::vector<std::unique_ptr<heap>> all;
};
open_heaps& heaps() {
    // Never destroyed: other threads may still use them when the process ends.
    static auto& s_heaps = *new open_heaps;
    return s_heaps;
}

// As the interface has it: what the caller holds is a name for a heap.
heap* as_heap(void* map) { return static_cast<heap*>(map); }

void* open(char const* name, heap_header const& wanted) try {
    open_heaps& open = heaps();
    std::lock_guard const held(open.lock);
    open.all.reserve(open.all.size() + 1);
    heap* const h = heap::open(name, wanted);
    if (h != nullptr) open.all.emplace_back(h);
    return h;
} catch (std::bad_alloc const&) {
    errno = ENOMEM;
    return nullptr;
}

void* make(off_t filesize, void* addr, char const* name, heap_kind kind, size_t item,
           size_t streams) {
    heap_header wanted{};
    wanted.base = reinterpret_cast<std::uintptr_t>(addr);
    wanted.size = filesize < 0 ? 0 : static_cast<std::uint64_t>(filesize);
    wanted.kind = kind;
    wanted.item = item;
    wanted.streams = streams;
    if (name == nullptr || !heap::lay_out(wanted)) {
        errno = EINVAL;
        return nullptr;
    }
    return open(name, wanted);
}

} // namespace

void* qalloc_makestatmap(off_t const filesize, void* addr, char const* filename, size_t itemsize,
                         size_t const streams) {
    return make(filesize, addr, filename, heap_kind::fixed, itemsize, streams);
}
void* qalloc_makedynmap(off_t const filesize, void* addr, char const* filename,
                        size_t const streams) {
    return make(filesize, addr, filename, heap_kind::dynamic, 0, streams);
}
void* qalloc_loadmap(char const* filename) {
    heap_header found{};
    if (filename == nullptr) errno = EINVAL;
    if (filename == nullptr || !heap_file::read_header(filename, found)) return nullptr;
    // Where the pieces begin follows from the rest, and is compared with what the file says.
    if (heap::lay_out(found)) return open(filename, found);
    errno = EINVAL;
    return nullptr;
}

void qalloc_checkpoint() {
    open_heaps& open = heaps();
    std::lock_guard const held(open.lock);
    for (auto const& h : open.all) h->write_back();
}
void qalloc_cleanup() {
    open_heaps& open = heaps();
    std::lock_guard const held(open.lock);
    for (auto const& h : std::exchange(open.all, {})) {
        h->write_back();
        h->close();
    }
}

void* qalloc_malloc(void* map, size_t size) {
    if (is_object(map)) return as_heap(map)->allocate(size);
    errno = EINVAL;
    return nullptr;
}
void* qalloc_statmalloc(mapinfo_t* map) { return qalloc_malloc(map, 0); }
void* qalloc_dynmalloc(dynmapinfo_t* map, size_t size) { return qalloc_malloc(map, size); }

void qalloc_free(void* block, void* map) {
    if (is_object(block) && is_object(map)) as_heap(map)->free(block);
}
void qalloc_statfree(void* block, mapinfo_t* map) { qalloc_free(block, map); }
void qalloc_dynfree(void* block, dynmapinfo_t* map) { qalloc_free(block, map); }
