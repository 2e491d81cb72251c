// SPDX-License-Identifier: Apache-2.0
// Files that node 0 has open for threads of all nodes, by numbers that no node has for its own.
// Called at node 0, by any thread, but for the last function.
#pragma once

#include <tulle/mutex.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include <sys/types.h>

namespace tulle::tnt {

// All return bytes or 0, or a negative errno value.
class home_file {
public:
    // `is_own`: node 0 uses it as well, so nobody else closes it.
    home_file(int descriptor, bool is_own) noexcept : m_descriptor(descriptor), m_is_own(is_own) {}
    home_file(home_file const&) = delete;
    home_file& operator=(home_file const&) = delete;
    ~home_file() { static_cast<void>(close()); }

    [[nodiscard]] int descriptor() const noexcept { return m_descriptor; }
    // One reader at a time: the others wait for their turn, and none gets a part of a line that
    // another one has asked for.
    [[nodiscard]] std::int64_t read(std::byte* to, std::size_t size);
    // Up to the end of a line, which belongs to it, or `size` bytes. What has been read beyond is
    // for the next reader.
    [[nodiscard]] std::int64_t read_line(char* to, std::size_t size);
    // All of it, unless there is an error. What one thread writes is not cut by another one.
    [[nodiscard]] std::int64_t write(std::byte const* from, std::size_t size);
    [[nodiscard]] std::int64_t pread(std::byte* to, std::size_t size, off_t offset) noexcept;
    [[nodiscard]] std::int64_t pwrite(std::byte const* from, std::size_t size,
                                      off_t offset) noexcept;
    [[nodiscard]] std::int64_t seek(off_t offset, int from);
    // For the last one who has it.
    [[nodiscard]] int close() noexcept;

private:
    std::size_t take_ahead(char* to, std::size_t size);
    void give_back_ahead() noexcept;
    [[nodiscard]] std::unique_lock<tulle::mutex> lock_position();

    int m_descriptor;
    bool m_is_own;
    tulle::mutex m_reading; // guards the next, and the position of a file that has one
    std::string m_ahead;    // has been read, and belongs to nobody yet
    tulle::mutex m_writing;
};

// Its name, or a negative errno value; the descriptor is closed then.
[[nodiscard]] int add_file(int descriptor);
// Null: there is none. Those of node 0's standard streams are there from the start.
[[nodiscard]] std::shared_ptr<home_file> find_file(int name);
// 0, or a negative errno value. Whoever uses the file still has it until its call has ended.
[[nodiscard]] int close_file(int name);

// As home_file::read_line, for the caller of any node.
[[nodiscard]] std::int64_t read_line(int name, void* to, std::size_t size) noexcept;

} // namespace tulle::tnt
