// Implements `follow_bench RUN SECONDS`: runs the app without a screen on a run that continues elsewhere, and
// scrolls its Monitor from end to end. Prints a line of JSON: the longest time between two beats of a timer
// in the event loop, the process's processor time, and its peak memory.
#include <QApplication>
#include <QElapsedTimer>
#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QScrollArea>
#include <QScrollBar>
#include <QTest>
#include <QTimer>
#include <cmath>

#include "gui/app/main_window.h"
#include "gui/monitor/monitor_page.h"
#include "tests/gui/bench.h"

using namespace ringmaster;
using namespace Qt::Literals::StringLiterals;

namespace {

constexpr int kBeat_ms = 5;
constexpr int kLongest_s = 60;  ///< maximum time until the run is on the screen

/// Measures how late a timer of the event loop fires.
class StallMeter : public QObject {
  public:
    StallMeter() {
        m_timer.setTimerType(Qt::PreciseTimer);
        connect(&m_timer, &QTimer::timeout, this, &StallMeter::beat);
        m_clock.start();
        m_thread_s = processor_s();
        m_timer.start(kBeat_ms);
    }

    double worst_ms() const { return m_worst_ms; }
    double worst_own_ms() const { return m_worst_own_ms; }
    int above_50_ms() const { return m_above_50_ms; }

  private:
    void beat() {
        const double gap = double(m_clock.nsecsElapsed()) * 1e-6 - kBeat_ms;
        const double thread = processor_s();
        m_worst_ms = std::max(m_worst_ms, gap);
        m_worst_own_ms = std::max(m_worst_own_ms, (thread - m_thread_s) * 1e3);
        m_above_50_ms += gap > 50 ? 1 : 0;
        m_thread_s = thread;
        m_clock.start();
    }

    QTimer m_timer;
    QElapsedTimer m_clock;
    double m_thread_s = 0, m_worst_ms = 0, m_worst_own_ms = 0;
    int m_above_50_ms = 0;
};

/// Returns the peak resident memory in MB. getrusage() is not used, because its peak includes the process
/// before exec.
double most_resident_mb() {
    QFile status(u"/proc/self/status"_s);
    if (!status.open(QIODevice::ReadOnly)) return 0;
    const QByteArray text = status.readAll();
    return text.mid(text.indexOf("VmHWM:") + 6).simplified().split(' ').value(0).toDouble() * 1024e-6;
}

/// Scrolls from top to bottom and back, so that every chart is drawn in turn.
void scroll(MonitorPage& page, double seconds) {
    for (QScrollArea* area : page.findChildren<QScrollArea*>()) {
        QScrollBar* bar = area->verticalScrollBar();
        const double turn = std::fmod(seconds / 8, 2.0);
        bar->setValue(int(bar->maximum() * (turn < 1 ? turn : 2 - turn)));
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    QApplication app(argc, argv);
    applyAppearance(Appearance::Light);
    Places places = find_places();
    places.programs_dir = RINGMASTER_BIN;
    Session session(places);
    MainWindow window(session);
    window.resize(1400, 900);
    window.show();
    QTest::qWait(500);

    StallMeter opening;
    window.openPath(QString::fromLocal8Bit(argv[1]));
    auto* page = qobject_cast<MonitorPage*>(window.page(u"monitor"_s));
    QElapsedTimer clock;
    clock.start();
    while ((page->picture() == nullptr || !page->picture()->step) && clock.elapsed() < kLongest_s * 1000)
        QTest::qWait(50);
    if (page->picture() == nullptr || !page->picture()->step) return 1;
    const int64_t first_step = *page->picture()->step;
    const double opening_ms = opening.worst_ms();

    StallMeter following;
    const double cpu_s = processor_s(CLOCK_PROCESS_CPUTIME_ID);
    clock.start();
    const double wanted_s = QByteArray(argv[2]).toDouble();
    while (double(clock.elapsed()) * 1e-3 < wanted_s) {
        QTest::qWait(40);
        scroll(*page, double(clock.elapsed()) * 1e-3);
    }
    const double wall_s = double(clock.nsecsElapsed()) * 1e-9;
    const QJsonObject said{{u"ranks"_s, int(page->picture()->ranks.size())},
                           {u"steps"_s, double(*page->picture()->step - first_step)},
                           {u"cores"_s, (processor_s(CLOCK_PROCESS_CPUTIME_ID) - cpu_s) / wall_s},
                           {u"memory_mb"_s, most_resident_mb()},
                           {u"opening_stall_ms"_s, opening_ms},
                           {u"opening_own_ms"_s, opening.worst_own_ms()},
                           {u"stall_ms"_s, following.worst_ms()},
                           {u"own_ms"_s, following.worst_own_ms()},
                           {u"stalls_above_50_ms"_s, following.above_50_ms()}};
    std::printf("%s\n", QJsonDocument(said).toJson(QJsonDocument::Compact).constData());
    return 0;
}
