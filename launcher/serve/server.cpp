#include "launcher/serve/server.h"

#include <httplib.h>
#include <sys/resource.h>

#include <QFile>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "engine/error.h"
#include "launcher/serve/access.h"
#include "launcher/serve/bounded_queue.h"
#include "launcher/serve/run_hub.h"

namespace ringmaster {

namespace {

constexpr int kMostViewers = 64;  ///< clients that see a run live; each takes a thread while its page is open
constexpr size_t kThreads = 256;  ///< other threads, which answer requests or wait for silent clients
constexpr size_t kMostWaiting = 64;
constexpr int kPatience_s = 2;  ///< time for a client to send the next part of its request
constexpr auto kTick = std::chrono::milliseconds(250);
constexpr int kTicksBetweenSigns = 60;  ///< ticks between writes that detect closed browsers

const char* const kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src "
    "'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

std::string file_text(const QString& path) {
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly)) return {};
    return file.readAll().toStdString();
}

struct Static {
    const char* path;
    const char* file;
    const char* type;
};
constexpr Static kStatics[] = {
    {"/", ":/serve/index.html", "text/html; charset=utf-8"},
    {"/app.js", ":/serve/app.js", "text/javascript; charset=utf-8"},
    {"/style.css", ":/serve/style.css", "text/css; charset=utf-8"},
    {"/dygraph.js", RINGMASTER_DYGRAPHS_DIR "/dygraph.min.js", "text/javascript; charset=utf-8"},
    {"/dygraph.css", RINGMASTER_DYGRAPHS_DIR "/dygraph.min.css", "text/css; charset=utf-8"},
};

/// Limits file descriptors: the library waits with select(), which handles only those below 1,024.
void limit_descriptors() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur, FD_SETSIZE);
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

struct RunServer::Impl {
    RunHub& hub;
    ServeOptions options;
    std::string token = make_token();
    httplib::Server server;
    std::atomic<bool> ends = false;
    std::atomic<int> viewers = 0;
    std::thread thread;

    Impl(RunHub& the_hub, ServeOptions wanted) : hub(the_hub), options(std::move(wanted)) {}

    void answer(const Access& access, const httplib::Request& request, httplib::Response& response) {
        response.set_header("Content-Security-Policy", kPolicy);
        response.set_header("Referrer-Policy", "no-referrer");
        response.set_header("X-Content-Type-Options", "nosniff");
        response.set_header("Cache-Control", "no-store");
        const Answer judged = access.judge({request.method, request.path, request.get_header_value("Host"),
                                            request.get_header_value("Origin")});
        if (judged.status != 200) return refuse(response, judged.status);
        if (send_static(judged.path, response)) return;
        if (judged.path == "/runs") return response.set_content(hub.list(), "application/json");
        const std::string run = "/run/", live = "/live/";
        if (judged.path.starts_with(run)) return send_page(judged.path.substr(run.size()), response);
        if (judged.path.starts_with(live)) return send_live(judged.path.substr(live.size()), response);
        refuse(response, 404);
    }

    static void refuse(httplib::Response& response, int status) {
        response.status = status;
        response.set_content(status == 405   ? "This page can only be read.\n"
                             : status == 503 ? "Too many pages are open.\n"
                                             : "Not here.\n",
                             "text/plain; charset=utf-8");
    }

    static bool send_static(const std::string& path, httplib::Response& response) {
        for (const Static& known : kStatics) {
            if (path != known.path) continue;
            response.set_content(file_text(QString::fromUtf8(known.file)), known.type);
            return true;
        }
        return false;
    }

    void send_page(const std::string& name, httplib::Response& response) {
        const auto page = hub.page(name);
        if (!page) return refuse(response, 404);
        response.set_content(*page->json, "application/json");
    }

    void send_live(const std::string& name, httplib::Response& response) {
        const auto first = hub.page(name);
        if (!first) return refuse(response, 404);
        const std::shared_ptr<void> place(nullptr, [this](void*) { --viewers; });
        if (++viewers > kMostViewers) return refuse(response, 503);
        auto version = std::make_shared<int64_t>(0);
        response.set_chunked_content_provider(
            "text/event-stream", [this, name, first, version, place](size_t, httplib::DataSink& sink) {
                for (int tick = 0; !ends; ++tick) {
                    const auto page = *version == 0 ? first : hub.page(name);
                    if (!page) break;
                    if (page->version != *version) {
                        *version = page->version;
                        const std::string text = "data: " + *page->json + "\n\n";
                        return sink.write(text.data(), text.size());
                    }
                    if (tick == kTicksBetweenSigns) return sink.write(":\n\n", 3);
                    std::this_thread::sleep_for(kTick);
                }
                sink.done();
                return true;
            });
    }

    int listen() {
        server.new_task_queue = [] { return new BoundedQueue(kThreads, kMostWaiting); };
        server.set_keep_alive_timeout(kPatience_s);
        server.set_read_timeout(kPatience_s);
        server.set_payload_max_length(4096);
        if (options.port == 0) return server.bind_to_any_port(options.address.c_str());
        return server.bind_to_port(options.address.c_str(), options.port) ? options.port : -1;
    }

    std::string host() const {
        const bool is_ipv6 = options.address.find(':') != std::string::npos;
        return is_ipv6 ? "[" + options.address + "]" : options.address;
    }
};

RunServer::RunServer(RunHub& hub, const ServeOptions& options) : impl_(std::make_unique<Impl>(hub, options)) {
    limit_descriptors();
    const int port = impl_->listen();
    if (port < 0)
        throw Error(Failure::Unreachable, Code("SERVE-PORT"), "cannot be listened on",
                    options.address + ":" + std::to_string(options.port), "--port 0 takes a free port");
    impl_->options.port = port;
    impl_->server.set_pre_routing_handler(
        [impl = impl_.get(), access = Access(impl_->token, impl_->host(), port)](
            const httplib::Request& request, httplib::Response& response) {
            impl->answer(access, request, response);
            return httplib::Server::HandlerResponse::Handled;
        });
    impl_->thread = std::thread([impl = impl_.get()] { impl->server.listen_after_bind(); });
}

RunServer::~RunServer() {
    impl_->ends = true;
    impl_->server.stop();
    if (impl_->thread.joinable()) impl_->thread.join();
}

std::string RunServer::address() const {
    return "http://" + impl_->host() + ":" + std::to_string(impl_->options.port) + "/" + impl_->token + "/";
}

}  // namespace ringmaster
