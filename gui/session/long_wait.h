/// Gives QtConcurrent's pool one more thread while work in it waits for a machine or a user, so that other
/// work does not wait too.
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
