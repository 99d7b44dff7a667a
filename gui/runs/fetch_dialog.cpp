#include "gui/runs/fetch_dialog.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QListWidget>
#include <QProgressBar>
#include <QPushButton>
#include <QVBoxLayout>

#include "gui/look/card.h"
#include "gui/look/look.h"
#include "gui/look/numbers.h"
#include "gui/nodes/node_words.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

constexpr qlonglong kModel = -1;  ///< in the place of a checkpoint's step
constexpr int kProgressParts = 1000;

}  // namespace

struct FetchDialog::There {
    std::unique_ptr<SshSession> session;
    FetchOffer offer;
    FetchedRun fetched;
};

FetchDialog::FetchDialog(Session& session, const QString& dir, QWidget* parent)
    : QDialog(parent),
      m_session(session),
      m_run{dir.toStdString()},
      m_offer(new QListWidget),
      m_state(mutedLabel()),
      m_progress(new QProgressBar),
      m_banner(new Banner),
      m_cancel(new QPushButton(tr("Close"))),
      m_fetch(primaryButton(tr("Bring here"))) {
    setObjectName(u"fetchDialog"_s);
    //: %1 is the name of a run
    setWindowTitle(tr("Bring here what %1 has made").arg(QString::fromStdString(m_run.name())));
    auto* title = new QLabel(windowTitle());
    title->setFont(fontOf(Type::Title));
    title->setWordWrap(true);
    auto* what = mutedLabel(tr(
        "Each file is verified by its hash. What is here already is not sent; what was cut goes on where it "
        "ended."));
    what->setWordWrap(true);
    m_offer->setObjectName(u"fetchOffer"_s);
    m_offer->setAccessibleName(tr("What the run has made"));
    m_offer->setMinimumHeight(space(7));
    m_state->setObjectName(u"fetchState"_s);
    m_state->setWordWrap(true);
    m_progress->setTextVisible(false);
    m_progress->setAccessibleName(tr("Progress"));
    m_banner->setObjectName(u"fetchBanner"_s);
    m_banner->hide();
    m_cancel->setObjectName(u"cancelFetchButton"_s);
    m_cancel->setAutoDefault(false);
    m_fetch->setObjectName(u"bringButton"_s);
    m_fetch->setDefault(true);
    auto* buttons = new QHBoxLayout;
    buttons->addWidget(m_state, 1);
    buttons->addWidget(m_cancel);
    buttons->addWidget(m_fetch);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space(1.4), space(1.2), space(1.4), space(1.2));
    layout->setSpacing(space(0.8));
    layout->addWidget(title);
    layout->addWidget(what);
    layout->addWidget(m_banner);
    layout->addWidget(m_offer, 1);
    layout->addWidget(m_progress);
    layout->addLayout(buttons);
    connect(m_offer, &QListWidget::currentRowChanged, this, &FetchDialog::showState);
    connect(m_offer, &QListWidget::itemActivated, this, &FetchDialog::fetch);
    connect(m_fetch, &QPushButton::clicked, this, &FetchDialog::fetch);
    connect(m_cancel, &QPushButton::clicked, this, &FetchDialog::reject);
    resize(space(34), space(24));
    showState();
}

FetchDialog::~FetchDialog() {
    giveUp();
}

void FetchDialog::giveUp() {
    if (m_given_up) m_given_up->store(true);
    m_given_up.reset();
    m_there.reset();
    delete m_job;
}

void FetchDialog::begin(const QString& what, Job::Work work) {
    m_busy = true;
    m_banner->hide();
    m_state->setText(what);
    m_progress->setRange(0, 0);
    delete m_job;
    m_job = new Job(std::move(work), this);
    connect(m_job, &Job::progressed, this, [this](const QString& name, qint64 done, qint64 total) {
        if (total <= 0) return;
        m_progress->setRange(0, kProgressParts);
        m_progress->setValue(int(double(done) / double(total) * kProgressParts));
        //: a file's name, then sizes
        m_state->setText(tr("%1: %2 of %3").arg(name, show::bytes(done), show::bytes(total)));
    });
    connect(m_job, &Job::failed, this, [this](const JobFailure& failure) {
        const bool called_off = m_given_up && m_given_up->load();
        end();
        if (!called_off) showFailure(failure);
    });
    connect(m_job, &Job::cancelled, this, &FetchDialog::end);
    m_job->start();
    showState();
}

void FetchDialog::end() {
    m_busy = false;
    m_state->clear();
    showState();
}

void FetchDialog::ask() {
    giveUp();
    m_given_up = std::make_shared<std::atomic<bool>>(false);
    m_there = std::make_shared<There>();
    const SshPerson person = m_session.person([flag = m_given_up] { return flag->load(); });
    begin(tr("Connecting, logging in, asking the machine…"),
          [run = m_run, person, there = m_there](const Job::Reporter&) {
              there->session = std::make_unique<SshSession>(session_with_first(run, person));
              there->offer = fetch_offer(*there->session, run);
              return QString();
          });
    connect(m_job, &Job::finished, this, [this] {
        end();
        show(m_there->offer);
    });
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
        m_banner->say(Tone::Plain, tr("There is nothing yet."),
                      tr("No checkpoint was saved to its end, and the run has not completed."));
        m_banner->show();
    }
    showState();
}

void FetchDialog::fetch() {
    const QListWidgetItem* chosen = m_offer->currentItem();
    if (m_busy || chosen == nullptr || !m_given_up || !m_there) return;
    const qlonglong which = chosen->data(Qt::UserRole).toLongLong();
    const std::optional<int64_t> step = which == kModel ? std::nullopt : std::optional<int64_t>(which);
    begin(tr("Comparing what is here and there…"),
          [run = m_run, step, there = m_there](const Job::Reporter& report) {
              there->fetched = fetch_run(*there->session, run, step, {}, report.progress);
              return QString::fromStdString(there->fetched.path.string());
          });
    connect(m_job, &Job::finished, this, [this](const QString& path) {
        end();
        const Fetched& what = m_there->fetched.what;
        m_banner->say(Tone::Good, tr("It is here."), path,
                      //: %n is a number of files, %1 and %2 are sizes
                      tr("%n file(s), %1, of which %2 came now", nullptr, what.files)
                          .arg(show::bytes(what.bytes), show::bytes(what.received)));
        m_banner->show();
        Q_EMIT fetched(path);
    });
}

void FetchDialog::showFailure(const JobFailure& failure) {
    const auto [what, next] = problemWords(failure);
    m_banner->clearActions();
    m_banner->say(Tone::Error, tr("That did not work."), what, next);
    QPushButton* again = m_banner->addAction(tr("Try again"));
    connect(again, &QPushButton::clicked, this, &FetchDialog::ask);
    m_banner->show();
}

void FetchDialog::showState() {
    m_progress->setVisible(m_busy);
    m_offer->setEnabled(!m_busy);
    m_fetch->setEnabled(!m_busy && m_offer->currentItem() != nullptr);
    m_cancel->setText(m_busy ? tr("Cancel") : tr("Close"));
}

void FetchDialog::reject() {
    giveUp();
    m_busy = false;
    QDialog::reject();
}

}  // namespace ringmaster
