// Implements `draw_all TO APPEARANCE LANGUAGE WIDTHxHEIGHT HOME`: draws the pages of pages.txt and the
// dialogs, boxes and menus of the app as TO-NAME.png. HOME is the folder of write_demo_runs.
#include <QApplication>
#include <QTest>
#include <cstdio>

#include "gui/app/languages.h"
#include "gui/look/look.h"
#include "tests/gui/demo_dialogs.h"
#include "tests/gui/demo_pages.h"

using namespace ringmaster;
using namespace Qt::Literals::StringLiterals;

int main(int argc, char** argv) {
    if (argc != 6) return 2;
    QApplication app(argc, argv);
    QApplication::setApplicationName(u"ringmaster"_s);
    QApplication::setOrganizationName(u"ringmaster"_s);
    const QStringList given = QApplication::arguments(), size = given[4].split(u'x');
    use_language(given[3]);
    applyAppearance(given[2] == u"dark"_s ? Appearance::Dark : Appearance::Light);
    const Shown keep = [&](QWidget& window, const QString& name) {
        window.show();
        QTest::qWait(50);
        const QString file = given[1] + u'-' + name + u".png"_s;
        if (!window.grab().save(file)) qFatal("%s cannot be written", qPrintable(file));
        std::printf("%s\n", qPrintable(file));
        std::fflush(stdout);
    };
    show_pages(given[5], {size.value(0).toInt(), size.value(1).toInt()}, true, keep);
    qputenv("XDG_DATA_HOME", given[5].toLocal8Bit() + "/data");
    show_dialogs(given[5], keep);
}
