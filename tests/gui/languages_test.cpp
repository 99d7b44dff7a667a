// Tests the choice of a language: its texts, its numbers and lists, and a system's name for it.
#include <QCoreApplication>
#include <QLocale>
#include <QTest>

#include "gui/app/languages.h"
#include "gui/look/numbers.h"

using namespace ringmaster;
using namespace Qt::Literals::StringLiterals;

class LanguagesTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void aLanguageBringsItsTextsAndItsLists_data() {
        QTest::addColumn<QString>("wanted");
        QTest::addColumn<QString>("code");
        QTest::addColumn<QString>("runs");
        QTest::addColumn<QString>("listed");
        QTest::newRow("English") << u"en"_s << u"en"_s << u"Runs"_s << u"1, 2."_s;
        QTest::newRow("German") << u"de_AT"_s << u"de"_s << u"Läufe"_s << u"1, 2."_s;
        QTest::newRow("Japanese") << u"ja_JP"_s << u"ja"_s << u"実行一覧"_s << u"1、2。"_s;
        QTest::newRow("Chinese") << u"zh_CN"_s << u"zh_CN"_s << u"运行"_s << u"1，2。"_s;
        QTest::newRow("unknown") << u"fi_FI"_s << u"en"_s << u"Runs"_s << u"1, 2."_s;
    }
    void aLanguageBringsItsTextsAndItsLists() {
        QFETCH(QString, wanted);
        QFETCH(QString, code);
        QFETCH(QString, runs);
        QFETCH(QString, listed);
        use_language(wanted);
        QCOMPARE(language_now(), code);
        QCOMPARE(QCoreApplication::translate("ringmaster::MainWindow", "Runs"), runs);
        QCOMPARE(show::sentence(show::listed({u"1"_s, {}, u"2"_s})), listed);
        QCOMPARE(QLocale().name().section(u'_', 0, 0), code.section(u'_', 0, 0));
    }
};

QTEST_MAIN(LanguagesTest)
#include "languages_test.moc"
