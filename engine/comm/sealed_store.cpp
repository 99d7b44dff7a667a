#include "engine/comm/sealed_store.h"

#include "engine/auth/sealed.h"
#include "engine/error.h"

namespace ringmaster {

c10d::Store& SealedStore::beneath() const {
    if (!store_)
        throw Error(Failure::Refused, Code("RANKS-MEETING"), "the ranks' store is closed: they have met");
    return *store_;
}

c10::intrusive_ptr<c10d::Store> SealedStore::clone() {
    return c10::make_intrusive<SealedStore>(beneath().clone(), key_);
}

void SealedStore::set(const std::string& key, const std::vector<uint8_t>& value) {
    const std::string hidden = sealed(key_, key, {reinterpret_cast<const char*>(value.data()), value.size()});
    beneath().set(key, std::vector<uint8_t>(hidden.begin(), hidden.end()));
}

std::vector<uint8_t> SealedStore::get(const std::string& key) {
    const std::vector<uint8_t> value = beneath().get(key);
    const auto text = opened(key_, key, {reinterpret_cast<const char*>(value.data()), value.size()});
    if (!text) {
        throw Error(Failure::Refused, Code("RANKS-MEETING"),
                    "no rank of this run wrote what the ranks' store holds as " + key +
                        ": another program reached the store's port, or the ranks hold different tokens",
                    {},
                    "every node needs the same DIR/token; keep strangers off the network between the nodes");
    }
    return {text->begin(), text->end()};
}

void SealedStore::setTimeout(const std::chrono::milliseconds& timeout) {
    Store::setTimeout(timeout);
    beneath().setTimeout(timeout);
}

}  // namespace ringmaster
