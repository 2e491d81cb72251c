// SPDX-License-Identifier: Apache-2.0
//
// A web server of the files below a folder, with a thread for each connection: `httpd --port 8080
// FOLDER`. It knows GET and HEAD of HTTP/1.1 with connections that stay open, and nothing else.
#include "common/listener.hpp"
#include "common/program.hpp"

#include <tulle/tulle.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>

namespace {

using namespace examples;

struct server_options {
    common_options common;
    std::string folder;
    int port = 0;
    long connections = 0; // 0: for ever
    unsigned long most = 100'000;
};

struct request {
    std::string_view method, path;
    bool keeps_open;
};

// "GET /path HTTP/1.1" and the lines that follow.
std::optional<request> parse(std::string_view head) {
    std::size_t const first = head.find(' ');
    std::size_t const second = head.find(' ', first + 1);
    if (first == head.npos || second == head.npos || head[first + 1] != '/') return {};
    std::string_view const path = head.substr(first + 1, second - first - 1);
    if (path.find("..") != path.npos) return {}; // nothing outside of the folder
    bool const is_old = head.substr(second + 1).starts_with("HTTP/1.0");
    bool const closes = head.find("\r\nConnection: close") != head.npos;
    return request{head.substr(0, first), path, !is_old && !closes};
}

bool answer(int socket, char const* status, long length) {
    std::array<char, 128> head{};
    int const size = std::snprintf(head.data(), head.size(),
                                   "HTTP/1.1 %s\r\nContent-Length: %ld\r\n\r\n", status, length);
    return send_all(socket, {head.data(), static_cast<std::size_t>(size)}) == 0;
}

// Only as much as was promised, and all of it.
bool send_file(int socket, int file, off_t size) {
    std::array<char, 16384> part;
    for (off_t at = 0; at < size;) {
        auto const wanted = std::min<off_t>(size - at, static_cast<off_t>(part.size()));
        ssize_t const got =
            tulle::io::pread(file, part.data(), static_cast<std::size_t>(wanted), at);
        if (got <= 0) return false;
        if (send_all(socket, {part.data(), static_cast<std::size_t>(got)}) != 0) return false;
        at += got;
    }
    return true;
}

bool serve_one(int socket, std::string const& folder, request const& asked) {
    bool const is_head = asked.method == "HEAD";
    if (!is_head && asked.method != "GET") return answer(socket, "501 Not Implemented", 0);
    std::string const name = folder + std::string(asked.path);
    int const file = tulle::io::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat found {};
    bool const is_there = file >= 0 && ::fstat(file, &found) == 0 && S_ISREG(found.st_mode);
    bool const is_sent = answer(socket, is_there ? "200 OK" : "404 Not Found",
                                is_there ? static_cast<long>(found.st_size) : 0) &&
                         (!is_there || is_head || send_file(socket, file, found.st_size));
    if (file >= 0) tulle::io::close(file);
    return is_sent;
}

// Runs in a thread of the connection's own.
void serve(int socket, std::string const& folder) {
    std::array<char, 8192> buffer;
    std::size_t filled = 0;
    for (bool goes_on = true; goes_on;) {
        std::string_view const text(buffer.data(), filled);
        std::size_t const end = text.find("\r\n\r\n");
        if (end != text.npos) {
            auto const asked = parse(text.substr(0, end + 2));
            goes_on = asked ? serve_one(socket, folder, *asked) && asked->keeps_open
                            : answer(socket, "400 Bad Request", 0) && false;
            filled -= end + 4;
            std::memmove(buffer.data(), buffer.data() + end + 4, filled);
            continue;
        }
        ssize_t const got = tulle::io::read(socket, buffer.data() + filled, buffer.size() - filled);
        goes_on = got > 0; // 0 also where the head is too long
        filled += goes_on ? static_cast<std::size_t>(got) : 0;
    }
    tulle::io::close(socket);
}

void check_folder(std::string const& folder) {
    struct stat found {};
    int const failed = stat(folder.c_str(), &found) != 0 ? errno : 0;
    int const error = failed == 0 && !S_ISDIR(found.st_mode) ? ENOTDIR : failed;
    if (error != 0)
        throw std::runtime_error("cannot serve '" + folder + "': " + std::strerror(error));
}

int serve_all(server_options const& options) {
    check_folder(options.folder);
    listener const door(options.port);
    std::printf("port %d\n", door.port());
    std::fflush(stdout);
    serve_connections(door, options.connections, options.most,
                      [&options](int socket) { serve(socket, options.folder); });
    return k_exit_ok;
}

} // namespace

int main(int argc, char** argv) {
    command_line line{"Serves the files below a folder, with a thread for each connection.",
                      "httpd"};
    server_options options;
    add_worker_options(line, options.common);
    line.text("folder", options.folder, "of the files");
    line.require("folder");
    line.number("--port", options.port, "of 127.0.0.1; 0: any", 0, 65535);
    line.number("--connections", options.connections, "end after so many; 0: never", 0L,
                1'000'000'000L);
    line.number("--most", options.most, "connections that are open at a time", 1UL, 1'000'000UL);
    return line.run(argc, argv, [&] {
        runtime_session const session(options.common, std::size_t{128} * 1024);
        return serve_all(options);
    });
}
