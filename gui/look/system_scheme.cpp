#include "gui/look/system_scheme.h"

#include <QDBusConnection>
#include <QDBusInterface>
#include <QDBusReply>
#include <QDBusVariant>
#include <QPalette>
#include <QStyle>
#include <QStyleFactory>
#include <memory>

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

bool desktopHasOwnPalette(const QPalette& palette) {
    const std::unique_ptr<QStyle> fusion(QStyleFactory::create(u"Fusion"_s));
    const QPalette plain = fusion->standardPalette();
    return palette.color(QPalette::Window) != plain.color(QPalette::Window) ||
           palette.color(QPalette::Highlight) != plain.color(QPalette::Highlight);
}

bool systemPrefersDark() {
    if (qEnvironmentVariableIsEmpty("DBUS_SESSION_BUS_ADDRESS")) return false;
    QDBusConnection bus = QDBusConnection::sessionBus();
    if (!bus.isConnected()) return false;
    QDBusInterface settings(u"org.freedesktop.portal.Desktop"_s, u"/org/freedesktop/portal/desktop"_s,
                            u"org.freedesktop.portal.Settings"_s, bus);
    settings.setTimeout(200);  // milliseconds, so that a slow portal does not delay the window
    const QDBusReply<QDBusVariant> scheme =
        settings.call(u"Read"_s, u"org.freedesktop.appearance"_s, u"color-scheme"_s);
    if (!scheme.isValid()) return false;
    QVariant value = scheme.value().variant();
    if (value.canConvert<QDBusVariant>()) value = value.value<QDBusVariant>().variant();
    return value.toUInt() == 1;  // 1: the desktop prefers dark
}

}  // namespace ringmaster
