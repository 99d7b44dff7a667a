// Opens every page and dialog at 1024x700 in each language, and checks that no text is cut off or covered,
// and that none is English in another language. pages.txt lists the pages; demo_dialogs.h opens the dialogs.
#include <QApplication>
#include <QProcess>
#include <QTest>

#include "gui/app/languages.h"
#include "gui/look/look.h"
#include "tests/gui/demo_dialogs.h"
#include "tests/gui/demo_pages.h"
#include "tests/gui/own_home.h"
#include "tests/gui/readable.h"

using namespace ringmaster;
using namespace Qt::Literals::StringLiterals;

namespace {

constexpr int kPatienceMs = 30000;
const QSize kSmallWindow(1024, 700);

}  // namespace

class ReadableTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() {
        m_home.write("ssh_config", "");
        m_writer.start(QStringLiteral(RINGMASTER_DEMO_RUNS), {m_home.path(), u"--live"_s, u"1800"_s});
        QByteArray said;
        while (!said.contains("ready")) {
            QVERIFY(m_writer.waitForReadyRead(kPatienceMs));
            said += m_writer.readAll();
        }
        applyAppearance(Appearance::Light);
    }

    void pages_data() { languages(); }
    void pages() {
        QFETCH(QString, language);
        use_language(language);
        QStringList wrong;
        show_pages(m_home.path(), kSmallWindow, false, [&](QWidget& window, const QString& name) {
            wrong << wrongIn(window, name, language);
            if (window.size() != kSmallWindow)
                wrong << name + u" needs %1 x %2"_s.arg(window.width()).arg(window.height());
        });
        for (const QString& one : wrong) qWarning("%s", qPrintable(one));  // QVERIFY2 cuts long messages
        QCOMPARE(wrong.size(), qsizetype(0));
    }

    void dialogs_data() { languages(); }
    void dialogs() {
        QFETCH(QString, language);
        use_language(language);
        qputenv("XDG_DATA_HOME", m_home.path("data").toLocal8Bit());
        QStringList wrong;
        show_dialogs(m_home.path(), [&](QWidget& window, const QString& name) {
            window.show();
            QTest::qWait(1);
            wrong << wrongIn(window, name, language);
        });
        for (const QString& one : wrong) qWarning("%s", qPrintable(one));  // QVERIFY2 cuts long messages
        QCOMPARE(wrong.size(), qsizetype(0));
    }

    void cleanupTestCase() {
        m_writer.kill();
        m_writer.waitForFinished();
    }

  private:
    static void languages() {
        QTest::addColumn<QString>("language");
        for (const Language& language : languages_known())
            QTest::newRow(qPrintable(language.code)) << language.code;
    }

    QStringList wrongIn(QWidget& window, const QString& name, const QString& language) const {
        QStringList wrong;
        for (const QString& cut : cut_texts(window)) wrong << name + u": "_s + cut;
        if (language != u"en"_s)
            for (const QString& english : english_texts(window, m_written))
                wrong << name + u" is English: "_s + english;
        return wrong;
    }

    OwnHome m_home;
    QProcess m_writer;
    /// Lists English texts that the app does not translate, because a server sends them during a login.
    const QStringList m_written{u"Unauthorised use is prohibited."_s, u"Two-factor login for"_s,
                                u"Enter a passcode or select one of the following options:"_s, u"Push to"_s};
};

QTEST_MAIN(ReadableTest)
#include "readable_test.moc"
