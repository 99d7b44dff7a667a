/// Opens a loopback port that accepts connections and stays silent; after close() it refuses them.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

namespace ringmaster {

class Listener {
  public:
    Listener() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* at = reinterpret_cast<sockaddr*>(&address);
        if (::bind(socket_, at, size) != 0 || ::listen(socket_, 8) != 0 ||
            ::getsockname(socket_, at, &size) != 0)
            throw std::runtime_error("no port of loopback");
        port_ = ntohs(address.sin_port);
    }
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;
    ~Listener() { close(); }

    int port() const { return port_; }
    void close() {
        if (socket_ >= 0) ::close(socket_);
        socket_ = -1;
    }

  private:
    int socket_;
    int port_ = 0;
};

}  // namespace ringmaster
