#include "gui/try/try_page.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDesktopServices>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QMenu>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QSplitter>
#include <QStackedWidget>
#include <QUrl>
#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "gui/look/card.h"
#include "gui/look/card_grid.h"
#include "gui/look/look.h"
#include "gui/look/numbers.h"
#include "gui/look/run_mark.h"
#include "gui/look/scrolled.h"
#include "gui/session/failure_words.h"
#include "gui/session/finding_words.h"
#include "gui/session/on_gui.h"
#include "gui/try/publish_dialog.h"
#include "launcher/run/run_directory.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

enum Sheet { kEmpty, kWork };

constexpr int kSoonMs = 80;  ///< delay between a token and the next redraw
constexpr size_t kMostTried = 50;
constexpr int kOfferedRuns = 15;
constexpr int kMostTokens = 100'000, kMostTopK = 1'000'000;

}  // namespace

TryPage::TryPage(Session& session, QWidget* parent)
    : Page(parent),
      m_session(session),
      m_header(new PageHeader),
      m_stack(new QStackedWidget),
      m_choose(new QPushButton(tr("Another model"))),
      m_merge(new QPushButton(tr("Merge…"))),
      m_publish(new QPushButton(tr("Publish"))),
      m_monitor(new QPushButton(tr("Show the run"))) {
    m_header->setTitle(tr("Try it"));
    m_choose->setObjectName(u"tryChooseButton"_s);
    m_choose->setMenu(new QMenu(m_choose));
    connect(m_choose->menu(), &QMenu::aboutToShow, this, [this] { offerModels(m_choose->menu()); });
    m_merge->setObjectName(u"mergeButton"_s);
    m_merge->setToolTip(tr("Add the adapter to its base model's weights, and write a whole model"));
    connect(m_merge, &QPushButton::clicked, this, &TryPage::merge);
    m_monitor->setObjectName(u"tryShowRunButton"_s);
    connect(m_monitor, &QPushButton::clicked, this, [this] { Q_EMIT m_session.openRun(m_model.path); });
    offerPlaces();
    for (QPushButton* button : {m_choose, m_merge, m_publish, m_monitor}) m_header->addAction(button);
    m_stack->addWidget(makeEmpty());
    m_stack->addWidget(makeWork());
    QVBoxLayout* layout = layOutPage(this, m_header);
    layout->addWidget(m_stack, 1);
    m_soon.setSingleShot(true);
    m_soon.setInterval(kSoonMs);
    connect(&m_soon, &QTimer::timeout, this, &TryPage::write);
    connect(&m_session, &Session::machineKnown, this, &TryPage::showState);
    showModel();
}

void TryPage::offerPlaces() {
    m_publish->setObjectName(u"publishButton"_s);
    m_publish->setMenu(new QMenu(m_publish));
    m_publish->menu()->addAction(tr("Upload to the Hugging Face hub…"), this, &TryPage::upload);
    QAction* gguf = m_publish->menu()->addAction(tr("Write as GGUF…"), this, &TryPage::writeGguf);
    gguf->setToolTip(tr("One file for llama.cpp, by its own converter"));
    m_publish->menu()->setToolTipsVisible(true);
}

QWidget* TryPage::makeEmpty() {
    auto* empty = new EmptyView(tr("No model is chosen"),
                                tr("Choose a run that has completed, or the folder of a model or an adapter. "
                                   "It continues your prompts here, beside its base model."));
    QPushButton* run = empty->addAction(tr("Choose a model"));
    run->setObjectName(u"tryFirstButton"_s);
    run->setMenu(new QMenu(run));
    connect(run->menu(), &QMenu::aboutToShow, this, [this, run] { offerModels(run->menu()); });
    return empty;
}

QWidget* TryPage::makeWork() {
    auto* work = new QSplitter(Qt::Horizontal);
    work->setChildrenCollapsible(false);
    work->setHandleWidth(space(0.7));
    work->addWidget(scrolled_whole(makePrompt()));
    work->addWidget(makeAnswers());
    work->setSizes({space(20), space(42)});
    return work;
}

QWidget* TryPage::makePrompt() {
    auto* card = new Card(tr("Prompt"));
    m_prompt = new QPlainTextEdit;
    m_prompt->setObjectName(u"promptEdit"_s);
    m_prompt->setAccessibleName(tr("Prompt"));
    m_prompt->setPlaceholderText(tr("A text that the model continues, or a question"));
    m_prompt->setFont(fontOf(Type::Code));
    m_prompt->setTabChangesFocus(true);
    m_prompt->setMinimumHeight(space(6));
    m_chat = new QCheckBox(tr("As a chat message"));
    m_chat->setObjectName(u"chatBox"_s);
    m_chat->setToolTip(tr("The chat template asks for the answer; without it, the model continues the text"));
    m_compare = new QCheckBox(tr("Beside the base model"));
    m_compare->setObjectName(u"compareBox"_s);
    m_compare->setChecked(true);
    m_generate = primaryButton(tr("Generate"));
    m_generate->setObjectName(u"generateButton"_s);
    m_generate->setToolTip(
        tr("Generate (%1)").arg(QKeySequence(Qt::CTRL | Qt::Key_Return).toString(QKeySequence::NativeText)));
    m_cancel = new QPushButton(tr("Stop"));
    m_cancel->setObjectName(u"generateCancelButton"_s);
    connect(m_prompt, &QPlainTextEdit::textChanged, this, &TryPage::showState);
    connect(m_generate, &QPushButton::clicked, this, &TryPage::generate);
    connect(m_cancel, &QPushButton::clicked, this, [this] {
        if (m_job) m_job->cancel();
    });
    auto* buttons = new QHBoxLayout;
    buttons->addWidget(m_generate);
    buttons->addWidget(m_cancel);
    buttons->addStretch(1);
    card->body()->addWidget(m_prompt, 1);
    card->body()->addWidget(m_chat);
    card->body()->addWidget(m_compare);
    card->body()->addWidget(makeOptions());
    card->body()->addLayout(buttons);
    return card;
}

QWidget* TryPage::makeOptions() {
    auto* box = new QWidget;
    auto* grid = new CardGrid(7.5, 3, box);
    const auto add = [&](auto* control, const char* name, const QString& label, const QString& tip) {
        control->setObjectName(QString::fromLatin1(name));
        control->setAccessibleName(label);
        control->setToolTip(tip);
        if (auto* spin = qobject_cast<QAbstractSpinBox*>(control))
            spin->setButtonSymbols(QAbstractSpinBox::NoButtons);
        auto* cell = new QWidget;
        auto* column = new QVBoxLayout(cell);
        column->setContentsMargins(0, 0, 0, 0);
        column->setSpacing(space(0.2));
        QLabel* name_of = mutedLabel(label);
        name_of->setBuddy(control);
        column->addWidget(name_of);
        column->addWidget(control);
        grid->addCard(cell);
        return control;
    };
    m_most_tokens = add(new QSpinBox, "mostTokensBox", tr("Max tokens"), tr("Ends each text there"));
    m_most_tokens->setRange(1, kMostTokens);
    m_most_tokens->setValue(128);
    m_temperature =
        add(new QDoubleSpinBox, "temperatureBox", tr("Temperature"),
            tr("0 takes the most probable token each time; higher values draw less probable ones"));
    m_temperature->setRange(0, 5);
    m_temperature->setSingleStep(0.1);
    m_temperature->setValue(0.8);
    m_top_k = add(new QSpinBox, "topKBox", tr("Top k"), tr("Draws among this many most probable tokens"));
    m_top_k->setRange(0, kMostTopK);
    m_top_k->setSpecialValueText(tr("all"));
    m_top_p = add(new QDoubleSpinBox, "topPBox", tr("Top p"),
                  tr("Draws among the most probable tokens that together have this probability"));
    m_top_p->setRange(0.01, 1);
    m_top_p->setSingleStep(0.05);
    m_top_p->setValue(0.95);
    m_seed = add(new QSpinBox, "seedBox", tr("Seed"), tr("The same seed draws the same tokens"));
    m_seed->setRange(0, std::numeric_limits<int>::max());
    m_device = add(new QComboBox, "tryDeviceBox", tr("Device"), tr("Where the model runs"));
    m_device->addItem(u"CPU"_s, u"cpu"_s);
    m_device->addItem(u"GPU"_s, u"cuda"_s);
    connect(m_temperature, &QDoubleSpinBox::valueChanged, this, &TryPage::showState);
    return box;
}

QWidget* TryPage::makeAnswers() {
    auto* card = new Card(tr("Answers"));
    m_clear = quietButton(tr("Clear"));
    m_clear->setObjectName(u"clearAnswersButton"_s);
    m_clear->setToolTip(tr("Remove the answers from this page"));
    connect(m_clear, &QPushButton::clicked, this, [this] {
        m_tried.clear();
        write();
        showState();
    });
    card->addHeaderWidget(m_clear);
    m_banner = new Banner;
    m_banner->setObjectName(u"tryBanner"_s);
    m_banner->hide();
    m_doing = mutedLabel();
    m_doing->setObjectName(u"tryDoing"_s);
    m_doing->setWordWrap(true);
    m_progress = new QProgressBar;
    m_progress->setTextVisible(false);
    m_progress->setAccessibleName(tr("Progress"));
    m_answers = new SideBySide;
    m_answers->setObjectName(u"answers"_s);
    m_answers->setAccessibleName(tr("Answers"));
    m_answers->setPlaceholderText(tr("What the models write appears here, the newest first."));
    card->body()->addWidget(m_banner);
    card->body()->addWidget(m_doing);
    card->body()->addWidget(m_progress);
    card->body()->addWidget(m_answers, 1);
    return card;
}

void TryPage::offerModels(QMenu* menu) {
    menu->clear();
    std::vector<RunSummary> runs;
    try {
        runs = list_runs(m_session.places().runs_dir);
    } catch (const Error&) {  // the runs folder cannot be read; a model's folder can still be chosen
    }
    for (const RunSummary& one : runs) {
        if (menu->actions().size() >= kOfferedRuns) break;
        if (one.state.state != RunPhase::Completed) continue;
        const QString dir = QString::fromStdString(one.dir.string());
        menu->addAction(runIcon(runMark(one), coloursOf(this)), QString::fromStdString(one.name), this,
                        [this, dir] { openModel(dir); });
    }
    if (menu->isEmpty()) menu->addAction(tr("No run has completed yet"))->setEnabled(false);
    menu->addSeparator();
    menu->addAction(tr("A model's or an adapter's folder…"), this, [this] {
        const QString folder =
            QFileDialog::getExistingDirectory(this, tr("Choose the folder of a model or an adapter"));
        if (!folder.isEmpty()) openModel(folder);
    });
}

void TryPage::openModel(const QString& path) {
    if (m_job) m_job->cancel();
    m_banner->hide();
    try {
        m_model = look_at_model(path);
    } catch (const Error& problem) {
        fail({message_of(problem), place_of(problem), hint_of(problem), {}},
             tr("This model cannot be tried."));
    }
    showModel();
    m_prompt->setFocus();
}

void TryPage::showModel() {
    m_stack->setCurrentIndex(m_model.path.isEmpty() && m_banner->isHidden() ? kEmpty : kWork);
    m_header->setSubtitle(m_model.name);
    showState();
}

void TryPage::showState() {
    const bool chosen = !m_model.path.isEmpty(), busy = !m_job.isNull();
    m_choose->setVisible(m_stack->currentIndex() == kWork);
    m_merge->setVisible(chosen && m_model.has_adapter);
    m_merge->setEnabled(!busy);
    m_publish->setVisible(chosen);
    m_publish->setEnabled(!busy);
    m_monitor->setVisible(chosen && m_model.is_run);
    m_generate->setEnabled(chosen && !busy && !m_prompt->toPlainText().isEmpty());
    m_cancel->setEnabled(busy);
    m_compare->setEnabled(m_model.has_base);
    m_compare->setToolTip(m_model.has_base ? tr("The base model answers first")
                                           : tr("This folder names no base model to compare with"));
    const bool draws = m_temperature->value() > 0;
    for (QWidget* control : std::initializer_list<QWidget*>{m_top_k, m_top_p, m_seed})
        control->setEnabled(draws);
    const bool has_gpu = m_session.machine() && !m_session.machine()->gpus.empty();
    m_device->parentWidget()->setVisible(has_gpu);  // with its label
    if (!has_gpu) m_device->setCurrentIndex(0);
    m_doing->setVisible(!m_doing->text().isEmpty());
    m_progress->setVisible(busy);
    m_clear->setVisible(!m_tried.empty() && !busy);
}

GenerateOptions TryPage::options() const {
    GenerateOptions options;
    const std::string prompt = m_prompt->toPlainText().toStdString();
    const nlohmann::json message = {{"role", "user"}, {"content", prompt}};
    options.prompts.push_back(m_chat->isChecked() ? nlohmann::json::array({message})
                                                  : nlohmann::json(prompt));
    options.max_new_tokens = m_most_tokens->value();
    options.temperature = m_temperature->value();
    if (options.temperature > 0) {
        options.top_k = m_top_k->value();
        options.top_p = m_top_p->value();
        options.seed = m_seed->value();
    }
    options.compares = m_compare->isEnabled() && m_compare->isChecked();
    options.device = m_device->currentData().toString().toStdString();
    return options;
}

void TryPage::begin(Job::Work work, const QString& doing) {
    m_banner->hide();
    m_doing->setText(doing);
    m_progress->setRange(0, 0);
    m_job = new Job(std::move(work), this);
    connect(m_job, &Job::progressed, this, [this](const QString& name, qint64 done, qint64 total) {
        m_doing->setText(total > 0 ? tr("%1: %2 of %3").arg(name, show::count(done), show::count(total))
                                   : name);
        m_progress->setRange(0, total > 0 ? 1000 : 0);
        if (total > 0) m_progress->setValue(int(1000.0 * double(done) / double(total)));
    });
    const auto end = [this] {
        m_job->deleteLater();
        m_job.clear();
        showState();
    };
    connect(m_job, &Job::finished, this, [this, end](const QString& made) {
        if (m_task == Task::Merging) showMerged(made);
        if (m_task == Task::Uploading || m_task == Task::Converting) showMade(made);
        end();
    });
    connect(m_job, &Job::failed, this, [this, end](const JobFailure& failure) {
        m_doing->clear();
        endAnswers({});
        fail(failure, failed());
        end();
    });
    connect(m_job, &Job::cancelled, this, [this, end] {
        m_doing->setText(tr("Stopped."));
        endAnswers(tr("stopped"));
        end();
    });
    showState();
    m_job->start();
}

void TryPage::generate() {
    if (!m_generate->isEnabled()) return;
    const GenerateOptions wanted = options();
    m_task = Task::Generating;
    m_tokens = 0;
    m_tried.push_front({m_prompt->toPlainText(), m_chat->isChecked(), wanted.compares, {}, {}});
    if (m_tried.size() > kMostTried) m_tried.pop_back();
    write();
    begin(generation_work(m_model, wanted, m_session.places(),
                          [self = QPointer<TryPage>(this)](const nlohmann::json& line) {
                              onGui(self, [line](TryPage& page) { page.take(line); });
                          }),
          tr("Loading the model"));
}

/// Handles a line of JSON that the engine printed (engine/commands/generate_command.h).
void TryPage::take(const nlohmann::json& line) {
    if (m_tried.empty() || !m_job) return;
    const std::string type = line.value("type", ""), model = line.value("model", "");
    const QString author = model == "base" ? tr("The base model") : tr("The trained model");
    SideText& text = model == "base" ? m_tried.front().base : m_tried.front().trained;
    if (type == "token") {
        text.text += QString::fromStdString(line.value("text", ""));
        //: %1 is "The base model" or "The trained model"
        m_doing->setText(tr("%1 writes: %n token(s)", nullptr, int(++m_tokens)).arg(author));
    } else if (type == "completion") {
        text.text = QString::fromStdString(line.value("text", ""));
        text.note = line.value("stopped", false) ? QString() : u"\u2026"_s;
        m_tokens = 0;
    } else if (type == "generated") {
        const double seconds = std::max(line.value("seconds", 0.0), 1e-9);
        m_doing->setText(tr("%1 wrote %2 tokens per second.")
                             .arg(author, show::rate(line.value("tokens", 0.0) / seconds)));
    }
    if (!m_soon.isActive()) m_soon.start();
}

/// Marks the newest answer as unfinished, or removes its prompt if no model has written anything.
void TryPage::endAnswers(const QString& note) {
    if (m_task != Task::Generating || m_tried.empty()) return;
    Tried& newest = m_tried.front();
    if (newest.base.text.isEmpty() && newest.trained.text.isEmpty()) {
        m_tried.pop_front();
    } else {
        newest.trained.note = note;
    }
    write();
}

QString TryPage::failed() const {
    switch (m_task) {
        case Task::Generating:
            return tr("Nothing was generated.");
        case Task::Merging:
            return tr("The model is not merged.");
        case Task::Uploading:
            return tr("The model is not uploaded.");
        case Task::Converting:
            return tr("The model is not converted.");
    }
    return {};
}

void TryPage::fail(const JobFailure& failure, const QString& what) {
    m_banner->clearActions();
    const auto [why, next] = failureWords(failure);
    m_banner->say(Tone::Error, what, why, next);
    if (!QFileInfo::exists(QString::fromStdString(m_session.places().python().string())))
        connect(m_banner->addAction(tr("Set up")), &QPushButton::clicked, &m_session,
                &Session::setUpRequested);
    m_banner->show();
}

void TryPage::merge() {
    if (m_merge->isHidden() || !m_merge->isEnabled()) return;
    const QString folder = QFileDialog::getSaveFileName(this, tr("Write the merged model into a new folder"),
                                                        m_model.path + u"-merged"_s);
    if (folder.isEmpty()) return;
    m_task = Task::Merging;
    begin(merge_work(m_model, folder, m_session.places()), tr("Merging the adapter into its base"));
}

void TryPage::showMerged(const QString& folder) {
    m_doing->clear();
    m_banner->clearActions();
    m_banner->say(Tone::Good, tr("The merged model is in %1.").arg(folder));
    QPushButton* tries = m_banner->addAction(tr("Try the merged model"));
    tries->setObjectName(u"tryMergedButton"_s);
    connect(tries, &QPushButton::clicked, this, [this, folder] { openModel(folder); });
    m_banner->show();
}

void TryPage::upload() {
    PublishDialog dialog(m_model.name, m_model.is_run, this);
    if (dialog.exec() != QDialog::Accepted || m_job) return;
    m_task = Task::Uploading;
    begin(push_work(m_model, dialog.repository(), dialog.isPrivate(), m_session.places()),
          tr("Uploading the model"));
}

void TryPage::writeGguf() {
    const QString file = QFileDialog::getSaveFileName(this, tr("Write the model as GGUF"),
                                                      m_model.path + u".gguf"_s, tr("GGUF files (*.gguf)"));
    if (file.isEmpty() || m_job) return;
    m_task = Task::Converting;
    begin(gguf_work(m_model, file, m_session.places()), tr("Converting the model"));
}

void TryPage::showMade(const QString& made) {
    m_doing->clear();
    m_banner->clearActions();
    m_banner->say(Tone::Good, m_task == Task::Uploading ? tr("The model is at %1.").arg(made)
                                                        : tr("The model is in %1.").arg(made));
    if (m_task == Task::Uploading)
        connect(m_banner->addAction(tr("Show it")), &QPushButton::clicked, this,
                [made] { QDesktopServices::openUrl(QUrl(made)); });
    m_banner->show();
}

void TryPage::write() {
    const bool compares =
        std::any_of(m_tried.begin(), m_tried.end(), [](const Tried& tried) { return tried.has_base; });
    QStringList columns;
    if (compares) columns << tr("Base");
    columns << tr("Trained");
    std::vector<SideRow> rows;
    for (const Tried& tried : m_tried) {
        SideRow row{tried.prompt, !tried.is_chat, {}};
        if (compares) row.texts.push_back(tried.base);
        row.texts.push_back(tried.trained);
        rows.push_back(std::move(row));
    }
    m_answers->setTexts(columns, rows);
}

void TryPage::keyPressEvent(QKeyEvent* event) {
    const bool is_return = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
    if (is_return && event->modifiers().testFlag(Qt::ControlModifier)) return generate();
    if (event->key() == Qt::Key_Escape && m_job) return m_job->cancel();
    Page::keyPressEvent(event);
}

}  // namespace ringmaster
