/// Lets the ranks find each other: the store that rank 0 serves, and the address that Gloo listens on.
#pragma once

#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "engine/comm/groups.h"
#include "engine/comm/sealed_store.h"

namespace ringmaster {

struct Meeting {
    c10::intrusive_ptr<c10d::Store> store;   ///< store that puts rendezvous.key_prefix before every key
    c10::intrusive_ptr<SealedStore> sealed;  ///< same store without the prefix
};

/// Opens the store and returns after every rank has arrived. Unless torchrun serves the store, rank 0 serves
/// it. If all ranks are on one node, its address is 127.0.0.1. Otherwise the address is MASTER_ADDR if that
/// is numeric or names an address of this machine, else interface_address(). Throws Error(Unreachable) if the
/// port is in use, nobody answers, or ranks are missing after `timeout`; the message names the missing ranks.
Meeting meet(const Rendezvous& rendezvous, std::chrono::milliseconds timeout);

/// Returns the numeric address, IPv4 or IPv6, of the interface that the rendezvous names; else 127.0.0.1 if
/// all ranks are on this machine; else the address of the interface that reaches MASTER_ADDR. Throws
/// Error(Unreachable) if there is no such interface.
std::string interface_address(const Rendezvous& rendezvous);

struct ListeningSocket {
    int fd = -1;  ///< socket that the caller closes
    int port = 0;
};

/// Opens a socket for Rendezvous::store_fd, which listens on this address only, at any free port. Throws
/// Error(Unreachable) if it cannot listen.
ListeningSocket listen_at(const std::string& address);

/// Returns the name of the interface that has this address, or an empty string.
std::string interface_with(const std::string& address);

}  // namespace ringmaster
