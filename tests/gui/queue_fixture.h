/// Opens the Queue page over a queue in a folder of its own, for the page's tests.
#pragma once

#include <QPushButton>
#include <QSettings>
#include <QTest>

#include "gui/look/look.h"
#include "gui/queue/queue_page.h"
#include "gui/queue/queue_table.h"
#include "tests/gui/test_runs.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

constexpr int kPatienceMs = 30000;

inline const char* const kConfig =
    "base_model: model\nreinit_weights: true\ndatasets:\n  - path: rows.jsonl\n    ds_type: json\n    type: "
    "''\nsequence_len: 64\nmicro_batch_size: 1\ngradient_accumulation_steps: 1\nmax_steps: 4\n"
    "optimizer: adamw_torch\nlearning_rate: 0.001\noutput_dir: out\n";

inline const char* const kModel =
    R"({"architectures":["LlamaForCausalLM"],"model_type":"llama","hidden_size":64,"intermediate_size":112,)"
    R"("num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,"vocab_size":256,)"
    R"("max_position_embeddings":512,"rms_norm_eps":1e-6,"rope_theta":10000.0,"tie_word_embeddings":false,"hidden_act":"silu"})";

class QueueFixture {
  protected:
    void open() {
        QCoreApplication::setOrganizationName(u"ringmaster-test"_s);
        applyAppearance(Appearance::Light);
        m_home = std::make_unique<TestHome>();
        QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, m_home->dir.path());
        m_home->places.programs_dir = RINGMASTER_BIN;
        // The process that starts queued runs reads another folder, which is empty, so it starts none.
        qputenv("XDG_DATA_HOME", m_home->dir.filePath(u"empty"_s).toLocal8Bit());
        m_session = std::make_unique<Session>(m_home->places);
        m_page = std::make_unique<QueuePage>(*m_session);
        m_page->resize(900, 600);
    }
    void close() {
        m_page.reset();
        m_session.reset();
    }

    /// Writes a configuration with its model and rows, and returns its path.
    QString writeTiny() const {
        const std::string at = m_home->dir.path().toStdString();
        write_text(at + "/model/config.json", kModel);
        write_text(at + "/tiny.yaml", kConfig);
        std::string rows;
        for (int row = 0; row < 12; ++row)
            rows += R"({"input_ids":[1,5,9,7],"labels":[-100,5,9,7]})"
                    "\n";
        write_text(at + "/rows.jsonl", rows);
        return QString::fromStdString(at + "/tiny.yaml");
    }

    QString path(const char* name) const { return m_home->path(QString::fromLatin1(name)); }

    std::filesystem::path folder() const { return queue_folder(m_home->places); }

    void enqueue(const std::string& name) const {
        change_queue(folder(), [&](Queue& queue) {
            queue.runs.push_back({{m_home->places.runs_dir / name}, 0, {}});
        });
    }

    void queue(const std::vector<std::string>& names) const {
        for (const std::string& name : names) {
            TestRun run{name};
            run.phase = RunPhase::Queued;
            run.steps = 0;
            m_home->add(run);
            enqueue(name);
        }
    }

    void show() {
        m_page->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_page.get()));
        QTRY_VERIFY_WITH_TIMEOUT(m_page->settled(), kPatienceMs);
    }

    QStringList names() const {
        QStringList found;
        for (const QueuedRun& one : read_queue(folder()).runs)
            found << QString::fromStdString(one.run.name());
        return found;
    }

    QStringList shownNames() {
        QStringList found;
        for (int row = 0; row < table()->rowCount(); ++row)
            found << table()->item(row, QueueTable::Name)->text();
        return found;
    }

    QueueTable* table() { return m_page->findChild<QueueTable*>(u"queueTable"_s); }

    QPushButton* button(const char* name) {
        auto* found = m_page->findChild<QPushButton*>(QString::fromLatin1(name));
        if (!found) qFatal("there is no button %s", name);
        return found;
    }

    std::unique_ptr<TestHome> m_home;
    std::unique_ptr<Session> m_session;
    std::unique_ptr<QueuePage> m_page;
};

}  // namespace ringmaster
