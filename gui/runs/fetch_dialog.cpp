#include "gui/runs/fetch_dialog.h"

#include <QListWidget>

#include "gui/look/look.h"
#include "gui/look/numbers.h"
#include "launcher/backends/backend.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

constexpr qlonglong kModel = -1;  ///< list value of the final model; a checkpoint's value is its step

}  // namespace

struct FetchDialog::There {
    std::unique_ptr<RunResults> results;
    FetchOffer offer;
    FetchedRun fetched;
};

FetchDialog::FetchDialog(Session& session, const QString& dir, QWidget* parent)
    : MachineDialog(
          session,
          //: %1 is the name of a run
          tr("Fetch what %1 has made").arg(QString::fromStdString(RunDirectory{dir.toStdString()}.name())),
          tr("Each file is verified by its hash. Files that are here already are not sent; an "
             "interrupted file goes on where it stopped."),
          tr("Fetch"), parent),
      m_run{dir.toStdString()},
      m_offer(new QListWidget) {
    setObjectName(u"fetchDialog"_s);
    m_offer->setObjectName(u"fetchOffer"_s);
    m_offer->setAccessibleName(tr("What the run has made"));
    m_offer->setMinimumHeight(space(7));
    m_go->setObjectName(u"bringButton"_s);
    m_go->setDefault(true);
    fill({m_banner, m_offer});
    connect(m_offer, &QListWidget::currentRowChanged, this, &FetchDialog::showState);
    connect(m_offer, &QListWidget::itemActivated, this, &FetchDialog::fetch);
    connect(m_go, &QPushButton::clicked, this, &FetchDialog::fetch);
    resize(space(34), space(24));
    showState();
}

void FetchDialog::giveUp() {
    MachineDialog::giveUp();
    m_there.reset();
}

void FetchDialog::ask() {
    startOver();
    m_there = std::make_shared<There>();
    begin(
        tr("Connecting, logging in, asking the machine…"),
        [run = m_run, person = person(), there = m_there](const Job::Reporter&) {
            there->results = backend_of(run)->results(run, person);
            there->offer = there->results->offer();
            return QString();
        },
        [this](const QString&) { show(m_there->offer); });
}

void FetchDialog::show(const FetchOffer& offer) {
    m_offer->clear();
    const auto add = [this](const QString& text, qlonglong which) {
        auto* item = new QListWidgetItem(text, m_offer);
        item->setData(Qt::UserRole, which);
    };
    if (offer.has_model) add(tr("The trained model"), kModel);
    for (auto step = offer.checkpoints.rbegin(); step != offer.checkpoints.rend(); ++step)
        add(tr("Checkpoint of step %1").arg(show::count(*step)), *step);
    if (m_offer->count() > 0) {
        m_offer->setCurrentRow(0);
    } else {
        say(Tone::Plain, tr("There is nothing yet."),
            tr("No checkpoint was saved to its end, and the run has not completed."));
    }
    showState();
}

void FetchDialog::fetch() {
    const QListWidgetItem* chosen = m_offer->currentItem();
    if (isBusy() || chosen == nullptr || !m_there) return;
    const qlonglong which = chosen->data(Qt::UserRole).toLongLong();
    const std::optional<int64_t> step = which == kModel ? std::nullopt : std::optional<int64_t>(which);
    begin(
        tr("Comparing what is here and there…"),
        [step, there = m_there](const Job::Reporter& report) {
            there->fetched = there->results->fetch(step, {}, report.progress);
            return QString::fromStdString(there->fetched.path.string());
        },
        [this](const QString& path) {
            const Fetched& what = m_there->fetched.what;
            say(Tone::Good, tr("It is here."), path,
                //: %n is a number of files, %1 and %2 are sizes
                tr("%n file(s), %1, of which %2 came now", nullptr, what.files)
                    .arg(show::bytes(what.bytes), show::bytes(what.received)));
            Q_EMIT fetched(path);
        });
}

void FetchDialog::showFailure(const JobFailure& failure) {
    MachineDialog::showFailure(failure);
    connect(m_banner->addAction(tr("Try again")), &QPushButton::clicked, this, &FetchDialog::ask);
}

void FetchDialog::showState() {
    MachineDialog::showState();
    m_offer->setEnabled(!isBusy());
    m_go->setEnabled(!isBusy() && m_offer->currentItem() != nullptr);
    m_cancel->setText(isBusy() ? tr("Cancel") : tr("Close"));
}

}  // namespace ringmaster
