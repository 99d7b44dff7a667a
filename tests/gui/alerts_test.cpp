// Tests the alerts dialog with mouse and keyboard: what it saves, and what it refuses to save.
#include <QCheckBox>
#include <QDialogButtonBox>
#include <QLineEdit>
#include <QPushButton>
#include <QTest>

#include "gui/app/alerts_dialog.h"
#include "gui/look/card.h"
#include "tests/gui/own_home.h"

using namespace ringmaster;
using namespace Qt::Literals::StringLiterals;

class AlertsTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void init() {
        QFile::remove(QString::fromStdString(alert_settings_file().string()));
        m_dialog = std::make_unique<AlertsDialog>();
        m_dialog->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_dialog.get()));
    }

    void savesWhatIsSaid() {
        press("alert-plateau");
        press("alertDesktop");
        write("alertWebhook", u"https://hooks.example.org/T024"_s);
        write("alertCommand", u"notify \"two words\" it\\'s"_s);
        save();
        QVERIFY(!m_dialog->isVisible());
        AlertSettings expected;
        expected.kinds.erase(AlertKind::Plateau);
        expected.desktop = false;
        expected.webhook = "https://hooks.example.org/T024";
        expected.command = {"notify", "two words", "it's"};
        QVERIFY(read_alert_settings(alert_settings_file()) == expected);
        const QFile file(QString::fromStdString(alert_settings_file().string()));
        QVERIFY(!(file.permissions() & (QFile::ReadGroup | QFile::ReadOther)));

        const AlertsDialog again;
        QVERIFY(!child<QCheckBox>(again, "alert-plateau")->isChecked());
        QCOMPARE(split_command(child<QLineEdit>(again, "alertCommand")->text().toStdString()),
                 expected.command);
    }

    void keepsWhatCannotBeUsedAndSaysWhy_data() {
        QTest::addColumn<QByteArray>("field");
        QTest::addColumn<QString>("text");
        QTest::newRow("no scheme") << QByteArray("alertWebhook") << u"hooks.example.org/1"_s;
        QTest::newRow("no web address") << QByteArray("alertWebhook") << u"file:///etc/passwd"_s;
        QTest::newRow("an open quote") << QByteArray("alertCommand") << u"mail -s 'Ring"_s;
    }
    void keepsWhatCannotBeUsedAndSaysWhy() {
        QFETCH(const QByteArray, field);
        QFETCH(const QString, text);
        write(field.constData(), text);
        save();
        QVERIFY(m_dialog->isVisible());
        QVERIFY(m_dialog->findChild<Banner*>()->isVisible());
        QCOMPARE(child<QLineEdit>(*m_dialog, field.constData())->text(), text);
        QVERIFY(!QFile::exists(QString::fromStdString(alert_settings_file().string())));
    }

  private:
    template <class T>
    static T* child(const AlertsDialog& dialog, const char* name) {
        T* found = dialog.findChild<T*>(QString::fromLatin1(name));
        if (!found) qFatal("no %s", name);
        return found;
    }
    void press(const char* box) {
        auto* check = child<QCheckBox>(*m_dialog, box);
        QTest::mouseClick(check, Qt::LeftButton, {}, {check->height() / 2, check->height() / 2});
    }
    void write(const char* field, const QString& text) {
        auto* line = child<QLineEdit>(*m_dialog, field);
        QTest::mouseClick(line, Qt::LeftButton);
        QTest::keyClicks(line, text);
    }
    void save() { QTest::mouseClick(child<QPushButton>(*m_dialog, "alertSave"), Qt::LeftButton); }

    OwnHome m_home;
    std::unique_ptr<AlertsDialog> m_dialog;
};

QTEST_MAIN(AlertsTest)
#include "alerts_test.moc"
