/// Decides who may read the page: anybody who knows the token and whose browser addresses this server.
///
/// The Host header has to name this server. A stranger's host name that resolves to this machine (DNS
/// rebinding) is therefore rejected. An Origin header, if one is sent, has to be the server's.
#pragma once

#include <string>
#include <string_view>

namespace ringmaster {

/// Returns 128 random bits as hexadecimal digits.
std::string make_token();

struct Asked {
    std::string method, path, host, origin;
};

struct Answer {
    int status = 200;  ///< HTTP status; 200: serve `path`
    std::string path;  ///< path without the token: "/", "/runs"
};

class Access {
  public:
    /// `address` is written as in a URL: "127.0.0.1", "[::1]", "192.168.1.7".
    Access(std::string token, std::string address, int port);

    /// Returns 403 for a wrong Host or Origin, 404 without the token, 405 for a method that could write.
    Answer judge(const Asked& asked) const;

  private:
    bool is_our_host(std::string_view host) const;

    std::string token_, address_;
    int port_;
};

}  // namespace ringmaster
