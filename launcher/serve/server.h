/// Serves a read-only page of runs to a browser: HTTP on one address, updated live by server-sent events.
#pragma once

#include <memory>
#include <string>

namespace ringmaster {

class RunHub;

struct ServeOptions {
    std::string address = "127.0.0.1";
    int port = 0;  ///< 0: a free port
};

class RunServer {
  public:
    /// Listens at once. Throws Error(Unreachable) if the address or the port is not available.
    RunServer(RunHub& hub, const ServeOptions& options);
    ~RunServer();  ///< ends every connection
    RunServer(const RunServer&) = delete;
    RunServer& operator=(const RunServer&) = delete;

    std::string address() const;  ///< "http://127.0.0.1:8123/TOKEN/"

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace ringmaster
