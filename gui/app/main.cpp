// Starts the desktop app: ringmaster-gui [FILE|RUN], or a picture of a page with --page and --grab.
#include <QApplication>
#include <QCommandLineParser>
#include <QFileInfo>
#include <cstdio>
#include <functional>
#include <memory>

#include "engine/events/event_log.h"
#include "gui/app/grab.h"
#include "gui/app/languages.h"
#include "gui/app/main_window.h"
#include "gui/look/look.h"
#include "launcher/base/places.h"
#include "launcher/queue/queue_runner.h"

namespace {

using namespace Qt::Literals::StringLiterals;
using namespace ringmaster;

const QString kPages = QStringLiteral("start, plan, data, nodes, monitor, runs, queue, try or help");

bool has_argument(int argc, char** argv, std::string_view wanted) {
    for (int index = 1; index < argc; ++index)
        if (std::string_view(argv[index]).starts_with(wanted)) return true;
    return false;
}

/// Picks Qt's platform and returns 0. Without a display, Qt would abort; in that case prints a message and
/// returns 3, the program's exit status.
int choose_platform(int argc, char** argv) {
    if (!qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) return 0;
    if (has_argument(argc, argv, "--grab") || has_argument(argc, argv, "--version") ||
        has_argument(argc, argv, "--help")) {
        qputenv("QT_QPA_PLATFORM", "offscreen");
        return 0;
    }
    if (!qEnvironmentVariableIsEmpty("DISPLAY") || !qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY")) return 0;
    std::fputs(
        "ringmaster-gui: there is no display here (DISPLAY and WAYLAND_DISPLAY are empty)\n"
        "  `ringmaster plan` and `ringmaster launch` do the same in a terminal\n",
        stderr);
    return 3;
}

struct Options {
    QStringList paths;
    QString page, grab, language;
    QSize size;
    std::optional<int> appearance;
    bool time_start = false;
    Request asked;  ///< ranks, nodes and device for the Plan page
};

/// Prints how many seconds the first picture of the window took, then ends the app.
class FirstPaint : public QObject {
  public:
    explicit FirstPaint(double started) : m_started(started) {}

  protected:
    bool eventFilter(QObject*, QEvent* event) override {
        if (event->type() == QEvent::Paint && !m_painted) {
            m_painted = true;  // the rest of the window is painted in the same event
            QMetaObject::invokeMethod(
                qApp, [this] { tell(); }, Qt::QueuedConnection);
        }
        return false;
    }

  private:
    void tell() const {
        std::printf("%.3f\n", unix_now() - m_started);
        std::fflush(stdout);
        QCoreApplication::exit();
    }

    bool m_painted = false;
    double m_started;
};

[[noreturn]] void refuse(const QString& why) {
    std::fprintf(stderr, "ringmaster-gui: %s\n", qUtf8Printable(why));
    std::exit(2);
}

QSize size_of(const QString& text) {
    const QStringList parts = text.split(u'x');
    const QSize size(parts.value(0).toInt(), parts.value(1).toInt());
    if (parts.size() != 2 || size.width() < 200 || size.height() < 200 || size.width() > 10000 ||
        size.height() > 10000)
        refuse(u"--size wants WIDTHxHEIGHT, for instance 1280x800, not '%1'"_s.arg(text));
    return size;
}

int whole_of(const QCommandLineParser& parser, const QString& option, int least) {
    bool good = false;
    const int value = parser.value(option).toInt(&good);
    if (!good || value < least) refuse(u"--%1 wants a whole number from %2 on"_s.arg(option).arg(least));
    return value;
}

/// Returns the plan's options from the command line.
Request asked_of(const QCommandLineParser& parser) {
    Request asked;
    if (parser.isSet(u"ranks"_s)) asked.ranks = whole_of(parser, u"ranks"_s, 1);
    if (parser.isSet(u"nodes"_s)) asked.nodes = whole_of(parser, u"nodes"_s, 1);
    if (parser.isSet(u"device-memory"_s))
        asked.device_memory_bytes = int64_t{whole_of(parser, u"device-memory"_s, 1)} << 30;
    const QString device = parser.value(u"device"_s);
    if (!device.isEmpty() && device != u"cpu" && device != u"cuda") refuse(u"--device is cpu or cuda"_s);
    if (!device.isEmpty()) asked.device = device == u"cuda" ? Device::Cuda : Device::Cpu;
    return asked;
}

Options options_of(const QApplication& app) {
    QCommandLineParser parser;
    parser.setApplicationDescription(
        u"Plans, launches and watches training runs on sequences too long for one GPU."_s);
    parser.addHelpOption();
    parser.addVersionOption();
    parser.addPositionalArgument(
        u"FILE|RUN"_s, u"a configuration, a run directory or a run's name; several runs with --page runs"_s,
        u"[FILE|RUN]…"_s);
    parser.addOptions({{u"page"_s, u"open this page: "_s + kPages, u"NAME"_s},
                       {u"grab"_s, u"save a picture of the page and end; needs no display"_s, u"FILE.png"_s},
                       {u"size"_s, u"size of the window, for --grab"_s, u"WIDTHxHEIGHT"_s, u"1280x800"_s},
                       {u"appearance"_s, u"colours: system, light or dark"_s, u"NAME"_s},
                       {u"language"_s, u"language: en, de, ja or zh_CN"_s, u"CODE"_s},
                       {u"ranks"_s, u"plan for N ranks"_s, u"N"_s},
                       {u"nodes"_s, u"plan for N nodes"_s, u"N"_s},
                       {u"device"_s, u"plan for this device: cpu or cuda"_s, u"NAME"_s},
                       {u"device-memory"_s, u"memory of each device"_s, u"GiB"_s},
                       {u"time-start"_s, u"print the seconds until the first window is painted, and end"_s}});
    parser.process(app);
    Options options;
    options.paths = parser.positionalArguments();
    options.page = parser.value(u"page"_s);
    if (options.paths.size() > 1 && options.page != u"runs"_s)
        refuse(u"one FILE or RUN at a time; several runs are compared with --page runs"_s);
    options.time_start = parser.isSet(u"time-start"_s);
    options.grab = parser.value(u"grab"_s);
    options.size = size_of(parser.value(u"size"_s));
    options.language = parser.value(u"language"_s);
    options.asked = asked_of(parser);
    if (parser.isSet(u"appearance"_s)) {
        const int which =
            int(QStringList{u"system"_s, u"light"_s, u"dark"_s}.indexOf(parser.value(u"appearance"_s)));
        if (which < 0) refuse(u"--appearance is system, light or dark"_s);
        options.appearance = which;
    }
    return options;
}

std::unique_ptr<MainWindow> open_window(Session& session, const Options& options, bool again) {
    auto window = std::make_unique<MainWindow>(session);
    if (!options.page.isEmpty() && !window->hasPage(options.page))
        refuse(u"there is no page '%1': "_s.arg(options.page) + kPages);
    if (!again) window->choose(options.asked);
    if (!options.grab.isEmpty() && !again) {
        window->resize(options.size);
    } else if (again || options.paths.isEmpty()) {
        window->restore();
    } else {
        window->restoreSize();
    }
    const bool tries = options.page == u"try"_s;
    if (!again && options.paths.size() == 1 && tries) window->openModel(options.paths.first());
    if (!again && options.paths.size() == 1 && !tries && options.page != u"runs"_s)
        window->openPath(options.paths.first());
    if (!again && options.page == u"runs"_s && !options.paths.isEmpty()) window->openRuns(options.paths);
    if (!again && !options.page.isEmpty()) window->showPage(options.page);
    if (!again && options.page == u"data"_s && !options.paths.isEmpty()) window->showRows();
    return window;
}

}  // namespace

int main(int argc, char** argv) {
    const double started = unix_now();
    if (const int status = choose_platform(argc, argv)) return status;
    QApplication app(argc, argv);
    QApplication::setApplicationName(u"ringmaster"_s);
    QApplication::setOrganizationName(u"ringmaster"_s);
    QApplication::setApplicationDisplayName(u"Ringmaster"_s);
    QApplication::setApplicationVersion(QStringLiteral(RINGMASTER_VERSION));
    QApplication::setDesktopFileName(QStringLiteral(RINGMASTER_DESKTOP_ID));
    const Options options = options_of(app);
    Session session(find_places());
    QSettings& settings = session.settings();
    use_language(options.language.isEmpty() ? settings.value(u"language"_s).toString() : options.language);
    const auto apply_look = [&] {
        applyAppearance(Appearance(options.appearance.value_or(settings.value(u"appearance"_s, 0).toInt())));
    };
    apply_look();
    std::unique_ptr<MainWindow> window = open_window(session, options, false);
    if (options.grab.isEmpty()) wake_queue(session.places());
    if (!options.grab.isEmpty()) return grab_page(*window, options.page, options.grab, options.size) ? 0 : 1;

    // Replaces the window with one in the new language, because every text changes. The new window restores
    // the session.
    std::function<void(const QString&)> change_language = [&](const QString& code) {
        settings.setValue(u"language"_s, code);
        QMetaObject::invokeMethod(
            &app,
            [&] {
                window->saveState();
                use_language(settings.value(u"language"_s).toString());
                apply_look();  // a line's height depends on the language
                std::unique_ptr<MainWindow> next = open_window(session, options, true);
                QObject::connect(next.get(), &MainWindow::languageChosen, &app, change_language);
                next->show();
                window.swap(next);
            },
            Qt::QueuedConnection);
    };
    QObject::connect(window.get(), &MainWindow::languageChosen, &app, change_language);
    FirstPaint first_paint(started);
    if (options.time_start) app.installEventFilter(&first_paint);
    window->show();
    return QApplication::exec();
}
