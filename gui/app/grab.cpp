#include "gui/app/grab.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QPixmap>
#include <QThread>
#include <cstdio>

#include "gui/app/main_window.h"

namespace ringmaster {

namespace {

constexpr int kPatienceMs = 20000;
/// The page counts as settled after Page::settled() has returned true for this long, so that late layouts are
/// done.
constexpr int kQuietMs = 350;

bool wait_until_settled(const Page& page) {
    QElapsedTimer all, quiet;
    all.start();
    quiet.start();
    while (all.elapsed() < kPatienceMs) {
        const bool settled_before = page.settled();
        QApplication::processEvents(QEventLoop::AllEvents, 20);
        if (!settled_before || !page.settled()) quiet.restart();
        if (quiet.elapsed() > kQuietMs) return true;
        QThread::msleep(5);
    }
    return false;
}

}  // namespace

bool grab_page(MainWindow& window, const QString& page, const QString& file, QSize size) {
    window.resize(size);
    window.show();
    if (!page.isEmpty()) window.showPage(page);
    if (!wait_until_settled(*window.page(window.pageName()))) {
        std::fprintf(stderr, "ringmaster-gui: the page was not ready after %d s\n", kPatienceMs / 1000);
        return false;
    }
    if (window.grab().save(file, "PNG")) return true;
    std::fprintf(stderr, "ringmaster-gui: %s cannot be written\n", qUtf8Printable(file));
    return false;
}

}  // namespace ringmaster
