/// Within work of QtConcurrent that waits for a machine or a person: meanwhile the pool has one thread more,
/// so that nobody else waits with it.
#pragma once

#include <QThreadPool>

namespace ringmaster {

class LongWait {
  public:
    LongWait() { QThreadPool::globalInstance()->releaseThread(); }
    ~LongWait() { QThreadPool::globalInstance()->reserveThread(); }
    LongWait(const LongWait&) = delete;
    LongWait& operator=(const LongWait&) = delete;
};

}  // namespace ringmaster
