/// Seals the values of a store (auth/sealed.h), because c10d's store answers everybody who reaches its port.
/// A stranger can delete and add keys, which at worst ends the run, but cannot read a value or
/// forge one.
#pragma once

#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

namespace ringmaster {

class SealedStore : public c10d::Store {
  public:
    /// Takes a `key` that is equal on all ranks and known to nobody else.
    SealedStore(c10::intrusive_ptr<c10d::Store> store, std::string key)
        : store_(std::move(store)), key_(std::move(key)) {}

    /// Releases the wrapped store, so that its server stops listening. Later calls throw Error(Refused).
    void close() { store_.reset(); }

    c10::intrusive_ptr<c10d::Store> clone() override;
    using c10d::Store::set;
    void set(const std::string& key, const std::vector<uint8_t>& value) override;
    /// Returns a value. Throws Error(Refused) if no rank of this run wrote it.
    std::vector<uint8_t> get(const std::string& key) override;
    int64_t add(const std::string& key, int64_t value) override { return beneath().add(key, value); }
    bool deleteKey(const std::string& key) override { return beneath().deleteKey(key); }
    bool check(const std::vector<std::string>& keys) override { return beneath().check(keys); }
    int64_t getNumKeys() override { return beneath().getNumKeys(); }
    void wait(const std::vector<std::string>& keys) override { beneath().wait(keys); }
    void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) override {
        beneath().wait(keys, timeout);
    }
    void setTimeout(const std::chrono::milliseconds& timeout) override;

  private:
    c10d::Store& beneath() const;

    c10::intrusive_ptr<c10d::Store> store_;
    std::string key_;
};

}  // namespace ringmaster
