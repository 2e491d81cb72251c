// SPDX-License-Identifier: Apache-2.0
#include "cpus/registry.hpp"

#include "os/clock.hpp"
#include "os/process.hpp"
#include "os/topology.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tulle::cpus {

namespace {

// Patience with the holder of the lock, which takes microseconds.
constexpr std::uint64_t k_patience_ns = 1'000'000'000;
constexpr timespec k_pause{0, 1'000'000};

bool set_bits(cpu_bits& bits, std::vector<int> const& cpus) {
    bits = {};
    for (int const cpu : cpus) {
        if (cpu < 0 || cpu >= k_most_cpus) return false;
        bits[static_cast<std::size_t>(cpu) / 64] |= std::uint64_t{1}
                                                    << (static_cast<unsigned>(cpu) % 64);
    }
    return true;
}

std::vector<int> cpus_in(cpu_bits const& bits) {
    std::vector<int> cpus;
    for (std::size_t k = 0; k < bits.size(); ++k)
        for (std::uint64_t word = bits[k]; word != 0; word &= word - 1)
            cpus.push_back(static_cast<int>(64 * k) + std::countr_zero(word));
    return cpus;
}

bool is_alive(entry const& e) noexcept {
    return e.process > 0 && e.start != 0 && os::start_of_process(e.process) == e.start;
}

bool makes_sense(entry const& e) noexcept {
    return cpus::makes_sense(wish{e.least, e.most, e.weight}) && e.may != cpu_bits{};
}

program as_divided(entry const& e) {
    return {cpus_in(e.may), cpus_in(e.has), e.least, e.most, e.weight};
}

bool equal(entry const& a, entry const& b) noexcept { return std::memcmp(&a, &b, sizeof a) == 0; }

bool write_at(int file, std::size_t position, void const* from, std::size_t bytes) noexcept {
    ssize_t const written = ::pwrite(file, from, bytes, static_cast<off_t>(position));
    if (written == static_cast<ssize_t>(bytes)) return true;
    if (written >= 0) errno = ENOSPC; // the rest found no room
    return false;
}

} // namespace

// What was read, and is changed, while the file is locked.
class registry::image {
public:
    explicit image(int file) noexcept : m_file(file) {}
    image(image&& other) noexcept
        : entries(std::move(other.entries)),
          m_before(std::move(other.m_before)),
          m_file(std::exchange(other.m_file, -1)),
          m_is_new(other.m_is_new) {}
    image& operator=(image&&) = delete;
    ~image() {
        int const kept = errno;
        // This unlocks, too, the descriptor that a process which is forked meanwhile has.
        if (m_file >= 0) ::flock(m_file, LOCK_UN);
        if (m_file >= 0) ::close(m_file);
        errno = kept;
    }

    [[nodiscard]] int file() const noexcept { return m_file; }
    void note_read(bool is_new) {
        m_before = entries;
        m_is_new = is_new;
    }
    [[nodiscard]] bool write() const noexcept {
        file_head const head;
        if (m_is_new && !write_at(m_file, 0, &head, sizeof head)) return false;
        for (std::size_t k = 0; k < entries.size(); ++k) {
            bool const is_same = k < m_before.size() && equal(entries[k], m_before[k]);
            if (!is_same && !write_at(m_file, sizeof(file_head) + k * sizeof(entry), &entries[k],
                                      sizeof(entry)))
                return false;
        }
        return true;
    }
    void forget_dead() {
        for (entry& e : entries)
            if (!is_alive(e)) e = {};
    }
    // Null: there is none.
    [[nodiscard]] entry* find(int process, std::uint64_t start) {
        auto const found = std::find_if(entries.begin(), entries.end(), [=](entry const& e) {
            return e.process == process && e.start == start;
        });
        return found == entries.end() ? nullptr : &*found;
    }
    [[nodiscard]] entry* find_or_add(int process, std::uint64_t start) {
        entry* found = find(process, start);
        if (found == nullptr) found = find(0, 0);
        if (found == nullptr && entries.size() < k_most_programs) found = &entries.emplace_back();
        return found;
    }

    std::vector<entry> entries;

private:
    std::vector<entry> m_before;
    int m_file;
    bool m_is_new = false;
};

std::string registry::default_path() {
    char const* const chosen =
        ::secure_getenv("TULLE_CPUS_FILE"); // NOLINT(concurrency-mt-unsafe): as all options
    if (chosen != nullptr && *chosen != '\0') return chosen;
    return "/dev/shm/tulle-cpus-" + std::to_string(::geteuid()) + "-" +
           std::to_string(os::process_namespace());
}

registry::registry(std::string path, int process)
    : m_path(std::move(path)),
      m_process(process == 0 ? ::getpid() : process),
      m_start(os::start_of_process(m_process)) {}

bool registry::refuse(int error, char const* why) {
    m_why = m_path + ": " + why;
    errno = error;
    return false;
}

bool registry::lock(int file, int kind) {
    std::uint64_t const give_up = os::monotonic_ns() + k_patience_ns;
    while (::flock(file, kind | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) return refuse(errno, std::strerror(errno));
        if (os::monotonic_ns() >= give_up)
            return refuse(EBUSY, "another program holds it locked, and does not go on");
        ::nanosleep(&k_pause, nullptr);
    }
    return true;
}

bool registry::is_ours(int file) {
    struct stat about {};
    if (::fstat(file, &about) != 0) return refuse(errno, std::strerror(errno));
    if (!S_ISREG(about.st_mode)) return refuse(EPERM, "it is no file");
    return about.st_uid == ::geteuid() || refuse(EPERM, "it belongs to another user");
}

// One that is new has nothing in it. An entry of which a part is missing was being added by
// a process that has died.
bool registry::read(image& locked) {
    struct stat about {};
    if (::fstat(locked.file(), &about) != 0) return refuse(errno, std::strerror(errno));
    auto const size = static_cast<std::size_t>(about.st_size);
    file_head head;
    if (size != 0 && ::pread(locked.file(), &head, sizeof head, 0) != sizeof head)
        return refuse(EBADMSG, "it is too short for a registry");
    if (head.format != file_head::k_format || head.entry_bytes != sizeof(entry))
        return refuse(EBADMSG, "it is of another version of Tulle, or something else; remove it "
                               "when no such program runs");
    std::size_t const count = size <= sizeof head ? 0 : (size - sizeof head) / sizeof(entry);
    if (count > k_most_programs) return refuse(EBADMSG, "it is damaged (too long); remove it");
    locked.entries.resize(count);
    auto const bytes = static_cast<ssize_t>(count * sizeof(entry));
    if (::pread(locked.file(), locked.entries.data(), count * sizeof(entry), sizeof head) != bytes)
        return refuse(EIO, "it cannot be read");
    locked.note_read(size == 0);
    locked.forget_dead();
    bool const is_sound =
        std::all_of(locked.entries.begin(), locked.entries.end(),
                    [](entry const& e) { return e.process == 0 || makes_sense(e); });
    return is_sound || refuse(EBADMSG, "it is damaged; remove it");
}

bool registry::has_folder() const {
    std::size_t const end = m_path.rfind('/');
    return end == std::string::npos || ::access(m_path.substr(0, end + 1).c_str(), F_OK) == 0;
}

// Opens the file again if another process has removed it before it was locked.
std::optional<registry::image> registry::open(int flags, int lock_kind) {
    std::uint64_t const give_up = os::monotonic_ns() + k_patience_ns;
    for (bool is_last = false; !is_last;) {
        is_last = os::monotonic_ns() >= give_up;
        image opened(
            ::open(m_path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, S_IRUSR | S_IWUSR));
        bool const is_missing = opened.file() < 0 && errno == ENOENT && (flags & O_CREAT) != 0;
        if (is_missing && !is_last && has_folder()) continue; // it is being removed at this moment
        if (opened.file() < 0) {
            static_cast<void>(refuse(errno, std::strerror(errno)));
            return std::nullopt;
        }
        if (!is_ours(opened.file()) || !lock(opened.file(), lock_kind)) return std::nullopt;
        struct stat locked {};
        struct stat there {};
        if (::fstat(opened.file(), &locked) != 0 || ::stat(m_path.c_str(), &there) != 0 ||
            locked.st_ino != there.st_ino)
            continue;
        if (!read(opened)) return std::nullopt;
        return opened;
    }
    static_cast<void>(refuse(EBUSY, "it is removed again and again"));
    return std::nullopt;
}

// The entries that are nobody's take no part.
bool registry::divide_and_write(image& locked) {
    std::vector<program> programs;
    for (entry const& e : locked.entries)
        if (e.process != 0) programs.push_back(as_divided(e));
    auto const parts = divide(programs, &os::locality_of_cpu);
    auto part = parts.begin();
    for (entry& e : locked.entries)
        // They were in bits already.
        if (e.process != 0) static_cast<void>(set_bits(e.has, *part++));
    return locked.write() || refuse(errno, std::strerror(errno));
}

// False: see refuse.
bool registry::make_entry(entry& made, std::vector<int> const& may, wish const& wanted) {
    made.start = m_start;
    made.process = m_process;
    made.least = wanted.least;
    made.most = wanted.most;
    made.weight = wanted.weight;
    if (m_start == 0) return refuse(ESRCH, "/proc does not tell when this process has started");
    if (!set_bits(made.may, may)) return refuse(E2BIG, "a CPU has too large a number");
    return makes_sense(made) || refuse(EINVAL, "what is wanted makes no sense");
}

std::optional<std::vector<int>> registry::visit(std::vector<int> const& may, wish const& wanted) {
    entry wants;
    if (!make_entry(wants, may, wanted)) return std::nullopt;
    auto visited = open(O_RDWR | O_CREAT, LOCK_EX);
    if (!visited) return std::nullopt;
    entry* const own = visited->find_or_add(m_process, m_start);
    if (own == nullptr) {
        static_cast<void>(refuse(ENOSPC, "as many programs share as it has room for"));
        return std::nullopt;
    }
    wants.has = own->has;
    *own = wants;
    if (!divide_and_write(*visited)) return std::nullopt;
    return cpus_in(own->has);
}

bool registry::leave() {
    auto visited = open(O_RDWR, LOCK_EX);
    if (!visited) return false;
    if (entry* const own = visited->find(m_process, m_start)) *own = {};
    bool const is_used = std::any_of(visited->entries.begin(), visited->entries.end(),
                                     [](entry const& e) { return e.process != 0; });
    // A process that has opened it by now makes another one.
    if (!is_used && ::unlink(m_path.c_str()) == 0) return true;
    return divide_and_write(*visited);
}

std::optional<std::vector<registry::row>> registry::list() {
    auto const visited = open(O_RDONLY, LOCK_SH);
    if (!visited && errno == ENOENT) return std::vector<row>();
    if (!visited) return std::nullopt;
    std::vector<row> rows;
    for (entry const& e : visited->entries)
        if (e.process != 0) rows.push_back({e.process, as_divided(e)});
    return rows;
}

} // namespace tulle::cpus
