// Tests the app in each language: its texts, lists and font, and its words for findings, errors, hints and
// reasons.
#include <QCoreApplication>
#include <QLocale>
#include <QRegularExpression>
#include <QTest>

#include "engine/config/finding_record.h"
#include "engine/events/run_reason.h"
#include "engine/events/run_state.h"
#include "gui/app/languages.h"
#include "gui/look/numbers.h"
#include "gui/nodes/node_words.h"
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

    void aLanguageIsDrawnWithAFamilyMadeForItIfOneIsInstalled() {
        use_language(u"en"_s);
        const QFont before = QGuiApplication::font();
        for (const Language& language : languages_known()) {
            use_language(language.code);
            QStringList made = language.families;
            made.removeIf([](const QString& family) { return !QFontDatabase::hasFamily(family); });
            const QStringList families = QGuiApplication::font().families();
            QCOMPARE(families, made.mid(0, 1) + before.families());
        }
        use_language(u"en"_s);
        QCOMPARE(QGuiApplication::font(), before);
    }

    void aReasonHasItsWordsInEachLanguage() {
        RunState state;
        give_reason(state, {{"stopped-after", {"12"}}, {"is-saved"}});
        QCOMPARE(state.reason, std::string("stopped by request after step 12, which is saved"));
        use_language(u"de"_s);
        QCOMPARE(reason_of(state), u"auf Wunsch nach Schritt 12 gestoppt und gespeichert"_s);
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
        give_reason(state, {{"rank-status", {"3", "1"}}, {"error", {"out of memory"}}});
        QCOMPARE(reason_of(state), u"Rank 3 endete mit Status 1: der Speicher reichte nicht"_s);
    }

    void aFindingOfANewerVersionShowsItsCode() {
        use_language(u"ja"_s);
        const Error error(Failure::Refused, Code("OF-A-NEWER-VERSION"), "its own words", "", "its own hint");
        QCOMPARE(message_of(error), u"OF-A-NEWER-VERSION: its own words"_s);
        QCOMPARE(hint_of(error), u"its own hint"_s);
        const Diagnostic finding{Severity::Error, error.code, "", 0, error.what(), error.hint};
        QCOMPARE(message_of(finding), u"OF-A-NEWER-VERSION: its own words"_s);
        QCOMPARE(hint_of(finding), u"its own hint"_s);
    }

    void aKeyWithoutEffectSaysWhyInEachLanguage() {
        use_language(u"de"_s);
        QCOMPARE(reason_of_key({"a", "switched off"}), u"ausgeschaltet"_s);
        QCOMPARE(reason_of_key({"a", "switched off (axolotl 0.1.0-0.4.0 had it)"}),
                 u"ausgeschaltet (es stand in axolotl 0.1.0-0.4.0)"_s);
        QVERIFY(!refusal_of_key({"relora_steps", "relora_steps: 5 is not supported: part of ReLoRA"}, {})
                     .contains(u"part of"_s));
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
            for (const auto& [form, hint] : record.texts.at(finding_language()).hints) {
                const auto& of_app = record.texts.at(finding_language()).app_hints;
                hints << QString::fromStdString(of_app.contains(form) ? of_app.at(form) : hint);
            }
        for (const ReasonText& one : reason_texts())
            if (one.code.ends_with("-next"))
                hints << reason_of({{std::string(one.code), {}}}, {}, {}).trimmed();
        QVERIFY(hints.size() > 200);
        // Hints that match this pattern name what only the command line can do.
        static const QRegularExpression there(u"--(host|disk)-memory|RUN --slurm time"_s);
        static const QRegularExpression command(u"ringmaster [a-z]|--[a-z]"_s);
        for (const QString& hint : hints)
            QVERIFY2(!hint.contains(command) || hint.contains(there), qPrintable(hint));
    }

    void aHintOfAnErrorIsTheAppsOwnSentence() {
        use_language(u"de"_s);
        const Error active(
            Failure::Refused, Code("RUN-ACTIVE"), "is running", "--ranks",
            "`ringmaster stop longdocs-cp4` ends it; `ringmaster watch longdocs-cp4` follows it");
        QCOMPARE(hint_of(active), u"Stoppen Sie den Lauf in Monitor."_s);
        QCOMPARE(place_of(active), QString());
        const Error devices(Failure::Unreachable, Code("ENGINE-DEVICE"), "no GPU is seen", "",
                            "--ranks 4, or --device cpu");
        QCOMPARE(hint_of(devices), u"Stellen Sie auf der Seite Plan Ranks auf 4 oder Gerät auf CPU."_s);
        use_language(u"en"_s);
        QCOMPARE(hint_of(active), u"Stop the run in Monitor."_s);
    }

    void aDamagedFileIsSaidInTheLanguageOfTheApp() {
        use_language(u"de"_s);
        const auto said = [](const char* text) {
            try {
                std::ignore = parse_run_state(text, "run.json");
            } catch (const Error& error) {
                return message_of(error);
            }
            return QString();
        };
        QCOMPARE(said("{\"name\": \"run"), u"ist beschädigt: ab Byte 14 kein gültiges JSON"_s);
        QCOMPARE(said("{\"name\": {}}"), u"ist beschädigt: ein Wert hat den falschen Typ"_s);
        QCOMPARE(said("{}"), u"ist beschädigt: 'name' fehlt"_s);
        use_language(u"en"_s);
    }

    void aReasonWithoutPartsStaysAsItIs() {
        RunState state;
        state.reason = "as another version wrote it";
        use_language(u"de"_s);
        QCOMPARE(reason_of(state), u"as another version wrote it"_s);
        state.why = {{"of-a-newer-version", {}}};
        QCOMPARE(reason_of(state), u"as another version wrote it"_s);
    }

    void aListHasTheCommasOfTheLanguage() {
        use_language(u"ja"_s);
        NodeReport report;
        report.finding = {"other-libtorch", {"2.11.0", "2.9.1, /opt"}, {}};
        QVERIFY2(foundWords(report).contains(u"2.9.1、/opt"_s), qPrintable(foundWords(report)));
        use_language(u"en"_s);
    }

    void sentencesOfJapaneseFollowEachOtherWithoutASpace() {
        QCOMPARE(show::sentences({u"One."_s, {}, u"Two."_s}), u"One. Two."_s);
        QCOMPARE(show::sentences({u"一。"_s, u"二。"_s}), u"一。二。"_s);
    }
};

QTEST_MAIN(LanguagesTest)
#include "languages_test.moc"
