// SPDX-License-Identifier: Apache-2.0
// The tests of transports over an MPI: each place is a process that the MPI has started, and the
// first one drives them all (driven_place.hpp). The first argument says which MPI. Driven by
// hosts_test.py.
#include "driven_place.hpp"
#include "net/mpi_plugin.hpp"
#include "net/mpi_transport.hpp"
#include "transport_contract.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <unistd.h>

namespace tulle::net {
namespace {

mpi_world world;
std::vector<std::unique_ptr<test::process_handle>> processes; // at the first one

fleet drive(rank count) {
    auto const all = std::make_shared<test::open_places>(processes, count);
    fleet f;
    for (rank r = 0; r < count; ++r)
        f.places.push_back(std::make_unique<test::driven_place>(all, r));
    return f;
}

bool expects_messages(transport& place) {
    return dynamic_cast<test::driven_place&>(place).expects_messages();
}

// When the tests are set up, the world is known.
kind over_mpi() { return {"mpi", &drive, true, nullptr, world.count, &expects_messages}; }
INSTANTIATE_TEST_SUITE_P(processes, any_transport, testing::Values(over_mpi()),
                         [](auto const& chosen) { return std::string(chosen.param.name); });

struct address {
    std::array<char, 256> host{};
    std::uint16_t port = 0;
};

void check(int error) {
    if (error == 0) return;
    std::fprintf(stderr, "contract: MPI fails with error %d\n", error);
    std::_Exit(EXIT_FAILURE);
}

template <class T>
std::vector<T> gather(mpi_functions const& mpi, mpi_endpoint* all, T const& own) {
    std::vector<T> of_all(world.count);
    check(mpi.gather(all, &own, sizeof own, of_all.data()));
    return of_all;
}

std::vector<address> exchange_addresses(mpi_functions const& mpi, std::uint16_t port) {
    mpi_endpoint* all = nullptr;
    rank lowest = 0;
    check(mpi.open(world.count, all));
    check(mpi.find_hosts(all, lowest));
    std::vector<rank> const firsts = gather(mpi, all, lowest);
    address own{{"localhost"}, port};
    if (*std::max_element(firsts.begin(), firsts.end()) != 0)
        gethostname(own.host.data(), own.host.size() - 1);
    std::vector<address> const addresses = gather(mpi, all, own);
    mpi.close(all);
    return addresses;
}

std::unique_ptr<mpi_transport> take_part(mpi_functions const& mpi, rank count) {
    mpi_endpoint* over = nullptr;
    check(mpi.open(count, over));
    if (over == nullptr) return nullptr;
    std::vector<int> const descriptors(world.descriptors,
                                       world.descriptors + world.descriptor_count);
    return std::make_unique<mpi_transport>(mpi, over, world.here, count, false, descriptors);
}

// A message that never comes. Whoever asks for it lets MPI go on.
class never {
public:
    explicit never(mpi_functions const& mpi) : m_mpi(mpi) {
        check(m_mpi.open(world.count, m_over));
        check(m_mpi.prepare_receive(m_over, &m_byte, sizeof m_byte, m_request));
        check(m_mpi.start_receive(m_request));
    }
    never(never const&) = delete;
    never& operator=(never const&) = delete;
    ~never() {
        m_mpi.forget_receive(m_request);
        m_mpi.close(m_over);
    }
    void ask() {
        bool has_come = false;
        check(m_mpi.test(m_request, has_come));
    }

private:
    mpi_functions const& m_mpi;
    mpi_endpoint* m_over = nullptr;
    mpi_request m_request;
    char m_byte = 0;
};

int run_tests(std::vector<address> const& addresses) {
    for (address const& a : addresses)
        processes.push_back(std::make_unique<test::process_handle>(a.host.data(), a.port));
    testing::InitGoogleTest();
    int const result = RUN_ALL_TESTS();
    for (auto const& p : processes) p->tell_to_quit();
    return result;
}

int run(char const* flavour) {
    mpi_plugin const plugin = load_mpi_plugin(flavour);
    if (plugin.functions == nullptr) {
        std::fprintf(stderr, "contract: %s\n", plugin.why.c_str());
        return EXIT_FAILURE;
    }
    mpi_functions const& mpi = *plugin.functions;
    check(mpi.start(world));
    int result = EXIT_SUCCESS;
    {
        never to_come(mpi);
        test::driven_process const own([&mpi](rank count) { return take_part(mpi, count); },
                                       [&to_come] { to_come.ask(); });
        std::vector<address> const addresses = exchange_addresses(mpi, own.port());
        if (world.here == 0) result = run_tests(addresses);
        processes.clear();
    }
    mpi.finish();
    return result;
}

} // namespace
} // namespace tulle::net

int main(int argc, char** argv) { return argc > 1 ? tulle::net::run(argv[1]) : EXIT_FAILURE; }
