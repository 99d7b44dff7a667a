// draw_dialogs TO APPEARANCE LANGUAGE CONFIG: pictures of the dialogs as TO-NAME.png, which no page shows:
// what is asked while logging in, and where a run is to go. The machines are those of nodes.json in the data
// folder.
#include <QApplication>
#include <QLineEdit>
#include <QListWidget>
#include <QRadioButton>
#include <QTest>
#include <cstdio>

#include "gui/app/languages.h"
#include "gui/launch/launch_dialog.h"
#include "gui/launch/launch_form.h"
#include "gui/login/question_dialog.h"
#include "gui/look/look.h"

using namespace ringmaster;
using namespace Qt::Literals::StringLiterals;

namespace {

constexpr int kPreviewMs = 4000;

void keep(QWidget& window, const QString& to, const QString& name) {
    window.show();
    QTest::qWait(150);
    const QString file = to + u'-' + name + u".png"_s;
    if (!window.grab().save(file)) qFatal("%s cannot be written", qPrintable(file));
    std::printf("%s\n", qPrintable(file));
}

void draw_questions(const QString& to) {
    TrustDialog trust({"ann@gpu2:2222", "ssh-ed25519", "SHA256:zx4k4Nq0pVQpC5wP3nqYpQ7m1n6S0b6kXv3T1u2v9Qk",
                       "/home/ann/.ssh/known_hosts"},
                      nullptr);
    keep(trust, to, u"trust"_s);
    PromptDialog code({"login1",
                       "*** Example University Research Computing ***\nUnauthorised use is "
                       "prohibited.\n\nTwo-factor login for "
                       "ann\n\nEnter a passcode or select one of the following options:\n\n 1. Push to "
                       "XXX-XXX-1234\n 2. SMS "
                       "passcodes\n\nPasscode or option (1-2): ",
                       true, true},
                      false, nullptr);
    keep(code, to, u"code"_s);
    PromptDialog password({"gpu7", "", false, false, PromptKind::Password, "ann"}, true, nullptr);
    keep(password, to, u"password"_s);
}

void draw_launch(const QString& to, const QString& config) {
    Places places = find_places();
    places.programs_dir = RINGMASTER_BIN;
    Session session(places);
    LaunchDialog dialog(session);
    Request request;
    request.config = config.toStdString();
    request.ranks = 8;
    request.device = Device::Cuda;
    for (const QString& where : {u"launchHere"_s, u"launchNodes"_s, u"launchSlurm"_s}) {
        dialog.ask(request);
        auto* form = dialog.findChild<LaunchForm*>();
        form->findChild<QRadioButton*>(where)->setChecked(true);
        auto* nodes = form->findChild<QListWidget*>(u"launchNodeList"_s);
        for (int row = 0; row < std::min(2, nodes->count()); ++row)
            nodes->item(row)->setCheckState(Qt::Checked);
        form->findChild<QLineEdit*>(u"slurmTime"_s)->setText(u"4:00:00"_s);
        form->findChild<QLineEdit*>(u"slurmGres"_s)->setText(u"gpu:h100:8"_s);
        QTest::qWait(kPreviewMs);
        keep(dialog, to, where);
        dialog.close();
        QTest::qWait(50);
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 5) return 2;
    QApplication app(argc, argv);
    QApplication::setApplicationName(u"ringmaster"_s);
    QApplication::setOrganizationName(u"ringmaster"_s);
    const QStringList given = QApplication::arguments();
    use_language(given[3]);
    applyAppearance(given[2] == u"dark"_s ? Appearance::Dark : Appearance::Light);
    draw_questions(given[1]);
    draw_launch(given[1], given[4]);
}
