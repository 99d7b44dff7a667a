#include "gui/monitor/notify.h"

#include <QDBusConnection>
#include <QDBusMessage>
#include <QStringList>
#include <QVariantMap>

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

void notifyDesktop(const QString& title, const QString& text) {
    if (qEnvironmentVariableIsEmpty("DBUS_SESSION_BUS_ADDRESS")) return;
    QDBusConnection bus = QDBusConnection::sessionBus();
    if (!bus.isConnected()) return;
    QDBusMessage call = QDBusMessage::createMethodCall(u"org.freedesktop.Notifications"_s,
                                                       u"/org/freedesktop/Notifications"_s,
                                                       u"org.freedesktop.Notifications"_s, u"Notify"_s);
    constexpr uint kNew = 0;
    constexpr int kAsTheDesktopLikes = -1;
    call << u"Ringmaster"_s << kNew << u"ringmaster"_s << title << text.toHtmlEscaped() << QStringList()
         << QVariantMap() << kAsTheDesktopLikes;
    bus.send(call);
}

}  // namespace ringmaster
