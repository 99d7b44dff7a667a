/// Holds the Monitor page that a test uses, and writes the runs that it shows.
#pragma once

#include <QSettings>
#include <QTemporaryDir>
#include <QTest>
#include <nlohmann/json.hpp>

#include "gui/monitor/monitor_page.h"
#include "tests/gui/synthetic_run.h"

namespace ringmaster {

class MonitorPageTest : public QObject {
  protected:
    static constexpr int kPatience_ms = 20000;

    static QString plain(QString text) {
        return text.replace(QChar(0x202f), QChar(u' ')).replace(QChar::Nbsp, QChar(u' '));
    }

    void makeHome() {
        QVERIFY(m_home.isValid());
        QCoreApplication::setOrganizationName(QStringLiteral("ringmaster-test"));
        QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, m_home.path());
        qputenv("XDG_CONFIG_HOME", m_home.path().toLocal8Bit());
        applyAppearance(Appearance::Dark);
        m_places = find_places();
        m_places.runs_dir = std::filesystem::path(m_home.path().toStdString()) / "runs";
    }

    void makePage() {
        m_session = std::make_unique<Session>(m_places);
        m_page = std::make_unique<MonitorPage>(*m_session);
        m_page->resize(1200, 900);
        m_page->show();
    }
    void removePage() {
        m_page.reset();
        m_session.reset();
    }

    std::filesystem::path at(const std::string& name) { return m_places.runs_dir / name; }

    static SyntheticRun written(const SyntheticRun& run) {
        write_synthetic_run(run);
        return run;
    }

    SyntheticRun disconnected() {
        SyntheticRun run{at("elsewhere"), 4, 200};
        run.writer_host = "node-far";
        run.began = unix_now() - 100 - 5 * 60 - 5;
        write_synthetic_run(run);
        RunState state = read_run_state(run.dir);
        state.updated = unix_now() - 305;
        write_run_state(run.dir, state);
        return run;
    }

    static void write_sample(const SyntheticRun& run, int64_t step, const std::string& text, int prompt = 0) {
        const nlohmann::json line = {
            {"step", step}, {"prompt", prompt}, {"asked", "Once "}, {"text", text}, {"stopped", true}};
        std::ofstream(run.dir / kSamplesFile, std::ios::app) << line << std::endl;
    }

    static void append(const SyntheticRun& run, int64_t from, int64_t to) {
        for (int rank = 0; rank < run.ranks; ++rank) {
            EventWriter events(run.dir / "events", rank);
            for (int64_t step = from; step <= to; ++step) events.write(synthetic_step(run, rank, step));
        }
    }

    void open(const SyntheticRun& run) {
        m_page->openRun(QString::fromStdString(run.dir.string()));
        QTRY_VERIFY_WITH_TIMEOUT(m_page->settled(), kPatience_ms);
    }

    QString subtitle() const {
        return m_page->findChild<PageHeader*>(QStringLiteral("runHeader"))
            ->findChildren<ElidedLabel*>()
            .back()
            ->fullText();
    }

    QString figure(const QString& caption) {
        for (Figure* one : m_page->findChildren<Figure*>()) {
            if (one->accessibleName().startsWith(caption)) return plain(one->accessibleDescription());
        }
        return {};
    }

    QTemporaryDir m_home;
    Places m_places;
    std::unique_ptr<Session> m_session;
    std::unique_ptr<MonitorPage> m_page;
};

}  // namespace ringmaster
