/// Who may read the page: whoever knows the token, from a browser that means this server.
///
/// The Host header has to name this server, so that a stranger's host name that resolves to this machine (DNS
/// rebinding) reaches nothing; an Origin, where one is sent, has to be the server's.
#pragma once

#include <string>
#include <string_view>

namespace ringmaster {

/// 128 random bits as hexadecimal digits.
std::string make_token();

struct Asked {
    std::string method, path, host, origin;
};

struct Answer {
    int status = 200;  ///< 200: go on with `path`.
    std::string path;  ///< This is the path without the token: "/", "/runs".
};

class Access {
  public:
    /// `address` as in an address line: "127.0.0.1", "[::1]", "192.168.1.7".
    Access(std::string token, std::string address, int port);

    /// 403 for a strange Host or Origin, 404 without the token, 405 for a method that would change something.
    Answer judge(const Asked& asked) const;

  private:
    bool is_our_host(std::string_view host) const;

    std::string token_, address_;
    int port_;
};

}  // namespace ringmaster
