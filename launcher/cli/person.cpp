#include "launcher/cli/person.h"

#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include "launcher/cli/commands.h"
#include "launcher/cli/terminal.h"

namespace ringmaster {

namespace {

/// The terminal that this process belongs to, whatever its stdin is.
class Tty {
  public:
    explicit Tty(bool echo) : fd_(::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)) {
        if (fd_ < 0 || echo || ::tcgetattr(fd_, &before_) != 0) return;
        termios silent = before_;
        silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
        silent.c_lflag |= ECHONL;
        changed_ = ::tcsetattr(fd_, TCSAFLUSH, &silent) == 0;
    }
    Tty(const Tty&) = delete;
    Tty& operator=(const Tty&) = delete;
    ~Tty() {
        if (changed_) ::tcsetattr(fd_, TCSAFLUSH, &before_);
        if (fd_ >= 0) ::close(fd_);
    }

    bool is_there() const { return fd_ >= 0; }
    void write(const std::string& text) const {
        [[maybe_unused]] const ssize_t put = ::write(fd_, text.data(), text.size());
    }
    std::optional<std::string> line() const {
        std::string text;
        for (char c = 0; ::read(fd_, &c, 1) == 1;) {
            if (c == '\n') return text;
            text += c;
        }
        return std::nullopt;
    }

  private:
    int fd_;
    termios before_{};
    bool changed_ = false;
};

}  // namespace

SshPerson person_at_terminal(bool trust_on_first_use) {
    SshPerson person;
    person.ask = [](const LoginPrompt& prompt) -> std::optional<std::string> {
        const Tty tty(prompt.echo);
        if (!tty.is_there()) return std::nullopt;
        tty.write("\r\033[K" + (prompt.from_server ? printable(prompt.host) + " asks: " : std::string()) +
                  printable(prompt.text));
        return tty.line();
    };
    if (trust_on_first_use) {
        person.trust_unknown = [](const UnknownHostKey& key) {
            complain(printable(key.host) + ": trusting its host key " + key.type + " " + key.fingerprint +
                     ", added to " + printable(key.known_hosts) + "\n");
            return true;
        };
    }
    return person;
}

SshPerson person_at_terminal(bool trust_on_first_use, const Interrupts& interrupts,
                             const std::atomic<bool>& placing) {
    SshPerson person = person_at_terminal(trust_on_first_use);
    person.given_up = [&interrupts, &placing] { return interrupts.wants_end() && !placing; };
    return person;
}

}  // namespace ringmaster
