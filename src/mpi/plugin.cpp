// SPDX-License-Identifier: Apache-2.0
// net::mpi_functions for the MPI that it is compiled with. Two-sided messages only: over the
// networks and versions at hand, nothing else works everywhere and goes on while the receiver
// computes. The MPI standard says what each call promises (MPI-3.1, https://www.mpi-forum.org).
#include "mpi/end_without_finalize.hpp"
#include "net/mpi_functions.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iterator>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <mpi.h>

#include <unistd.h>

// User-level failure mitigation (https://fault-tolerance.org), which Open MPI has from version 5
// on: null where it is not there.
extern "C" {
[[gnu::weak]] int MPIX_Comm_get_failed(MPI_Comm comm, MPI_Group* failed);
[[gnu::weak]] int MPIX_Comm_ack_failed(MPI_Comm comm, int wanted, int* acknowledged);
[[gnu::weak]] int MPIX_Comm_agree(MPI_Comm comm, int* flag);
[[gnu::weak]] int MPIX_Comm_iagree(MPI_Comm comm, int* flag, MPI_Request* request);
}

struct tulle::net::mpi_endpoint {
    MPI_Comm all = MPI_COMM_NULL;
};

namespace tulle::mpi {

namespace {

using net::mpi_endpoint;
using net::mpi_functions;
using net::mpi_request;
using net::mpi_threads;
using net::mpi_world;

constexpr int k_tag_of_prepared = 0;

bool s_is_ours = false;
bool s_tells_deaths = false;
bool s_has_several_hosts = false; // as far as somebody has asked

static_assert(sizeof(MPI_Request) <= sizeof(mpi_request::word));

MPI_Request handle_in(mpi_request const& r) noexcept {
    MPI_Request handle = MPI_REQUEST_NULL;
    std::memcpy(&handle, &r.word, sizeof handle);
    return handle;
}
void put_handle(mpi_request& r, MPI_Request handle) noexcept {
    std::memcpy(&r.word, &handle, sizeof handle);
}

// A request that a call makes or changes.
class request_of_call {
public:
    explicit request_of_call(mpi_request& kept) noexcept
        : m_kept(kept), m_handle(handle_in(kept)) {}
    request_of_call(request_of_call const&) = delete;
    request_of_call& operator=(request_of_call const&) = delete;
    ~request_of_call() { put_handle(m_kept, m_handle); }
    [[nodiscard]] MPI_Request* get() noexcept { return &m_handle; }

private:
    mpi_request& m_kept;
    MPI_Request m_handle;
};

mpi_threads threads_at(int level) noexcept {
    if (level >= MPI_THREAD_MULTIPLE) return mpi_threads::any;
    return level == MPI_THREAD_SERIALIZED ? mpi_threads::one_at_a_time : mpi_threads::only_main;
}

// The first line of what the library says of itself.
char const* library_name() noexcept {
    static char s_name[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    if (MPI_Get_library_version(s_name, &length) != MPI_SUCCESS) return "MPI";
    s_name[std::strcspn(s_name, ",\n")] = '\0';
    for (char* c = s_name; *c != '\0'; ++c)
        if (*c == '\t') *c = ' ';
    return s_name;
}

// Unless the user has said otherwise.
void prepare_environment() noexcept {
    setenv("OMPI_MCA_mpi_yield_when_idle", "0",
           0); // NOLINT(concurrency-mt-unsafe): a probe would end with a yield to others
    setenv("OMPI_MCA_opal_signal", "",
           0); // NOLINT(concurrency-mt-unsafe): Tulle's handlers tell more
    setenv("OMPI_MCA_opal_event_include", "epoll",
           0); // NOLINT(concurrency-mt-unsafe): one descriptor for all connections
}

// Of epoll: what waits for many others, and can be waited for itself.
std::vector<int> epoll_descriptors() noexcept try {
    std::vector<int> found;
    for (auto const& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code error;
        if (std::filesystem::read_symlink(entry.path(), error) == "anon_inode:[eventpoll]")
            found.push_back(std::stoi(entry.path().filename()));
    }
    return found;
} catch (std::exception const&) {
    return {};
}

// Those that MPI has opened.
void put_descriptors(mpi_world& in, std::vector<int> const& before) noexcept {
    for (int const d : epoll_descriptors())
        if (std::find(before.begin(), before.end(), d) == before.end() &&
            in.descriptor_count < std::size(in.descriptors))
            in.descriptors[in.descriptor_count++] = d;
}

// `mpirun --with-ft ulfm` says so to the processes; without it MPI ends them all.
bool tells_deaths() noexcept {
    if (&MPIX_Comm_get_failed == nullptr || &MPIX_Comm_ack_failed == nullptr ||
        &MPIX_Comm_agree == nullptr || &MPIX_Comm_iagree == nullptr)
        return false;
    char const* const enabled =
        ::secure_getenv("OMPI_MCA_mpi_ft_enable"); // NOLINT(concurrency-mt-unsafe)
    return enabled != nullptr && std::string_view(enabled) != "0" &&
           std::string_view(enabled) != "false";
}

int start(mpi_world& found) noexcept {
    int is_started = 0;
    int level = MPI_THREAD_SINGLE;
    std::vector<int> before;
    if (int const error = MPI_Initialized(&is_started)) return error;
    if (is_started == 0) {
        prepare_environment();
        before = epoll_descriptors();
        if (int const error = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level))
            return error;
        s_is_ours = true;
    } else if (int const error = MPI_Query_thread(&level)) {
        return error;
    }
    int here = 0;
    int count = 0;
    if (int const error = MPI_Comm_rank(MPI_COMM_WORLD, &here)) return error;
    if (int const error = MPI_Comm_size(MPI_COMM_WORLD, &count)) return error;
    s_tells_deaths = s_is_ours && tells_deaths();
    found = {static_cast<std::uint32_t>(here),
             static_cast<std::uint32_t>(count),
             threads_at(level),
             s_is_ours,
             s_tells_deaths,
             library_name(),
             0,
             {}};
    if (s_is_ours) put_descriptors(found, before);
    return MPI_SUCCESS;
}

int s_agreed = 1;

// When all that live have come. False: some are dead, which all others are told then.
bool meet_all() noexcept {
    if (!s_tells_deaths) return MPI_Barrier(MPI_COMM_WORLD), true;
    static_cast<void>(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    return MPIX_Comm_agree(MPI_COMM_WORLD, &s_agreed) == MPI_SUCCESS;
}

void finish() noexcept {
    if (!s_is_ours) return;
    // otherwise MPI_Finalize of Open MPI 5.0 hangs now and then: its launcher waits for the dead
    bool const all_live = meet_all();
    if (all_live && !(s_has_several_hosts && end_without_finalize()))
        static_cast<void>(MPI_Finalize());
    s_is_ours = false;
}

int open(std::uint32_t count, mpi_endpoint*& opened) noexcept {
    opened = nullptr;
    int here = 0;
    if (int const error = MPI_Comm_rank(MPI_COMM_WORLD, &here)) return error;
    bool const is_of_them = static_cast<std::uint32_t>(here) < count;
    MPI_Comm made = MPI_COMM_NULL;
    if (int const error =
            MPI_Comm_split(MPI_COMM_WORLD, is_of_them ? 0 : MPI_UNDEFINED, here, &made))
        return error;
    if (!is_of_them) return MPI_SUCCESS;
    auto* const endpoint = new (std::nothrow) mpi_endpoint{made};
    if (endpoint == nullptr) return MPI_ERR_NO_MEM;
    opened = endpoint;
    return MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
}

void close(mpi_endpoint* closed) noexcept {
    static_cast<void>(MPI_Comm_free(&closed->all));
    delete closed;
}

// What an error means where MPI tells of deaths: numbers of Open MPI 5.
int without_the_dead(int error, bool& is_done) noexcept {
    constexpr int k_failed = 75;
    constexpr int k_failed_pending = 76;
    if (!s_tells_deaths || error == MPI_SUCCESS) return error;
    int kind = error;
    static_cast<void>(MPI_Error_class(error, &kind));
    if (kind == k_failed_pending) return is_done = false, mpi_functions::k_somebody_is_dead;
    if (kind == k_failed) return is_done = true, mpi_functions::k_peer_is_dead;
    return error;
}

int send(mpi_endpoint* over, std::uint32_t to, std::uint32_t tag, void const* bytes,
         std::size_t size, mpi_request& begun) noexcept {
    request_of_call request(begun);
    bool is_done = false;
    return without_the_dead(MPI_Isend(bytes, static_cast<int>(size), MPI_BYTE, static_cast<int>(to),
                                      static_cast<int>(tag), over->all, request.get()),
                            is_done);
}

int receive(mpi_endpoint* over, std::uint32_t from, std::uint32_t tag, void* bytes,
            std::size_t size, mpi_request& begun) noexcept {
    request_of_call request(begun);
    return MPI_Irecv(bytes, static_cast<int>(size), MPI_BYTE, static_cast<int>(from),
                     static_cast<int>(tag), over->all, request.get());
}

int prepare_receive(mpi_endpoint* over, void* bytes, std::size_t size, mpi_request& made) noexcept {
    request_of_call request(made);
    return MPI_Recv_init(bytes, static_cast<int>(size), MPI_BYTE, MPI_ANY_SOURCE, k_tag_of_prepared,
                         over->all, request.get());
}

int start_receive(mpi_request& prepared) noexcept {
    request_of_call request(prepared);
    return MPI_Start(request.get());
}

int test(mpi_request& begun, bool& is_done) noexcept {
    request_of_call request(begun);
    int done = 0;
    int const error = MPI_Test(request.get(), &done, MPI_STATUS_IGNORE);
    is_done = done != 0;
    return without_the_dead(error, is_done);
}

int find_dead(mpi_endpoint* over, std::uint32_t* dead, std::uint32_t& count) noexcept {
    count = 0;
    if (!s_tells_deaths) return MPI_SUCCESS;
    MPI_Group failed = MPI_GROUP_NULL;
    MPI_Group all = MPI_GROUP_NULL;
    int size = 0;
    int acknowledged = 0;
    if (int const error = MPIX_Comm_get_failed(over->all, &failed)) return error;
    if (int const error = MPI_Comm_group(over->all, &all)) return error;
    static_cast<void>(MPI_Group_size(failed, &size));
    for (int k = 0; k < size; ++k) {
        int place = 0;
        static_cast<void>(MPI_Group_translate_ranks(failed, 1, &k, all, &place));
        dead[count++] = static_cast<std::uint32_t>(place);
    }
    static_cast<void>(MPI_Group_free(&failed));
    static_cast<void>(MPI_Group_free(&all));
    return MPIX_Comm_ack_failed(over->all, size, &acknowledged);
}

void forget_receive(mpi_request& started) noexcept {
    request_of_call request(started);
    if (MPI_Cancel(request.get()) != MPI_SUCCESS ||
        MPI_Wait(request.get(), MPI_STATUS_IGNORE) != MPI_SUCCESS)
        return;
    static_cast<void>(MPI_Request_free(request.get()));
}

void abandon(mpi_request& begun) noexcept {
    request_of_call request(begun);
    static_cast<void>(MPI_Request_free(request.get()));
}

int gather(mpi_endpoint* over, void const* own, std::size_t size, void* all) noexcept {
    return MPI_Allgather(own, static_cast<int>(size), MPI_BYTE, all, static_cast<int>(size),
                         MPI_BYTE, over->all);
}

int meet(mpi_endpoint* over, mpi_request& begun) noexcept {
    request_of_call request(begun);
    return s_tells_deaths ? MPIX_Comm_iagree(over->all, &s_agreed, request.get())
                          : MPI_Ibarrier(over->all, request.get());
}

int find_hosts(mpi_endpoint* over, std::uint32_t& lowest) noexcept {
    int here = 0;
    MPI_Comm host = MPI_COMM_NULL;
    if (int const error = MPI_Comm_rank(over->all, &here)) return error;
    if (int const error =
            MPI_Comm_split_type(over->all, MPI_COMM_TYPE_SHARED, here, MPI_INFO_NULL, &host))
        return error;
    int of_host = 0;
    int of_all = 0;
    static_cast<void>(MPI_Comm_size(host, &of_host));
    static_cast<void>(MPI_Comm_size(over->all, &of_all));
    s_has_several_hosts = of_host != of_all;
    int first = 0;
    int const error = MPI_Allreduce(&here, &first, 1, MPI_INT, MPI_MIN, host);
    static_cast<void>(MPI_Comm_free(&host));
    lowest = static_cast<std::uint32_t>(first);
    return error;
}

void explain(int error, char* text, std::size_t size) noexcept {
    char whole[MPI_MAX_ERROR_STRING];
    int length = 0;
    if (MPI_Error_string(error, whole, &length) != MPI_SUCCESS)
        std::snprintf(whole, sizeof whole, "error %d of MPI", error);
    std::snprintf(text, size, "%s", whole);
}

} // namespace

} // namespace tulle::mpi

extern "C" {
__attribute__((visibility("default"))) extern tulle::net::mpi_functions const tulle_mpi_functions;
tulle::net::mpi_functions const tulle_mpi_functions{tulle::net::mpi_functions::k_version,
                                                    &tulle::mpi::start,
                                                    &tulle::mpi::finish,
                                                    &tulle::mpi::open,
                                                    &tulle::mpi::close,
                                                    &tulle::mpi::send,
                                                    &tulle::mpi::receive,
                                                    &tulle::mpi::prepare_receive,
                                                    &tulle::mpi::start_receive,
                                                    &tulle::mpi::test,
                                                    &tulle::mpi::forget_receive,
                                                    &tulle::mpi::abandon,
                                                    &tulle::mpi::find_dead,
                                                    &tulle::mpi::gather,
                                                    &tulle::mpi::meet,
                                                    &tulle::mpi::find_hosts,
                                                    &tulle::mpi::explain};
}
