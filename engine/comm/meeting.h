/// How ranks find each other: the store that rank 0 serves, and the address that Gloo listens on.
#pragma once

#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "engine/comm/groups.h"
#include "engine/comm/sealed_store.h"

namespace ringmaster {

struct Meeting {
    c10::intrusive_ptr<c10d::Store> store;   ///< with rendezvous.key_prefix before every key
    c10::intrusive_ptr<SealedStore> sealed;  ///< the same without it
};

/// Opens the store and returns when every rank is there. Rank 0 serves it, unless torchrun does: ranks of one
/// node at 127.0.0.1; of several at MASTER_ADDR, where that is numbers or a name of an address of this
/// machine, else at interface_address(). Throws Error(Unreachable): the port is in use, nobody answers, or
/// ranks are missing after `timeout`, which are named.
Meeting meet(const Rendezvous& rendezvous, std::chrono::milliseconds timeout);

/// Of the interface named in the rendezvous; else 127.0.0.1 where all ranks are on this machine; else the one
/// that reaches MASTER_ADDR. IPv4 or IPv6 as numbers. Throws Error(Unreachable).
std::string interface_address(const Rendezvous& rendezvous);

struct ListeningSocket {
    int fd = -1;  ///< the caller's
    int port = 0;
};

/// For Rendezvous::store_fd, at this address alone and a free port. Throws Error(Unreachable).
ListeningSocket listen_at(const std::string& address);

/// The name of the interface that has this address; empty where none has.
std::string interface_with(const std::string& address);

}  // namespace ringmaster
