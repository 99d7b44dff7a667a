#include "engine/events/progress.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>

#include "engine/error.h"

namespace ringmaster {

namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr uint64_t kMark = 0x52494e475f504c32;  // identifies this layout of the record

struct PlaceRecord {
    std::atomic<int64_t> step{0};
    std::atomic<int32_t> activity{0}, micro_batch{0}, pass{0}, layer{-1}, hop{-1};

    void store(const Place& place) {
        step.store(place.step, kRelaxed);
        activity.store(static_cast<int32_t>(place.activity), kRelaxed);
        micro_batch.store(place.micro_batch, kRelaxed);
        pass.store(static_cast<int32_t>(place.pass), kRelaxed);
        layer.store(place.layer, kRelaxed);
        hop.store(place.hop, kRelaxed);
    }

    Place load() const {
        Place place;
        place.step = step.load(kRelaxed);
        place.activity = static_cast<Activity>(activity.load(kRelaxed));
        place.micro_batch = micro_batch.load(kRelaxed);
        place.pass = static_cast<Pass>(pass.load(kRelaxed));
        place.layer = layer.load(kRelaxed);
        place.hop = hop.load(kRelaxed);
        return place;
    }
};

template <size_t size>
void put(char (&text)[size], const std::string& value) {
    const size_t length = std::min(value.size(), size - 1);
    std::memcpy(text, value.data(), length);
    text[length] = '\0';
}

template <size_t size>
std::string taken(const char (&text)[size]) {
    return {text, ::strnlen(text, size)};
}

}  // namespace

struct alignas(64) ProgressRecord {
    uint64_t mark = kMark;
    PlaceRecord place;
    std::atomic<int32_t> hops{0};
    std::atomic<int32_t> waits{0};
    PlaceRecord awaited_place;  // written before `waits`, as are the fields below
    std::atomic<int64_t> sequence{0};
    std::atomic<int32_t> role{0}, rank_or_count{0};
    char what[96] = {};
    char group[16] = {};
};

namespace {

static_assert(std::atomic<int64_t>::is_always_lock_free && std::atomic<int32_t>::is_always_lock_free);

std::string number(int64_t value) {
    return std::to_string(value);
}

/// Returns the part of a text such as " in layer 12, hop 5" or " after layer 0".
ReasonPart where(const Place& place) {
    if (place.layer < 0) return {"before-layers"};
    const bool outside = place.pass == Pass::Outside;
    if (place.hop < 0) return {outside ? "after-layer" : "in-layer", {number(place.layer)}};
    return {outside ? "after-hop" : "in-hop", {number(place.layer), number(place.hop)}};
}

/// Returns the part of a text such as " (backward of step 7, micro-batch 1".
ReasonPart when(const Place& place) {
    const bool outside = place.pass == Pass::Outside;
    switch (place.activity) {
        case Activity::Starting:
            return {"while-starting"};
        case Activity::Preflight:
            return {"in-preflight"};
        case Activity::Evaluating:
            return {outside ? "at-evaluation" : "in-evaluation", {number(place.step)}};
        case Activity::Saving:
            return {"while-saving", {number(place.step)}};
        case Activity::Training:
            break;
    }
    if (outside) return {"at-step", {number(place.step)}};
    return {place.pass == Pass::Forward ? "in-forward" : "in-backward",
            {number(place.step), number(place.micro_batch)}};
}

/// Returns the part of a text such as ", for rank 2 to send keys and values".
ReasonPart whom(const Partner& partner, const std::string& group) {
    switch (partner.role) {
        case Partner::Role::Sender:
            return {"for-sender", {number(partner.rank_or_count), partner.what}};
        case Partner::Role::Receiver:
            return {"for-receiver", {number(partner.rank_or_count), partner.what}};
        case Partner::Role::All:
            break;
    }
    return {"for-all", {partner.what, number(partner.rank_or_count), group}};
}

}  // namespace

Reason as_reason(const Awaited& awaited) {
    return {{"waits"},
            where(awaited.place),
            whom(awaited.partner, awaited.group),
            when(awaited.place),
            {"in-transfer", {number(awaited.sequence), awaited.group}}};
}

Reason as_reason(const Whereabouts& whereabouts) {
    if (whereabouts.waits) return as_reason(whereabouts.awaited);
    return {{"is-at-work"}, where(whereabouts.place), when(whereabouts.place), {"end-of-place"}};
}

// --- RankProgress

RankProgress::RankProgress() : record_(new ProgressRecord) {}

RankProgress::RankProgress(int table, int slot) {
    const size_t end = (static_cast<size_t>(slot) + 1) * sizeof(ProgressRecord);
    struct stat status {};
    const bool is_there = slot >= 0 && ::fstat(table, &status) == 0 && status.st_size > 0 &&
                          static_cast<size_t>(status.st_size) >= end;
    void* memory = is_there ? ::mmap(nullptr, end, PROT_READ | PROT_WRITE, MAP_SHARED, table, 0) : MAP_FAILED;
    auto* records = static_cast<ProgressRecord*>(memory);
    if (memory == MAP_FAILED || records[slot].mark != kMark) {
        if (memory != MAP_FAILED) ::munmap(memory, end);
        throw Error(Failure::Usage, Code("PROGRAM-START"), "is not the table that this engine's agent makes",
                    "RINGMASTER_PROGRESS_FD", "agent and engine must be of the same version");
    }
    memory_ = memory;
    bytes_ = end;
    record_ = records + slot;
}

RankProgress::~RankProgress() {
    if (memory_ != nullptr) {
        ::munmap(memory_, bytes_);
    } else {
        delete record_;
    }
}

void RankProgress::set_hops(bool keys_travel) {
    record_->hops.store(keys_travel ? 1 : 0, kRelaxed);
}

void RankProgress::begin(Activity activity, int64_t step) {
    record_->place.activity.store(static_cast<int32_t>(activity), kRelaxed);
    record_->place.step.store(step, kRelaxed);
}

void RankProgress::begin_micro_batch(int number) {
    record_->place.micro_batch.store(number, kRelaxed);
}

void RankProgress::enter_layer(Pass pass, int layer) {
    record_->place.hop.store(record_->hops.load(kRelaxed) != 0 ? 0 : -1, kRelaxed);
    record_->place.layer.store(layer, kRelaxed);
    record_->place.pass.store(static_cast<int32_t>(pass), kRelaxed);
}

void RankProgress::enter_hop(int hop) {
    record_->place.hop.store(hop, kRelaxed);
}

void RankProgress::leave_layers() {
    record_->place.pass.store(static_cast<int32_t>(Pass::Outside), kRelaxed);
}

Place RankProgress::place() const {
    return record_->place.load();
}

void RankProgress::wait_for(const Awaited& awaited) {
    record_->awaited_place.store(awaited.place);
    record_->sequence.store(awaited.sequence, kRelaxed);
    record_->role.store(static_cast<int32_t>(awaited.partner.role), kRelaxed);
    record_->rank_or_count.store(awaited.partner.rank_or_count, kRelaxed);
    put(record_->what, awaited.partner.what);
    put(record_->group, awaited.group);
    record_->waits.store(1, std::memory_order_release);
}

void RankProgress::wait_is_over() {
    record_->waits.store(0, kRelaxed);
}

// --- ProgressTable

ProgressTable::ProgressTable(int ranks)
    : descriptor_(::memfd_create("ringmaster-progress", MFD_CLOEXEC)),
      bytes_(static_cast<size_t>(ranks) * sizeof(ProgressRecord)) {
    if (descriptor_ >= 0 && ::ftruncate(descriptor_, static_cast<off_t>(bytes_)) == 0)
        memory_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
    if (memory_ == nullptr || memory_ == MAP_FAILED) {
        const std::string problem = std::strerror(errno);
        if (descriptor_ >= 0) ::close(descriptor_);
        throw Error(Failure::Unreachable, Code("PROGRAM-START"),
                    "no memory to share with the ranks: " + problem);
    }
    for (int slot = 0; slot < ranks; ++slot)
        new (static_cast<ProgressRecord*>(memory_) + slot) ProgressRecord;
}

ProgressTable::~ProgressTable() {
    ::munmap(memory_, bytes_);
    ::close(descriptor_);
}

Whereabouts ProgressTable::of(int slot) const {
    const ProgressRecord& record = static_cast<const ProgressRecord*>(memory_)[slot];
    Whereabouts found;
    found.place = record.place.load();
    found.waits = record.waits.load(std::memory_order_acquire) != 0;
    if (!found.waits) return found;
    const auto role = static_cast<Partner::Role>(record.role.load(kRelaxed));
    found.awaited = {record.awaited_place.load(),
                     {role, record.rank_or_count.load(kRelaxed), taken(record.what)},
                     taken(record.group),
                     record.sequence.load(kRelaxed)};
    return found;
}

}  // namespace ringmaster
