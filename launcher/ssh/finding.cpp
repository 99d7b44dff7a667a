#include "launcher/ssh/finding.h"

#include <algorithm>

#include "engine/bare_texts.h"
#include "engine/filled_in.h"
#include "engine/translatable.h"

namespace ringmaster {

// clang-format off
const std::vector<FindingText>& finding_texts() {
    static const std::vector<FindingText> texts = {
        // Reaching the machine
        {"unknown-host", QT_TRANSLATE_NOOP("NodeFindings", "the host name %1 is not known here: %2"),
         QT_TRANSLATE_NOOP("NodeFindings", "check the spelling, or add a Host entry with its HostName to ~/.ssh/config")},
        {"refused", QT_TRANSLATE_NOOP("NodeFindings", "connection refused by %1 port %2"),
         QT_TRANSLATE_NOOP("NodeFindings", "is sshd running there, on port %2?")},
        {"no-answer", QT_TRANSLATE_NOOP("NodeFindings", "no answer from %1 port %2 in %3 s"),
         QT_TRANSLATE_NOOP("NodeFindings", "is the machine on, and does a firewall let port %2 through? A VPN may be needed")},
        {"no-route", QT_TRANSLATE_NOOP("NodeFindings", "cannot reach %1 port %2: %3"),
         QT_TRANSLATE_NOOP("NodeFindings", "no route leads there from this machine: is the network or the VPN up?")},
        {"no-connection", QT_TRANSLATE_NOOP("NodeFindings", "no connection with %1 port %2: %3"),
         QT_TRANSLATE_NOOP("NodeFindings", "`ssh -v %4` may say more")},
        {"given-up", QT_TRANSLATE_NOOP("NodeFindings", "given up before %1 port %2 had answered"),
         QT_TRANSLATE_NOOP("NodeFindings", "check it again")},
        {"not-ssh", QT_TRANSLATE_NOOP("NodeFindings", "%1 port %2 answered, but not as SSH should: %3"),
         QT_TRANSLATE_NOOP("NodeFindings", "`ssh -v %4` shows the same exchange")},
        {"jump-blocked", QT_TRANSLATE_NOOP("NodeFindings", "the jump host %1 does not connect to %2 port %3: %4"),
         QT_TRANSLATE_NOOP("NodeFindings", "is the machine on, and does the jump host's sshd allow forwarding (AllowTcpForwarding)?")},
        {"endless-jumps", QT_TRANSLATE_NOOP("NodeFindings", "more than %1 jump hosts, or one that jumps through itself"),
         QT_TRANSLATE_NOOP("NodeFindings", "see ProxyJump in ~/.ssh/config")},
        {"ssh-config", QT_TRANSLATE_NOOP("NodeFindings", "ssh does not understand its configuration: %1"),
         QT_TRANSLATE_NOOP("NodeFindings", "`ssh -G %2` shows the same")},
        {"connection-lost", QT_TRANSLATE_NOOP("NodeFindings", "the connection is lost: %1"), ""},

        // Host key
        {"no-host-key", QT_TRANSLATE_NOOP("NodeFindings", "shows no host key: %1"), ""},
        {"unknown-host-key", QT_TRANSLATE_NOOP("NodeFindings", "its host key is not known: %1 %2"),
         QT_TRANSLATE_NOOP("NodeFindings", "compare it with what `ssh-keygen -lf /etc/ssh/ssh_host_%3_key.pub` prints there; then trust it "
                                           "(--trust-on-first-use): that adds it to %4")},
        {"changed-host-key", QT_TRANSLATE_NOOP("NodeFindings", "its host key has CHANGED: now it is %1 %2. Somebody may stand between, or "
                                                               "the machine was set up anew; nothing was sent to it"),
         QT_TRANSLATE_NOOP("NodeFindings", "ask whoever runs the machine. If the new key is right: ssh-keygen -f %3 -R '%4'")},
        {"other-host-key", QT_TRANSLATE_NOOP("NodeFindings", "is known by a host key of another type than it shows now (%1 %2). Somebody may "
                                                             "stand between; nothing was sent to it"),
         QT_TRANSLATE_NOOP("NodeFindings", "ask whoever runs the machine. If the new key is right: ssh-keygen -f %3 -R '%4'")},
        {"unknown-host-key-strict", QT_TRANSLATE_NOOP("NodeFindings", "its host key is not known: %1 %2. StrictHostKeyChecking yes lets none be added"),
         QT_TRANSLATE_NOOP("NodeFindings", "compare it with what `ssh-keygen -lf /etc/ssh/ssh_host_%3_key.pub` prints there, and add it to %4 yourself")},
        {"unknown-host-key-no-file", QT_TRANSLATE_NOOP("NodeFindings", "its host key is not known: %1 %2. UserKnownHostsFile none leaves no file to add it to"),
         QT_TRANSLATE_NOOP("NodeFindings", "name a file in UserKnownHostsFile, or add the key to one of GlobalKnownHostsFile")},
        {"revoked-host-key", QT_TRANSLATE_NOOP("NodeFindings", "its host key %1 %2 is REVOKED by %3. Somebody may have stolen it; nothing was sent to the machine"),
         QT_TRANSLATE_NOOP("NodeFindings", "ask whoever runs the machine for its new host key")},
        {"changed-address-key", QT_TRANSLATE_NOOP("NodeFindings", "its address is known by another host key than %1 %2 (CheckHostIP, %3). Somebody may stand between; nothing was sent to it"),
         QT_TRANSLATE_NOOP("NodeFindings", "ask whoever runs the machine which key is right, and remove the wrong line")},
        {"small-host-key", QT_TRANSLATE_NOOP("NodeFindings", "its host key %1 %2 has %3 bits, fewer than RequiredRSASize asks for"),
         QT_TRANSLATE_NOOP("NodeFindings", "ask whoever runs the machine for a longer key, or for one of ed25519")},
        {"known-hosts-command", QT_TRANSLATE_NOOP("NodeFindings", "its host key %1 %2 is not checked: KnownHostsCommand (%3) is not run here"),
         QT_TRANSLATE_NOOP("NodeFindings", "write what the command prints to a file, and name that in UserKnownHostsFile instead")},
        {"revoked-keys-unreadable", QT_TRANSLATE_NOOP("NodeFindings", "its host key %1 %2 is not accepted: %3 revokes a key that cannot be read"),
         QT_TRANSLATE_NOOP("NodeFindings", "mend that line, or remove it")},
        {"revoked-keys-binary", QT_TRANSLATE_NOOP("NodeFindings", "its host key %1 %2 is not accepted: RevokedHostKeys names %3, a binary list (KRL), which is not read here"),
         QT_TRANSLATE_NOOP("NodeFindings", "name a text file in RevokedHostKeys instead, one public key a line")},
        {"revoked-authority", QT_TRANSLATE_NOOP("NodeFindings", "its host key %1 %2 is not accepted: it has a host certificate, which is not read here, and %3 may revoke the authority that signed it"),
         QT_TRANSLATE_NOOP("NodeFindings", "name key types without certificates for it in ~/.ssh/config: HostKeyAlgorithms ssh-ed25519,rsa-sha2-512")},
        {"host-key-algorithms", QT_TRANSLATE_NOOP("NodeFindings", "HostKeyAlgorithms does not tell which of its host keys to ask for (host certificates are not read here): %1"),
         QT_TRANSLATE_NOOP("NodeFindings", "name one key type for it in ~/.ssh/config, for instance HostKeyAlgorithms ssh-ed25519")},
        {"host-key-not-followed", QT_TRANSLATE_NOOP("NodeFindings", ". Not followed here, though ssh does: %1"), ""},
        {"unchecked-host-key", QT_TRANSLATE_NOOP("NodeFindings", "its host key cannot be checked: %1"),
         QT_TRANSLATE_NOOP("NodeFindings", "is %2 readable?")},
        {"host-key-not-kept", QT_TRANSLATE_NOOP("NodeFindings", "its host key cannot be added to %1: %2"), ""},

        // Login: %1 is the user, %2 the methods the server accepts, %3 the machine; a list of tries follows
        {"login-refused", QT_TRANSLATE_NOOP("NodeFindings", "the login as %1 was not accepted. It takes %2; tried: "),
         QT_TRANSLATE_NOOP("NodeFindings", "`ssh %3` has to work without us; `ssh-copy-id` puts a key there")},
        {"login-without-key", QT_TRANSLATE_NOOP("NodeFindings", "the login as %1 was not accepted. It takes %2; nothing was there to try"),
         QT_TRANSLATE_NOOP("NodeFindings", "`ssh %3` has to work without us; `ssh-copy-id` puts a key there")},
        {"wrong-password", QT_TRANSLATE_NOOP("NodeFindings", "the password for the login as %1 was not accepted. It takes %2; tried: "),
         QT_TRANSLATE_NOOP("NodeFindings", "is it the password of %1 on that machine? `ssh-copy-id %3` puts a key there, and none is asked for")},
        {"wrong-answer", QT_TRANSLATE_NOOP("NodeFindings", "its questions were not answered as it wants for the login as %1. It takes %2; tried: "),
         QT_TRANSLATE_NOOP("NodeFindings", "a code may have run out: check it again; `ssh %3` asks the same")},
        {"nobody-answers", QT_TRANSLATE_NOOP("NodeFindings", "the login as %1 has to be answered by a person. It takes %2; tried: "),
         QT_TRANSLATE_NOOP("NodeFindings", "run it in a terminal or use the app; or `ssh-copy-id %3` puts a key there, and nothing is asked")},
        {"too-many-keys", QT_TRANSLATE_NOOP("NodeFindings", "ended the login after %1 keys that it does not know (its MaxAuthTries); tried: "),
         QT_TRANSLATE_NOOP("NodeFindings", "name the right key for this host in ~/.ssh/config: IdentityFile with IdentitiesOnly yes")},
        {"too-many-tries", QT_TRANSLATE_NOOP("NodeFindings", "ended the login after too many wrong answers (its MaxAuthTries); tried: "),
         QT_TRANSLATE_NOOP("NodeFindings", "`ssh %1` has to work without us")},
        {"login-ended", QT_TRANSLATE_NOOP("NodeFindings", "ended the login: %1; tried: "), ""},

        // Login methods tried
        {"tried-nothing", QT_TRANSLATE_NOOP("NodeFindings", "nothing"), ""},
        {"tried-agent-key", QT_TRANSLATE_NOOP("NodeFindings", "1 key of the ssh-agent (not accepted)"), ""},
        {"tried-agent-keys", QT_TRANSLATE_NOOP("NodeFindings", "%1 keys of the ssh-agent (not accepted)"), ""},
        {"tried-key", QT_TRANSLATE_NOOP("NodeFindings", "%1 (not accepted)"), ""},
        {"tried-half-key", QT_TRANSLATE_NOOP("NodeFindings", "%1 (only its public half is here)"), ""},
        {"tried-no-key", QT_TRANSLATE_NOOP("NodeFindings", "%1 (cannot be read as a private key)"), ""},
        {"tried-locked-key", QT_TRANSLATE_NOOP("NodeFindings", "%1 (encrypted: load it with ssh-add, or give its passphrase)"), ""},
        {"tried-keyboard", QT_TRANSLATE_NOOP("NodeFindings", "keyboard-interactive (not accepted)"), ""},
        {"tried-keyboard-often", QT_TRANSLATE_NOOP("NodeFindings", "keyboard-interactive (%1 times not accepted)"), ""},
        {"tried-keyboard-alone", QT_TRANSLATE_NOOP("NodeFindings", "keyboard-interactive (the server asks, and nobody is there to answer)"), ""},
        {"tried-password", QT_TRANSLATE_NOOP("NodeFindings", "password (not accepted)"), ""},
        {"tried-password-often", QT_TRANSLATE_NOOP("NodeFindings", "password (%1 times not accepted)"), ""},
        {"tried-password-alone", QT_TRANSLATE_NOOP("NodeFindings", "password (nobody is there to give it)"), ""},

        // Login shell
        {"no-channel", QT_TRANSLATE_NOOP("NodeFindings", "no channel for a command: %1"),
         QT_TRANSLATE_NOOP("NodeFindings", "its sshd may allow too few sessions (MaxSessions)")},
        {"no-commands", QT_TRANSLATE_NOOP("NodeFindings", "does not run commands: %1"),
         QT_TRANSLATE_NOOP("NodeFindings", "an account that may only transfer files cannot train")},
        {"shell-ends", QT_TRANSLATE_NOOP("NodeFindings", "the login shell ended before it ran anything%1"),
         QT_TRANSLATE_NOOP("NodeFindings", "`ssh %2 true` has to succeed: look at the shell's start files there")},
        {"shell-hangs", QT_TRANSLATE_NOOP("NodeFindings", "the login shell did not get to running anything in 30 s%1"),
         QT_TRANSLATE_NOOP("NodeFindings", "its start files wait for something or start another program: keep that for interactive shells")},
        {"shell-is-none", QT_TRANSLATE_NOOP("NodeFindings", "its shell did not answer our questions%1"),
         QT_TRANSLATE_NOOP("NodeFindings", "`sh` has to be a POSIX shell there")},
        {"takes-nothing", QT_TRANSLATE_NOOP("NodeFindings", "has taken nothing for %1 s"),
         QT_TRANSLATE_NOOP("NodeFindings", "is a disk or network file system of the machine hanging?")},
        {"talks-too-much", QT_TRANSLATE_NOOP("NodeFindings", "sends more than is asked of it (over %1)"),
         QT_TRANSLATE_NOOP("NodeFindings", "look at its shell's start-up files, and whether it is the machine that you mean")},
        {"command-hangs", QT_TRANSLATE_NOOP("NodeFindings", "a command there has said nothing for %1 s"),
         QT_TRANSLATE_NOOP("NodeFindings", "is a disk or network file system of the machine hanging?")},

        // System, processor and software
        {"ready", QT_TRANSLATE_NOOP("NodeFindings", "%1 cores, %2 of %3 memory free, %4 disk free, no GPU"), ""},
        {"ready-gpu", QT_TRANSLATE_NOOP("NodeFindings", "%5 × %6 (driver %7), %1 cores, %2 of %3 memory free, %4 disk free"), ""},
        {"other-system", QT_TRANSLATE_NOOP("NodeFindings", "runs %1; Ringmaster's engine is for Linux"),
         QT_TRANSLATE_NOOP("NodeFindings", "choose another node")},
        {"other-architecture", QT_TRANSLATE_NOOP("NodeFindings", "is a %1 machine; the engine here is built for %2"),
         QT_TRANSLATE_NOOP("NodeFindings", "build Ringmaster on a %1 machine and launch from there")},
        {"no-glibc", QT_TRANSLATE_NOOP("NodeFindings", "has no glibc (its libc is another); the engine needs glibc %1"),
         QT_TRANSLATE_NOOP("NodeFindings", "choose a node with a glibc distribution")},
        {"old-glibc", QT_TRANSLATE_NOOP("NodeFindings", "has glibc %1, older than the %2 that the engine is built against"),
         QT_TRANSLATE_NOOP("NodeFindings", "build Ringmaster on a system as old as that node's, or choose another node")},
        {"disk-full", QT_TRANSLATE_NOOP("NodeFindings", "its disk is full: nothing can be written in %1"),
         QT_TRANSLATE_NOOP("NodeFindings", "make room there")},
        {"little-disk", QT_TRANSLATE_NOOP("NodeFindings", "has %2 free in %1; 1 GiB is the least"),
         QT_TRANSLATE_NOOP("NodeFindings", "make room there")},
        {"not-writable", QT_TRANSLATE_NOOP("NodeFindings", "nothing can be written in %1: %2"),
         QT_TRANSLATE_NOOP("NodeFindings", "set XDG_DATA_HOME there to a folder that you may write in")},
        {"noexec", QT_TRANSLATE_NOOP("NodeFindings", "programs may not run in %1 (mounted noexec)"),
         QT_TRANSLATE_NOOP("NodeFindings", "set XDG_DATA_HOME there to a folder on a disk without noexec")},
        {"no-sha256sum", QT_TRANSLATE_NOOP("NodeFindings", "has no sha256sum"), QT_TRANSLATE_NOOP("NodeFindings", "install coreutils there")},
        {"no-libtorch", QT_TRANSLATE_NOOP("NodeFindings", "has no LibTorch %1"),
         QT_TRANSLATE_NOOP("NodeFindings", "--libtorch pip installs it there with that machine's pip (a download of 2.8 GB), "
                                           "--libtorch copy sends the part that is needed from here")},
        {"no-libtorch-here", QT_TRANSLATE_NOOP("NodeFindings", "has no LibTorch %1"),
         QT_TRANSLATE_NOOP("NodeFindings", "`ringmaster setup` installs it")},
        {"no-libtorch-no-pip", QT_TRANSLATE_NOOP("NodeFindings", "has no LibTorch %1, and no Python that could install it"),
         QT_TRANSLATE_NOOP("NodeFindings", "--libtorch copy sends the part that is needed from here")},
        {"other-libtorch", QT_TRANSLATE_NOOP("NodeFindings", "has no LibTorch %1 (there is %2)"),
         QT_TRANSLATE_NOOP("NodeFindings", "--libtorch pip installs it there with that machine's pip (a download of 2.8 GB), "
                                           "--libtorch copy sends the part that is needed from here")},
        {"old-driver", QT_TRANSLATE_NOOP("NodeFindings", "its NVIDIA driver %1 is too old for CUDA %3: its GPUs cannot be used"),
         QT_TRANSLATE_NOOP("NodeFindings", "install NVIDIA driver %2 or newer there, or train on its processors with --device cpu")},
        {"old-gpu", QT_TRANSLATE_NOOP("NodeFindings", "its GPU %1, %2, has compute capability %3, and the engine's kernels need %4 or newer"),
         QT_TRANSLATE_NOOP("NodeFindings", "leave it out with CUDA_VISIBLE_DEVICES there, or train on its processors with --device cpu")},
        {"gpu-in-use", QT_TRANSLATE_NOOP("NodeFindings", "GPU %1 is in use by %2 (%3)"),
         QT_TRANSLATE_NOOP("NodeFindings", "ask them, or leave it out with CUDA_VISIBLE_DEVICES")},
        {"clock-ahead", QT_TRANSLATE_NOOP("NodeFindings", "its clock is %1 ahead"),
         QT_TRANSLATE_NOOP("NodeFindings", "set it (NTP): times of events will not agree")},
        {"clock-behind", QT_TRANSLATE_NOOP("NodeFindings", "its clock is %1 behind"),
         QT_TRANSLATE_NOOP("NodeFindings", "set it (NTP): times of events will not agree")},
        {"noisy-shell", QT_TRANSLATE_NOOP("NodeFindings", "its login shell prints text before every command (\"%1\")"),
         QT_TRANSLATE_NOOP("NodeFindings", "harmless here, though scp and sftp fail of it: keep that for interactive shells in its start files")},

        // Slurm on the machine
        {"no-partition", QT_TRANSLATE_NOOP("NodeFindings", "its Slurm has no partition"),
         QT_TRANSLATE_NOOP("NodeFindings", "`sinfo` shows the same; ask whoever runs the cluster")},
        {"no-partition-up", QT_TRANSLATE_NOOP("NodeFindings", "none of its partitions is up"),
         QT_TRANSLATE_NOOP("NodeFindings", "`sinfo` shows the same; ask whoever runs the cluster")},
        {"takes-jobs", QT_TRANSLATE_NOOP("NodeFindings", "takes jobs: %1"), ""},

        // Installing LibTorch
        {"pip-failed", QT_TRANSLATE_NOOP("NodeFindings", "pip could not install LibTorch %1 there: %2"),
         QT_TRANSLATE_NOOP("NodeFindings", "does that machine reach PyPI? --libtorch copy sends LibTorch from here")},
        {"no-room-for-libtorch", QT_TRANSLATE_NOOP("NodeFindings", "has %1 free in %2; LibTorch takes %3"),
         QT_TRANSLATE_NOOP("NodeFindings", "make room there")},

        // Tier 2: self-test and links
        {"engine-fails", QT_TRANSLATE_NOOP("NodeFindings", "the engine does not run there: %1"),
         QT_TRANSLATE_NOOP("NodeFindings", "LibTorch is taken from %2 there: is it whole?")},
        {"selftest-fails", QT_TRANSLATE_NOOP("NodeFindings", "the engine fails its self-test there: %1"),
         QT_TRANSLATE_NOOP("NodeFindings", "choose another node, and say so to whoever looks after this one")},
        {"no-interface", QT_TRANSLATE_NOOP("NodeFindings", "no network interface of it leads to rank 0's node, %1 (%2)"),
         QT_TRANSLATE_NOOP("NodeFindings", "are the two on one network? Name first a node that all the others reach")},
        {"link-fails", QT_TRANSLATE_NOOP("NodeFindings", "its ranks do not reach those of %1: %2"),
         QT_TRANSLATE_NOOP("NodeFindings", "does a firewall let all TCP ports through between %3 and %4?")},
    };
    return texts;
}
// clang-format on

const FindingText* finding_text(std::string_view code) {
    const std::vector<FindingText>& all = finding_texts();
    const auto at =
        std::find_if(all.begin(), all.end(), [&](const FindingText& text) { return text.code == code; });
    return at == all.end() ? nullptr : &*at;
}

std::string NodeFinding::message() const {
    const FindingText* text = finding_text(code);
    if (text == nullptr) return {};
    if (bare_texts) return code;
    std::string said = filled_in(text->message, with);
    for (size_t i = 0; i < parts.size(); ++i) said += (i == 0 ? "" : ", ") + parts[i].message();
    return said;
}

std::string NodeFinding::next() const {
    const FindingText* text = finding_text(code);
    if (text == nullptr || *text->next == '\0') return {};
    return bare_texts ? code : filled_in(text->next, with);
}

}  // namespace ringmaster
