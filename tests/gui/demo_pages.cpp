#include "tests/gui/demo_pages.h"

#include <QCommandLineParser>
#include <QFile>
#include <QTest>

#include "gui/app/main_window.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

constexpr int kPatienceMs = 30000;
constexpr int kWholeHeight = 2600;
constexpr int kStillMs = 30;

/// Holds a line of pages.txt.
struct Listed {
    QString name, page, folder;
    QStringList arguments;
};

std::vector<Listed> listed(const QString& home) {
    QFile file(QStringLiteral(RINGMASTER_PAGES));
    if (!file.open(QIODevice::ReadOnly)) qFatal("no pages.txt");
    std::vector<Listed> all;
    for (const QString& line : QString::fromUtf8(file.readAll()).split(u'\n', Qt::SkipEmptyParts)) {
        const QStringList parts = line.split(u'|');
        if (line.startsWith(u'#')) continue;
        QString arguments = parts.value(3);
        all.push_back({parts[0], parts[1], parts[2],
                       arguments.replace(u"HOME"_s, home).split(u' ', Qt::SkipEmptyParts)});
    }
    return all;
}

/// Reads the arguments of ringmaster-gui that a line of pages.txt has. Stores the options in `asked` and
/// returns the paths.
QStringList read_arguments(const Listed& page, Request& asked) {
    QCommandLineParser parser;
    parser.addOptions({{u"ranks"_s, {}, u"N"_s},
                       {u"nodes"_s, {}, u"N"_s},
                       {u"device"_s, {}, u"NAME"_s},
                       {u"device-memory"_s, {}, u"GiB"_s}});
    if (!parser.parse(QStringList{u"ringmaster-gui"_s} + page.arguments))
        qFatal("%s", qPrintable(parser.errorText()));
    if (parser.isSet(u"ranks"_s)) asked.ranks = parser.value(u"ranks"_s).toInt();
    if (parser.isSet(u"nodes"_s)) asked.nodes = parser.value(u"nodes"_s).toInt();
    if (parser.isSet(u"device"_s)) asked.device = Device::Cuda;
    if (parser.isSet(u"device-memory"_s))
        asked.device_memory_bytes = int64_t{parser.value(u"device-memory"_s).toInt()} << 30;
    return parser.positionalArguments();
}

/// Waits until no widget moves any more: a text that wraps can change its height several times.
void wait_until_still(const QWidget& window) {
    QList<QRect> before, now;
    do {
        before = now;
        now.clear();
        QTest::qWait(kStillMs);
        for (const QWidget* widget : window.findChildren<QWidget*>())
            if (widget->isVisible()) now << widget->geometry();
    } while (now != before);
}

void show_page(const Listed& listed, const QString& home, QSize size, const Shown& shown) {
    qputenv("XDG_DATA_HOME", home.toLocal8Bit() + '/' + listed.folder.toUtf8());
    Places places = find_places();
    places.programs_dir = RINGMASTER_BIN;
    Session session(places);
    MainWindow window(session);
    window.resize(size);
    Request asked;
    const QStringList paths = read_arguments(listed, asked);
    window.choose(asked);
    window.show();
    if (listed.page == u"runs"_s && !paths.isEmpty()) {
        window.openRuns(paths);
    } else if (listed.page == u"try"_s && !paths.isEmpty()) {
        window.openModel(paths.front());
    } else if (!paths.isEmpty()) {
        window.openPath(paths.front());
    }
    window.showPage(listed.page);
    if (listed.page == u"data"_s && !paths.isEmpty()) window.showRows();
    const Page* page = window.page(listed.page);
    if (!QTest::qWaitFor([&] { return page->settled(); }, kPatienceMs))
        qFatal("%s does not come to rest", qPrintable(listed.name));
    wait_until_still(window);
    shown(window, listed.name);
}

}  // namespace

void show_pages(const QString& home, QSize size, bool whole, const Shown& shown) {
    for (const Listed& one : listed(home)) {
        const bool is_whole = one.name.endsWith(u"-whole"_s);
        if (is_whole && !whole) continue;
        show_page(one, home, is_whole ? QSize(size.width(), kWholeHeight) : size, shown);
    }
}

}  // namespace ringmaster
