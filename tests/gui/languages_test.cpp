// Tests the choice of a language: its texts, its numbers and lists, and a system's name for it.
#include <QCoreApplication>
#include <QLocale>
#include <QRegularExpression>
#include <QTest>

#include "engine/config/finding_record.h"
#include "engine/events/run_reason.h"
#include "gui/app/languages.h"
#include "gui/look/numbers.h"
#include "gui/session/app_ways.h"
#include "gui/session/failure_words.h"
#include "gui/session/finding_words.h"
#include "gui/session/reason_words.h"
#include "launcher/ssh/finding.h"

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

    void aReasonHasItsWordsInEachLanguage() {
        RunState state;
        give_reason(state, {{"stopped-after", {"12"}}, {"is-saved"}});
        QCOMPARE(state.reason, std::string("stopped by request after step 12, which is saved"));
        use_language(u"de"_s);
        QCOMPARE(reason_of(state), u"auf Wunsch nach Schritt 12 gestoppt, der gespeichert ist"_s);
        use_language(u"en"_s);
        QCOMPARE(reason_of(state), u"stopped by request after step 12, which is saved"_s);
    }

    void anErrorOfTheEngineComesAfterItsTitle() {
        RunState state;
        state.state = RunPhase::Failed;
        state.code = "ENGINE-MEMORY";
        give_reason(state, {{"rank-status", {"3", "1"}}, {"error", {"no bytes left"}}});
        use_language(u"de"_s);
        QCOMPARE(reason_of(state),
                 u"Rank 3 endete mit Status 1: Einem Rank ging der Speicher aus: no bytes left"_s);
    }

    void aHintNamesTheAppsOwnWay_data() {
        QTest::addColumn<QString>("language");
        for (const Language& one : languages_known()) QTest::newRow(qPrintable(one.code)) << one.code;
    }
    void aHintNamesTheAppsOwnWay() {
        QFETCH(QString, language);
        use_language(language);
        QStringList hints;
        for (const FindingText& one : finding_texts())
            hints << findingNext({std::string(one.code), {"1", "2", "3", "4"}, {}});
        for (const auto& [code, record] : finding_records())
            for (const auto& [form, hint] : record.texts.at(finding_language()).hints)
                hints << way_in_app(QString::fromStdString(hint));
        for (const ReasonText& one : reason_texts())
            if (one.code.ends_with("-next"))
                hints << reason_of({{std::string(one.code), {}}}, {}, {}).trimmed();
        QVERIFY(hints.size() > 200);
        // Only the command line can do these.
        static const QRegularExpression there(
            u"calibrate|--(host|disk)-memory|--set|--runs-dir|RUN --slurm time"_s);
        static const QRegularExpression command(u"ringmaster [a-z]|--[a-z]"_s);
        for (const QString& hint : hints)
            QVERIFY2(!hint.contains(command) || hint.contains(there), qPrintable(hint));
    }

    void aHintOfAnErrorIsTheAppsOwnSentence() {
        use_language(u"de"_s);
        const Error active(
            Failure::Refused, Code("RUN-ACTIVE"), "is running", "--ranks",
            "`ringmaster stop longdocs-cp4` ends it; `ringmaster watch longdocs-cp4` shows it");
        QCOMPARE(hint_of(active), u"Den Lauf in Monitor stoppen."_s);
        QCOMPARE(place_of(active), QString());
        QCOMPARE(way_in_app(u"context_parallel_size: 2, oder --ranks 16"_s),
                 u"context_parallel_size: 2, oder Ranks: 16"_s);
        QCOMPARE(way_in_app(u"--ranks 4, or --device cpu"_s),
                 u"Auf der Seite Plan Ranks auf 4 oder Gerät auf CPU stellen."_s);
        QCOMPARE(way_in_app(u"`ringmaster watch /runs/a` follows it"_s),
                 u"`ringmaster watch /runs/a` follows it"_s);
        use_language(u"en"_s);
        QCOMPARE(hint_of(active), u"Stop the run in Monitor."_s);
    }

    void aReasonWithoutPartsStaysAsItIs() {
        RunState state;
        state.reason = "as another version wrote it";
        use_language(u"de"_s);
        QCOMPARE(reason_of(state), u"as another version wrote it"_s);
        state.why = {{"of-a-newer-version", {}}};
        QCOMPARE(reason_of(state), u"as another version wrote it"_s);
    }

    void sentencesOfJapaneseFollowEachOtherWithoutASpace() {
        QCOMPARE(show::sentences({u"One."_s, {}, u"Two."_s}), u"One. Two."_s);
        QCOMPARE(show::sentences({u"一。"_s, u"二。"_s}), u"一。二。"_s);
    }
};

QTEST_MAIN(LanguagesTest)
#include "languages_test.moc"
