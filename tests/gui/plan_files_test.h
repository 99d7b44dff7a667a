/// Tests what the Plan page does with files: it opens and saves them, keeps drafts of them, and refuses those
/// that it cannot edit. plan_test.cpp adds the cases about the plan.
#pragma once

#include <signal.h>

#include <QAbstractButton>
#include <QDir>
#include <QMessageBox>
#include <QProcess>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTimer>

#include "engine/config/document.h"
#include "gui/look/look.h"
#include "tests/gui/plan_page_test.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

inline const QString kText =
    u"# long documents, eight GPUs\n"
    "base_model: meta-llama/Llama-3.2-1B   # known here\n"
    "\n"
    "datasets:\n"
    "  - path: someone/longdocs\n"
    "    type: completion\n"
    "\n"
    "sequence_len: 32768\n"
    "context_parallel_size: 4   # ranks of a ring\n"
    "ring_attn_func: batch_ring\n"
    "attn_implementation: flash_attention_2\n"
    "micro_batch_size: 1\n"
    "gradient_accumulation_steps: 2\n"
    "max_steps: 1000\n"
    "\n"
    "bf16: auto\n"
    "optimizer: adamw_torch\n"
    "learning_rate: 2e-5\n"
    "lr_scheduler: cosine\n"
    "wandb_project: longdocs\n"
    "output_dir: ./out\n"_s;

inline Request gpus(int ranks, int nodes = 1, double gib = 80) {
    Request request;
    request.ranks = ranks;
    request.nodes = nodes;
    request.device = Device::Cuda;
    request.device_memory_bytes = int64_t(gib * double(int64_t{1} << 30));
    return request;
}

inline void write(const QString& file, const QByteArray& bytes) {
    QFile to(file);
    QVERIFY(to.open(QIODevice::WriteOnly));
    to.write(bytes);
}

inline QByteArray bytes_of(const QString& file) {
    QFile from(file);
    return from.open(QIODevice::ReadOnly) ? from.readAll() : QByteArray();
}

/// Presses a button of the next message box.
inline void answer_box(const QString& box, const QString& label) {
    auto* timer = new QTimer(qApp);
    QObject::connect(timer, &QTimer::timeout, qApp, [timer, box, label] {
        for (QWidget* widget : QApplication::topLevelWidgets()) {
            auto* asked = qobject_cast<QMessageBox*>(widget);
            if (!asked || !asked->isVisible() || asked->objectName() != box) continue;
            for (QAbstractButton* button : asked->buttons()) {
                if (button->text() != label) continue;
                timer->deleteLater();
                button->click();
                return;
            }
        }
    });
    timer->start(20);
}

class PlanFilesTest : public PlanPageTest {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() {
        QVERIFY(m_home.isValid());
        applyAppearance(Appearance::Light);
        m_session = std::make_unique<Session>(find_places());
        QTRY_VERIFY_WITH_TIMEOUT(m_session->machine().has_value(), 20000);
    }

    void init() {
        QDir(QStandardPaths::writableLocation(QStandardPaths::AppDataLocation) + u"/drafts"_s)
            .removeRecursively();
        m_file = m_home.path() + u"/longdocs.yml"_s;
        write(m_file, kText.toUtf8());
        m_page = std::make_unique<PlanPage>(*m_session);
        m_page->resize(1280, 900);
        m_page->QWidget::show();
    }

    void cleanup() { m_page.reset(); }

    void savingKeepsLineEndsAndMark() {
        QByteArray bytes = kText.toUtf8();
        bytes.replace("\n", "\r\n");
        bytes.prepend("\xEF\xBB\xBF");
        write(m_file, bytes);
        open();
        press("contextSize-2");
        settle();
        press("saveButton");
        QVERIFY(!m_page->isEdited());
        QCOMPARE(bytes_of(m_file), bytes.replace("size: 4   #", "size: 2   #"));
    }

    void launchSavesFirstAndAsksForWhatIsOnTheScreen() {
        open();
        QSignalSpy launch(m_session.get(), &Session::launchRequested);
        press("contextSize-8");
        settle();
        answer_box(u"saveLaunchBox"_s, u"Cancel"_s);
        press("launchButton");
        QCOMPARE(launch.count(), 0);
        answer_box(u"saveLaunchBox"_s, u"Save and launch"_s);
        press("launchButton");
        QCOMPARE(launch.count(), 1);
        const auto request = launch.first().first().value<Request>();
        QCOMPARE(QString::fromStdString(request.config), m_file);
        QCOMPARE(request.ranks, 8);
        QVERIFY(bytes_of(m_file).contains("context_parallel_size: 8 "));
    }

    void aFileThatChangesOnTheDiskIsSaid() {
        open();
        write(m_file, kText.toUtf8() + "seed: 7\n");
        QTRY_VERIFY_WITH_TIMEOUT(named("reloadButton") != nullptr, 10000);
        press("reloadButton");
        settle();
        QVERIFY(editor()->text().endsWith(u"seed: 7\n"_s));
        QVERIFY(!m_page->isEdited());
    }

    void anEditSurvivesAKilledProcess() {
        QProcess child;
        child.setProcessChannelMode(QProcess::ForwardedErrorChannel);
        child.start(QCoreApplication::applicationFilePath(), {u"--edit-until-killed"_s, m_file});
        QVERIFY(child.waitForStarted());
        QDir drafts(QStandardPaths::writableLocation(QStandardPaths::AppDataLocation) + u"/drafts"_s);
        QTRY_VERIFY_WITH_TIMEOUT(!drafts.entryList({u"*.json"_s}, QDir::Files).isEmpty(), 30000);
        PlanPage early(*m_session);  // the process that owns the draft is alive, so nothing is offered
        QVERIFY(!early.findChild<QWidget*>(u"draftNotice"_s)->isVisibleTo(&early));
        ::kill(pid_t(child.processId()), SIGKILL);
        QVERIFY(child.waitForFinished());
        QCOMPARE(bytes_of(m_file), kText.toUtf8());

        m_page = std::make_unique<PlanPage>(*m_session);
        m_page->resize(1280, 900);
        m_page->QWidget::show();
        QVERIFY(named("draftNotice")->isVisible());
        press("restoreDraftButton");
        settle();
        QCOMPARE(editor()->text(), u"# typed and never saved\n"_s + kText);
        QVERIFY(m_page->isEdited());
        QCOMPARE(m_page->file(), m_file);
        QVERIFY(!named("draftNotice")->isVisible());
        editor()->undo();
        QCOMPARE(editor()->text(), kText);
    }

    void closingWithEditsAsks() {
        open();
        QVERIFY(m_page->mayClose());
        press("contextSize-2");
        answer_box(u"unsavedBox"_s, u"Cancel"_s);
        QVERIFY(!m_page->mayClose());
        answer_box(u"unsavedBox"_s, u"Discard"_s);
        QVERIFY(m_page->mayClose());
        QCOMPARE(bytes_of(m_file), kText.toUtf8());
    }

    void hostileFilesAreSaidNotSuffered_data() {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<bool>("is_shown");
        QTest::newRow("empty") << QByteArray() << true;
        QTest::newRow("binary") << QByteArray(
                                       "\x7f"
                                       "ELF\0\0\x01\x02\xff\xfe",
                                       10)
                                << false;
        QTest::newRow("not UTF-8") << QByteArray("a: \xff\xfe\n") << false;
        QTest::newRow("nul") << QByteArray("a: 1\0b", 6) << false;
        QTest::newRow("two line ends") << QByteArray("a: 1\r\nb: 2\n") << false;
        QTest::newRow("too large") << QByteArray(int(kMaxConfigBytes) + 1, '#') << false;
        QTest::newRow("broken YAML") << QByteArray("a: [1, 2\nb: }\n") << true;
        QTest::newRow("aliases without end") << QByteArray("a: &a [*a]\n") << true;
        QByteArray laughs = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n";
        for (int i = 1; i < 12; ++i) {
            const QByteArray from = QByteArray::number(i - 1), to = QByteArray::number(i);
            laughs +=
                "a" + to + ": &a" + to + " [*a" + from + ",*a" + from + ",*a" + from + ",*a" + from + "]\n";
        }
        QTest::newRow("a billion laughs") << laughs << true;
        QTest::newRow("deep") << QByteArray(5000, '[') << true;
        QTest::newRow("a list") << QByteArray("- 1\n- 2\n") << true;
        QTest::newRow("html") << QByteArray("<b>a</b>: <img src=x>\nbase_model: <script>\n") << true;
        QTest::newRow("huge numbers")
            << QByteArray(
                   "sequence_len: 99999999999999999999\ncontext_parallel_size: -4\nmicro_batch_size: 1e300\n")
            << true;
        QTest::newRow("one long line") << QByteArray("a: \"") + QByteArray(2 << 20, 'x') + "\"\n" << true;
    }
    void hostileFilesAreSaidNotSuffered() {
        QFETCH(QByteArray, bytes);
        QFETCH(bool, is_shown);
        write(m_file, bytes);
        m_page->openFile(m_file);
        settle();
        QVERIFY(!m_page->grab().isNull());
        if (is_shown) {
            QCOMPARE(editor()->text().toUtf8(), bytes);
            QVERIFY2(verdict().startsWith(u"INVALID"_s), qPrintable(verdict()));
            QVERIFY(!button("launchButton")->isEnabled());
        } else {
            QVERIFY(named("fileNotice")->isVisible());
            QCOMPARE(m_page->file(), QString());
        }
        QCOMPARE(bytes_of(m_file), bytes);
    }

    void whatIsNoFileIsSaid() {
        for (const QString& path :
             {m_home.path(), m_home.path() + u"/not-there.yml"_s, u"/proc/self/mem"_s}) {
            m_page->openFile(path);
            QVERIFY2(named("fileNotice")->isVisible(), qPrintable(path));
        }
    }

    void aLargeFileIsEditedAtOnce() {
        QByteArray bytes = kText.toUtf8();
        while (bytes.size() < qsizetype(kMaxConfigBytes) - 100)
            bytes += "# a comment among very many others\n";
        write(m_file, bytes);
        m_page->choose(gpus(8));
        QElapsedTimer clock;
        clock.start();
        m_page->openFile(m_file);
        m_page->grab();
        QTest::keyClicks(editor(), u"#"_s);
        m_page->grab();
        qInfo("8 MiB opened, drawn, edited and drawn in %lld ms", clock.elapsed());
        settle();
        QVERIFY2(!verdict().startsWith(u"INVALID"_s), qPrintable(verdict()));
    }

  protected:
    void open(const Request& request = gpus(8)) {
        m_page->choose(request);
        m_page->openFile(m_file);
        settle();
    }
    void setText(const QString& text) {
        editor()->edit(text);
        settle();
    }
    QWidget* named(const char* name) { return m_page->findChild<QWidget*>(QString::fromLatin1(name)); }
    QAbstractButton* button(const char* name) { return qobject_cast<QAbstractButton*>(named(name)); }
    void press(const char* name) {
        QAbstractButton* found = button(name);
        QVERIFY2(found, name);
        QVERIFY2(found->isEnabled(), name);
        found->click();
    }

    QString m_file;
};

}  // namespace ringmaster
