#include "launcher/nodes/fetch.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <set>

#include "engine/error.h"
#include "engine/files/checkpoints.h"
#include "launcher/base/files.h"
#include "launcher/base/format.h"
#include "launcher/nodes/stage.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

constexpr auto kHashPatience = std::chrono::seconds(600);  ///< enough for one file on a slow disk
constexpr auto kSilence = std::chrono::seconds(30);        ///< longest pause within a transfer

/// Files that mark a folder as a model or a checkpoint. They are written after the others, in this order, and
/// removed before others change, in reverse order.
constexpr std::array kMarks = {"config.json", "adapter_config.json", kCompleteFile};

bool is_mark(const std::string& name) {
    return std::find(kMarks.begin(), kMarks.end(), name) != kMarks.end();
}

Manifest files_there(SshSession& session, const std::string& folder) {
    return parse_manifest(script_output(
        session,
        "cd " + shell_quoted(folder) +
            " && find . -type f -exec sha256sum {} + && echo sizes && find . -type f -exec wc -c {} +",
        "its results cannot be read", kHashPatience));
}

/// Throws Error(Refused) if the disk has too little room for the missing files.
void require_room(const fs::path& to, int64_t bytes) {
    fs::path above = to;
    std::error_code unknown;
    while (!fs::exists(above, unknown) && above.has_relative_path()) above = above.parent_path();
    const fs::space_info disk = fs::space(above, unknown);
    if (unknown || bytes <= static_cast<int64_t>(disk.available)) return;
    throw Error(Failure::Refused, Code("NODE-TRANSFER"),
                format_bytes(bytes) + " are to come, and " +
                    format_bytes(static_cast<int64_t>(disk.available)) + " are free",
                to.string(), "make room, or name another folder with --to");
}

/// Restores the name of an interrupted checkpoint on the node, as restore_folders does on this machine.
constexpr const char* kRestoreFolders = R"sh( 2>/dev/null || exit 0
for former in .step-*.former; do
    name=${former#.}
    [ -e "$former" ] && [ ! -e "${name%.former}" ] && mv "$former" "${name%.former}"
done
true)sh";

fs::path part_of(const fs::path& target) {
    return target.string() + ".part";
}

/// A file under a temporary name, locked by this process.
class PartFile {
  public:
    explicit PartFile(const fs::path& target)
        : target_(target), aside_(part_of(target)), out_(::open(aside_.c_str(), kFlags, 0644)) {
        if (out_ < 0) fail();
        if (::flock(out_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            ::close(out_);
            throw Error(Failure::Refused, Code("RUN-ACTIVE"), "is being fetched by another process",
                        target.string());
        }
    }
    PartFile(const PartFile&) = delete;
    PartFile& operator=(const PartFile&) = delete;
    ~PartFile() { ::close(out_); }

    const fs::path& path() const { return aside_; }
    int64_t size() const { return ::lseek(out_, 0, SEEK_END); }
    void empty() const {
        if (::ftruncate(out_, 0) != 0) fail();
    }
    void append(const std::string& bytes) const {
        for (size_t done = 0; done < bytes.size();) {
            const ssize_t put = ::write(out_, bytes.data() + done, bytes.size() - done);
            if (put < 0 && errno != EINTR) fail();
            if (put > 0) done += static_cast<size_t>(put);
        }
    }
    void become_target() const {
        if (::fsync(out_) != 0) fail();
        rename_durably(aside_, target_);
    }

  private:
    static constexpr int kFlags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW;
    [[noreturn]] void fail() const {
        throw Error(Failure::Refused, Code("FILE-WRITE"),
                    std::string("cannot be written: ") + std::strerror(errno), aside_.string(),
                    errno == ENOSPC ? "make room: what came so far is kept" : "");
    }
    fs::path target_, aside_;
    int out_;
};

/// Receives the missing bytes of a file and appends them to `part`. Calls `told` with the number of bytes
/// that are here so far.
void receive(SshSession& session, const std::string& path, const PartFile& part, int64_t size,
             const Progress& progress, const std::function<void(int64_t)>& told) {
    int64_t here = part.size();
    RemoteScript remote(session, "tail -c +" + std::to_string(here + 1) + " " + shell_quoted(path));
    remote.end_of_input();
    std::string bytes;
    auto heard = std::chrono::steady_clock::now();
    while (here < size && remote.read(bytes, std::chrono::milliseconds(500))) {
        progress.stop_if_cancelled();
        if (!bytes.empty()) heard = std::chrono::steady_clock::now();
        if (std::chrono::steady_clock::now() - heard > kSilence)
            throw Error(Failure::Unreachable, Code("NODE-TRANSFER"),
                        "nothing of " + path + " has come for " + std::to_string(kSilence.count()) + " s",
                        session.host());
        bytes.resize(std::min(bytes.size(), static_cast<size_t>(size - here)));
        part.append(bytes);
        here += static_cast<int64_t>(bytes.size());
        bytes.clear();
        told(here);
    }
}

/// Returns the number of bytes to receive for files that are missing or incomplete here.
int64_t bytes_missing(const Manifest& there, const fs::path& to) {
    int64_t bytes = 0;
    for (const auto& [name, file] : there.files) {
        std::error_code none;
        const auto whole = fs::file_size(to / name, none);
        if (!none && static_cast<int64_t>(whole) == file.size) continue;
        const auto part = fs::file_size(to / (name + ".part"), none);
        bytes += std::max<int64_t>(0, file.size - (none ? 0 : static_cast<int64_t>(part)));
    }
    return bytes;
}

bool is_here(const fs::path& target, const FileThere& file, const Progress& progress) {
    std::error_code none;
    return fs::is_regular_file(target, none) &&
           static_cast<int64_t>(fs::file_size(target, none)) == file.size &&
           content_hash(target, progress) == file.hash;
}

/// Fetches a file and returns the bytes received. If an earlier fetch left a part of another file, starts
/// again from the beginning.
int64_t fetch_file(SshSession& session, const std::string& path, const fs::path& target,
                   const FileThere& file, const Progress& progress,
                   const std::function<void(int64_t)>& told) {
    make_folder(target.parent_path());
    const PartFile part(target);
    if (part.size() > file.size) part.empty();
    int64_t received = 0;
    for (const bool is_last_try : {false, true}) {
        const int64_t before = part.size();
        receive(session, path, part, file.size, progress, told);
        received += part.size() - before;
        if (part.size() == file.size && content_hash(part.path(), progress) == file.hash) {
            part.become_target();
            return received;
        }
        if (part.size() < file.size)
            throw Error(Failure::Unreachable, Code("NODE-TRANSFER"), path + " did not come whole",
                        session.host(), "try again: what came so far is kept");
        part.empty();
        if (before == 0 || is_last_try) break;
    }
    throw Error(Failure::Unreachable, Code("NODE-TRANSFER"),
                path + " came with another content than it has there", session.host(), "try again");
}

}  // namespace

Fetched fetch_folder(SshSession& session, const std::string& from, const fs::path& to,
                     const Progress& progress) {
    progress.report({"list", {session.host()}});
    const Manifest there = files_there(session, from);
    Fetched fetched;
    fetched.bytes = there.bytes;
    fetched.left_out = there.left_out;
    require_room(to, bytes_missing(there, to));
    std::set<std::string> missing;
    for (const auto& [name, file] : there.files) {
        if (!is_here(to / name, file, progress)) missing.insert(name);
    }
    if (!std::all_of(missing.begin(), missing.end(), is_mark)) {
        for (auto place = kMarks.rbegin(); place != kMarks.rend(); ++place) {
            const char* mark = *place;
            if (!fs::exists(to / mark)) continue;
            if (!missing.insert(mark).second || !there.files.contains(mark)) {
                remove_durably(to / mark);
            } else {
                rename_durably(to / mark, part_of(to / mark));  // kept, which saves fetching it again
            }
        }
    }
    int64_t before = 0;
    const auto bring = [&](const std::string& name, const FileThere& file) {
        progress.stop_if_cancelled();
        const fs::path target = to / name;
        if (missing.contains(name)) {
            fetched.received +=
                fetch_file(session, from + "/" + name, target, file, progress, [&](int64_t here) {
                    progress.report({"fetch", {name}, before + here, fetched.bytes, true});
                });
        }
        before += file.size;
        ++fetched.files;
    };
    for (const auto& [name, file] : there.files) {
        if (!is_mark(name)) bring(name, file);
    }
    for (const char* mark : kMarks) {
        if (const auto file = there.files.find(mark); file != there.files.end()) bring(mark, file->second);
    }
    return fetched;
}

std::vector<int64_t> checkpoints_there(SshSession& first, const RemoteRun& remote) {
    const ScriptResult listed =
        run_script(first, "cd " + shell_quoted(remote.nodes[0].run_dir + "/checkpoints") +
                              " 2>/dev/null || exit 0\nfor d in step-*; do [ -e \"$d/complete\" ] && echo "
                              "\"$d\"; done; true");
    return parse_checkpoints(listed.out);
}

void fetch_checkpoint(SshSession& first, const RemoteRun& remote, const RunDirectory& run,
                      std::optional<int64_t> step, const Progress& progress) {
    run_script(first, "cd " + shell_quoted(remote.nodes[0].run_dir + "/checkpoints") + kRestoreFolders);
    const std::vector<int64_t> steps = checkpoints_there(first, remote);
    if (!step && !steps.empty()) {
        for (const std::string& name :
             abandon_later(run.checkpoints(), steps.back(), read_run_state(run.dir).attempt + 1))
            progress.warn("node 0 has no such checkpoint: the copy here is set aside as " + name);
    }
    for (auto there = steps.rbegin(); there != steps.rend(); ++there) {
        if (step && *there != *step) continue;
        const fs::path here = run.checkpoints() / checkpoint_name(*there);
        fetch_folder(first, remote.nodes[0].run_dir + "/checkpoints/" + here.filename().string(), here,
                     progress);
        if (damage_of(here, [&] { progress.stop_if_cancelled(); }).empty()) return;
    }
}

}  // namespace ringmaster
