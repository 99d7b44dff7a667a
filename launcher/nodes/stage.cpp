#include "launcher/nodes/stage.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "engine/error.h"
#include "launcher/run/local_node.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

constexpr size_t kPiece = 1 << 20;
constexpr auto kHashPatience = std::chrono::seconds(600);  ///< enough to hash hundreds of GB on a slow disk

struct Object {
    std::string hash;
    fs::path from;
    std::string to;
    int64_t size = 0;
    int64_t there = -1;  ///< bytes that the node already has; -1: all
};

/// Prefers OpenSSL, which uses the processor's SHA instructions; coreutils often does not and takes five
/// times as long.
constexpr const char* kSum = R"sh(
sum() {
    got=$(openssl dgst -sha256 -r <"$1" 2>/dev/null | cut -c1-64)
    if [ ${#got} -ne 64 ]; then got=$(sha256sum <"$1" | cut -c1-64); fi
    echo "$got"
}
)sh";

/// Asks which content is there. Input: lines "HASH SIZE TARGET"; output: "HASH have" or "HASH BYTES".
constexpr const char* kAskObjects = R"sh(
mkdir -p "$objects" || exit 1
while read -r hash size target; do
    if [ -f "$objects/$hash" ]; then echo "$hash have"; continue; fi
    if [ -f "$target" ] && [ "$(wc -c <"$target")" -eq "$size" ] && [ "$(sum "$target")" = "$hash" ]; then
        ln "$target" "$objects/$hash" 2>/dev/null || cp "$target" "$objects/$hash" && echo "$hash have" && continue
    fi
    if [ -f "$objects/$hash.$part" ]; then echo "$hash $(wc -c <"$objects/$hash.$part")"; else echo "$hash 0"; fi
done
)sh";

/// Appends its input to a file and prints "ok", "short", or "bad" (other content, deleted). It hashes after
/// the transfer: hashing the stream would slow the transfer down.
constexpr const char* kTakeObject = R"sh(
file="$objects/$hash.$part"
cat >>"$file" || exit 1
if [ "$(wc -c <"$file")" -lt "$size" ]; then echo short
elif [ "$(sum "$file")" = "$hash" ]; then mv "$file" "$objects/$hash" && echo ok
else rm -f "$file"; echo bad; fi
)sh";

/// Puts objects in place; input: lines "HASH MODE TARGET". A target is a hard link to the object if the file
/// system allows it, else a copy.
constexpr const char* kPlaceObjects = R"sh(
while read -r hash mode target; do
    if [ "$objects/$hash" -ef "$target" ]; then continue; fi
    mkdir -p "$(dirname "$target")" && rm -f "$target.new" || exit 1
    if [ "$mode" = 755 ]; then cp "$objects/$hash" "$target.new"; else ln "$objects/$hash" "$target.new" 2>/dev/null || cp "$objects/$hash" "$target.new"; fi || exit 1
    chmod "$mode" "$target.new" && mv -f "$target.new" "$target" || exit 1
done
echo placed
)sh";

std::string with_input(SshSession& session, const std::string& script, const std::string& input,
                       const std::string& what) {
    RemoteScript remote(session, script);
    remote.write(input);
    remote.end_of_input();
    std::string out;
    const auto end = std::chrono::steady_clock::now() + kHashPatience;
    while (remote.read(out, std::chrono::milliseconds(500))) {
        if (std::chrono::steady_clock::now() > end)
            throw Error(Failure::Unreachable, Code("NODE-TRANSFER"), what + ": no answer", session.host());
    }
    if (remote.status().value_or(-1) == 0) return out;
    const bool full = remote.errors().find("No space left") != std::string::npos;
    throw Error(full ? Failure::Refused : Failure::Unreachable, Code(full ? "DISK-FULL" : "NODE-TRANSFER"),
                what + (full ? ": its disk is full" : ": " + remote.errors()), session.host(),
                full ? "make room there" : "");
}

/// Returns the first lines of the scripts: the folders, and the function that hashes a file. Partial files
/// carry the node's name, since nodes may share the folder.
std::string objects_of(const Node& node) {
    std::string name = node.name();
    std::replace_if(
        name.begin(), name.end(), [](char c) { return c == '/' || c == '%'; }, '_');
    return "objects=" + shell_quoted(node.facts.data_dir + "/objects") +
           "\npart=" + shell_quoted("part-" + name) + kSum;
}

void ask(Node& node, std::vector<Object>& objects) {
    std::string input;
    for (const Object& object : objects)
        input += object.hash + " " + std::to_string(object.size) + " " + object.to + "\n";
    std::istringstream answers(
        with_input(*node.session, objects_of(node) + kAskObjects, input, "its files cannot be looked at"));
    std::map<std::string, std::string> by_hash;
    for (std::string hash, answer; answers >> hash >> answer;) by_hash[hash] = answer;
    for (Object& object : objects) {
        const std::string& answer = by_hash[object.hash];
        object.there = answer == "have" ? -1 : std::min<int64_t>(object.size, std::atoll(answer.c_str()));
    }
}

void send(Node& node, const Object& object, int64_t& sent, int64_t before, int64_t total,
          const Progress& progress) {
    RemoteScript remote(*node.session, objects_of(node) + "hash=" + object.hash +
                                           "\nsize=" + std::to_string(object.size) + kTakeObject);
    std::ifstream in(object.from, std::ios::binary);
    in.seekg(object.there);
    std::string piece(kPiece, '\0');
    for (int64_t done = object.there; done < object.size;) {
        progress.stop_if_cancelled();
        in.read(piece.data(), static_cast<std::streamsize>(std::min<int64_t>(kPiece, object.size - done)));
        const auto got = static_cast<size_t>(in.gcount());
        if (got == 0)
            throw Error(Failure::Usage, Code("NODE-TRANSFER"), "has become shorter while it was sent",
                        object.from.string());
        if (!remote.write(std::string_view(piece).substr(0, got))) break;
        done += static_cast<int64_t>(got);
        sent += static_cast<int64_t>(got);
        progress.report({kSending, {node.name()}, before + done, total, true});
    }
    remote.end_of_input();
    std::string answer;
    while (remote.read(answer, std::chrono::milliseconds(500))) progress.stop_if_cancelled();
    if (answer.find("ok") != std::string::npos) return;
    const bool full = remote.errors().find("No space left") != std::string::npos;
    throw Error(full ? Failure::Refused : Failure::Unreachable, Code(full ? "DISK-FULL" : "NODE-TRANSFER"),
                object.from.filename().string() + (full ? " does not fit: its disk is full"
                                                   : answer.find("bad") != std::string::npos
                                                       ? " came with another content"
                                                       : " did not come whole: " + remote.errors()),
                node.name(), full ? "make room there" : "try again: what came so far is kept");
}

}  // namespace

Staged stage_files(Node& node, const std::vector<StagedFile>& files, const Progress& progress) {
    std::vector<Object> objects;
    std::string places;
    Staged staged;
    for (const StagedFile& file : files) {
        if (file.to.find('\n') != std::string::npos)
            throw Error(Failure::Usage, Code("NODE-TRANSFER"), "has a line break in its name", file.to);
        Object object{content_hash(file.from, progress), file.from, file.to, 0, -1};
        object.size = static_cast<int64_t>(fs::file_size(file.from));
        staged.all_bytes += object.size;
        places += object.hash + (file.executable ? " 755 " : " 644 ") + file.to + "\n";
        const bool known = std::any_of(objects.begin(), objects.end(),
                                       [&](const Object& o) { return o.hash == object.hash; });
        if (!known) objects.push_back(std::move(object));
    }
    ask(node, objects);
    int64_t before = 0;
    for (const Object& object : objects) {
        if (object.there >= 0) send(node, object, staged.sent_bytes, before, staged.all_bytes, progress);
        before += object.size;
    }
    with_input(*node.session, objects_of(node) + kPlaceObjects, places, "its files cannot be put into place");
    return staged;
}

void write_remote_file(SshSession& session, const std::string& path, const std::string& content) {
    const std::string script =
        "umask 077\nfile=" + shell_quoted(path) +
        "\nmkdir -p \"$(dirname \"$file\")\" && cat >\"$file.new\" && mv -f \"$file.new\" \"$file\"";
    with_input(session, script, content, path + " cannot be written");
}

}  // namespace ringmaster
