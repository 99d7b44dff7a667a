/// Calls an object that lives on the window's thread from another thread.
#pragma once

#include <QCoreApplication>
#include <QPointer>

namespace ringmaster {

/// Calls `what` with the object on the window's thread. Does nothing if the object or the application is gone
/// by then.
template <class Object, class What>
void onGui(const QPointer<Object>& self, What what) {
    QCoreApplication* app = QCoreApplication::instance();
    if (app == nullptr) return;
    QMetaObject::invokeMethod(
        app,
        [self, what] {
            if (self) what(*self);
        },
        Qt::QueuedConnection);
}

}  // namespace ringmaster
