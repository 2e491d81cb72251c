// SPDX-License-Identifier: Apache-2.0
// The file in which the programs of a user on a machine agree which has which CPUs. There is nobody
// but them: each visitor leaves out those that have died, divides anew (division.hpp), and
// writes what has changed. A file that is locked (flock(2)), not memory that is mapped: one that is
// cut or written over by mistake can be refused, and the system gives the lock back when its holder
// dies.
//   - An entry is written by its own process, but for the CPUs that it has, which the others write,
//     too. So whatever a visitor leaves undone when it is killed, what all others want is still
//     there, and the next visitor divides the same way again.
//   - A process is known by its number and the time of its start. An entry stays where it is as
//     long as its process lives.
//   - Others may see a change by inotify(7): only a visit that changes something writes.
#pragma once

#include "cpus/division.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tulle::cpus {

struct wish {
    int least = 1;
    int most = 1;
    int weight = 1;
    [[nodiscard]] friend bool operator==(wish const&, wish const&) noexcept = default;
};
inline constexpr int k_most_weight = 1000;
inline constexpr int k_most_wanted = 1 << 20;
[[nodiscard]] constexpr bool makes_sense(wish const& w) noexcept {
    return w.least >= 1 && w.least <= w.most && w.most <= k_most_wanted && w.weight >= 1 &&
           w.weight <= k_most_weight;
}

inline constexpr int k_most_cpus = 8192; // numbers below
using cpu_bits = std::array<std::uint64_t, k_most_cpus / 64>;

// An entry as it is in the file. Zero: nobody's.
struct entry {
    std::uint64_t start = 0;
    std::int32_t process = 0;
    std::int32_t least = 0;
    std::int32_t most = 0;
    std::int32_t weight = 0;
    cpu_bits may{};
    cpu_bits has{};
};
static_assert(sizeof(entry) == 24 + 2 * sizeof(cpu_bits));

struct file_head {
    static constexpr std::uint64_t k_format = 0x31757043656C7554; // "TuleCpu1"
    std::uint64_t format = k_format;
    std::uint64_t entry_bytes = sizeof(entry);
};

class registry {
public:
    static constexpr std::size_t k_most_programs = 128;
    // What TULLE_CPUS_FILE says; otherwise a file of this user, and of those whose processes this
    // one can see, below /dev/shm.
    [[nodiscard]] static std::string default_path();

    // `process`: another one than the caller, for tests.
    explicit registry(std::string path, int process = 0);

    // The caller wants CPUs of these, not none. Those that it has from now on; nothing: why() says
    // why, and errno: EBUSY, somebody holds the file locked, perhaps stopped by a debugger; ENOSPC,
    // it is full; EBADMSG, it is of another version, or damaged; EPERM, it is somebody else's, or
    // no file; E2BIG, a CPU's number is too large; EINVAL, the wish makes no sense; others as of
    // open(2) and write(2). Throws std::bad_alloc.
    [[nodiscard]] std::optional<std::vector<int>> visit(std::vector<int> const& may,
                                                        wish const& wanted);
    // The caller has ended; the last one removes the file. False: see visit.
    bool leave();

    struct row {
        int process;
        program as_divided;
    };
    // All that live; without changing anything. None where there is no file. Nothing: see visit.
    [[nodiscard]] std::optional<std::vector<row>> list();

    [[nodiscard]] std::string const& path() const noexcept { return m_path; }
    [[nodiscard]] std::string const& why() const noexcept { return m_why; }
    [[nodiscard]] std::string take_why() noexcept { return std::move(m_why); }

private:
    class image;
    [[nodiscard]] std::optional<image> open(int flags, int lock);
    [[nodiscard]] bool refuse(int error, char const* why); // false
    [[nodiscard]] bool lock(int file, int kind);
    [[nodiscard]] bool has_folder() const;
    [[nodiscard]] bool is_ours(int file);
    [[nodiscard]] bool read(image& locked);
    [[nodiscard]] bool divide_and_write(image& locked);
    [[nodiscard]] bool make_entry(entry& made, std::vector<int> const& may, wish const& wanted);

    std::string m_path;
    std::string m_why;
    int m_process;
    std::uint64_t m_start;
};

} // namespace tulle::cpus
