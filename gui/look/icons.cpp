#include "gui/look/icons.h"

#include <QApplication>
#include <QFile>
#include <QPainter>
#include <QPalette>
#include <QPixmap>
#include <QSvgRenderer>

#include "gui/look/look.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

QPixmap drawn(QByteArray svg, const QColor& colour) {
    svg.replace("currentColor", colour.name().toLatin1());
    QSvgRenderer renderer(svg);
    QPixmap pixmap(QSize(64, 64));
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    renderer.render(&painter);
    return pixmap;
}

}  // namespace

QIcon icon(const QString& name, const QColor& colour) {
    QFile file(u":/icons/%1.svg"_s.arg(name));
    if (!file.open(QIODevice::ReadOnly)) return {};
    const QByteArray svg = file.readAll();
    const Colours c = coloursOf(QApplication::palette());
    QIcon made(drawn(svg, colour));
    made.addPixmap(drawn(svg, c.faint), QIcon::Disabled);
    made.addPixmap(drawn(svg, mixed(c.accent, c.text, c.dark ? 0.25 : 0.1)), QIcon::Normal, QIcon::On);
    return made;
}

QIcon icon(const QString& name) {
    return icon(name, coloursOf(QApplication::palette()).muted);
}

}  // namespace ringmaster
