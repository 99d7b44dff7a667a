#include "gui/data/data_page.h"

#include <QFileInfo>
#include <QHBoxLayout>
#include <QSplitter>
#include <QVBoxLayout>
#include <QtConcurrent/QtConcurrentRun>
#include <span>

#include "gui/data/length_chart.h"
#include "gui/data/row_list.h"
#include "gui/data/row_text.h"
#include "gui/look/card.h"
#include "gui/look/card_grid.h"
#include "gui/look/look.h"
#include "gui/look/numbers.h"
#include "gui/look/scrolled.h"
#include "gui/session/failure_words.h"
#include "launcher/rows/row_search.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

enum Sheet { kEmpty, kWork, kProblem, kRows };

constexpr int kBins = 48;
constexpr int kSoonMs = 200;  ///< delay of the search after the last letter
constexpr size_t kMostFound = 100'000;
constexpr int64_t kMostTokens = 50'000;  ///< maximum number of a row's tokens that are shown
constexpr int kNamedLosses = 4;

QString ranks_words(const RowPlace& place) {
    return place.ranks.size() == 1
               ? DataPage::tr("rank %1").arg(place.ranks.front())
               : DataPage::tr("ranks %1 to %2").arg(place.ranks.front()).arg(place.ranks.back());
}

QString place_words(const LostRow& lost) {
    if (lost.file.empty()) return QString::fromStdString(lost.place);
    const QString words = lost.unit == "line" ? DataPage::tr("%1, line %2") : DataPage::tr("%1, row %2");
    return words.arg(QString::fromStdString(lost.file)).arg(lost.number);
}

QString loss_words(const LostRow& lost) {
    return place_words(lost) + u" \u00B7 "_s +
           DataPage::tr("%n token(s)", nullptr, int(std::min<int64_t>(lost.tokens, 1 << 30)));
}

}  // namespace

DataPage::DataPage(Session& session, QWidget* parent)
    : Page(parent),
      m_session(session),
      m_header(new PageHeader),
      m_stack(new QStackedWidget),
      m_offer_other(new QPushButton),
      m_phase(mutedLabel()),
      m_progress(new QProgressBar),
      m_problem(new Banner),
      m_count(new Figure(tr("rows"))),
      m_tokens(new Figure(tr("tokens"))),
      m_trained(new Figure(tr("of the tokens are trained"))),
      m_longest(new Figure({})),
      m_lengths(new LengthChart),
      m_losses(mutedLabel()),
      m_words(new QLineEdit),
      m_found(mutedLabel()),
      m_list(new RowList),
      m_place(new QLabel),
      m_text(new RowText) {
    auto* empty =
        new EmptyView(tr("No rows are shown yet"),
                      tr("Open a configuration on the Plan page and press Rows. You see the text after "
                         "the template, and which tokens are trained."));
    m_offer_first = empty->addAction({});
    m_open = empty->addAction(tr("Open…"));
    m_open->setObjectName(u"openRowsButton"_s);
    connect(m_open, &QPushButton::clicked, &m_session, &Session::chooseConfig);
    m_header->setTitle(tr("Data"));
    m_header->addAction(m_offer_other);
    m_offer_first->setObjectName(u"firstRowsButton"_s);
    m_offer_other->setObjectName(u"otherRowsButton"_s);
    for (QPushButton* button : {m_offer_first, m_offer_other})
        connect(button, &QPushButton::clicked, this, &DataPage::rowsWanted);
    offer({});
    m_problem->setObjectName(u"dataProblem"_s);
    auto* problem = new QWidget;
    auto* room = new QVBoxLayout(problem);
    room->setContentsMargins(0, 0, 0, 0);
    room->addWidget(m_problem);
    room->addStretch(1);
    m_stack->addWidget(empty);
    m_stack->addWidget(makeWork());
    m_stack->addWidget(problem);
    m_stack->addWidget(makeRows());
    QVBoxLayout* layout = layOutPage(this, m_header);
    layout->addWidget(m_stack, 1);
    m_soon.setSingleShot(true);
    m_soon.setInterval(kSoonMs);
    connectAll();
}

DataPage::~DataPage() {
    m_stop_search.request_stop();
    m_search.waitForFinished();
    m_survey.waitForFinished();
    m_placing.waitForFinished();
}

QWidget* DataPage::makeWork() {
    auto* work = new QWidget;
    m_phase->setObjectName(u"dataPhase"_s);
    m_progress->setTextVisible(false);
    auto* cancel = new QPushButton(tr("Cancel"));
    cancel->setObjectName(u"cancelRowsButton"_s);
    connect(cancel, &QPushButton::clicked, this, [this] {
        if (m_job) m_job->cancel();
    });
    auto* layout = new QVBoxLayout(work);
    layout->addStretch(1);
    layout->addWidget(m_phase);
    layout->addWidget(m_progress);
    layout->addWidget(cancel, 0, Qt::AlignRight);
    layout->addStretch(2);
    return work;
}

QWidget* DataPage::makeSide() {
    auto* card = new Card(tr("All rows"));
    auto* figures = new QWidget;
    auto* grid = new CardGrid(7, 2, figures);
    for (Figure* figure : {m_count, m_tokens, m_trained, m_longest}) {
        figure->wrapCaption();
        grid->addCard(figure);
    }
    m_losses->setObjectName(u"rowLosses"_s);
    m_losses->setWordWrap(true);
    m_losses->setTextFormat(Qt::PlainText);
    m_losses->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto* inside = new QWidget;
    auto* column = new QVBoxLayout(inside);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(card->body()->spacing());
    column->addWidget(figures);
    column->addWidget(m_lengths);
    column->addWidget(m_losses);
    column->addStretch(1);
    card->body()->addWidget(scrolled_whole(inside));
    return card;
}

QWidget* DataPage::makeDetails() {
    auto* card = new Card(tr("As the model reads it"));
    auto* legend = mutedLabel(tr("underlined: trained · grey: read only · bold: a special token"));
    legend->setWordWrap(true);
    m_place->setObjectName(u"rowPlace"_s);
    m_place->setWordWrap(true);
    card->body()->addWidget(m_place);
    card->body()->addWidget(legend);
    card->body()->addWidget(m_text, 1);
    return card;
}

QWidget* DataPage::makeRows() {
    auto* list = new Card(tr("Rows"));
    m_words->setObjectName(u"rowSearch"_s);
    m_words->setPlaceholderText(tr("Search the text of all rows"));
    m_words->setAccessibleName(tr("Search the text of all rows"));
    m_words->setClearButtonEnabled(true);
    m_found->setObjectName(u"rowsFound"_s);
    m_found->hide();
    list->body()->addWidget(m_words);
    list->body()->addWidget(m_found);
    list->body()->addWidget(m_list, 1);
    auto* left = new QSplitter(Qt::Vertical);
    left->setChildrenCollapsible(false);
    left->setHandleWidth(space(0.7));
    left->addWidget(makeSide());
    left->addWidget(list);
    left->setSizes({space(16), space(20)});
    auto* work = new QSplitter(Qt::Horizontal);
    work->setChildrenCollapsible(false);
    work->setHandleWidth(space(0.7));
    work->addWidget(left);
    work->addWidget(makeDetails());
    work->setSizes({space(28), space(34)});
    return work;
}

void DataPage::connectAll() {
    connect(m_list, &RowList::rowChosen, this, &DataPage::showRow);
    connect(m_words, &QLineEdit::textChanged, &m_soon, qOverload<>(&QTimer::start));
    connect(&m_soon, &QTimer::timeout, this, &DataPage::search);
    connect(&m_survey, &QFutureWatcherBase::finished, this, &DataPage::showSurvey);
    connect(&m_placing, &QFutureWatcherBase::finished, this, [this] {
        m_placement = m_placing.result();
        showPlace();
    });
    connect(&m_search, &QFutureWatcherBase::finished, this, [this] {
        if (m_words->text().isEmpty()) return;
        const std::vector<int64_t> found = m_search.result();
        sayFound(tr("%n row(s) hold it", nullptr, int(found.size())));
        m_list->setFound(found);
        if (!found.empty()) m_list->choose(0);
    });
    connect(&m_session, &Session::machineKnown, this, [this] {
        const bool is_better = !m_knew_machine || m_stack->currentIndex() == kProblem;
        if (is_better && !m_question.text.isEmpty()) start();
    });
}

void DataPage::openRows(const Request& request, const QString& text) {
    m_question = {request, text};
    m_header->setSubtitle(QFileInfo(QString::fromStdString(request.config)).fileName());
    offer(QString::fromStdString(request.config));
    start();
}

void DataPage::offer(const QString& file) {
    const bool is_other =
        !m_question.text.isEmpty() && file != QString::fromStdString(m_question.request.config);
    for (QPushButton* button : {m_offer_first, m_offer_other})
        button->setText(tr("Show the rows of %1").arg(QFileInfo(file).fileName()));
    m_offer_first->setVisible(!file.isEmpty());
    setPrimary(m_open, file.isEmpty());
    m_offer_other->setVisible(!file.isEmpty() && is_other);
}

void DataPage::start() {
    delete m_job;
    m_phase->setText(tr("Reading the configuration"));
    m_progress->setRange(0, 0);
    m_stack->setCurrentIndex(kWork);
    const auto made = std::make_shared<OpenRowsPtr>();
    m_knew_machine = m_session.machine().has_value();
    m_job = new Job(rows_work(m_question, m_session.machine().value_or(Machine()), m_session.places(), made),
                    this);
    connect(m_job, &Job::progressed, this, [this](const QString& name, qint64 done, qint64 total) {
        m_phase->setText(total > 0 ? tr("%1: %2 of %3").arg(name, show::count(done), show::count(total))
                                   : name);
        m_progress->setRange(0, total > 0 ? 1000 : 0);
        if (total > 0) m_progress->setValue(int(1000.0 * double(done) / double(total)));
    });
    connect(m_job, &Job::finished, this, [this, made] {
        m_rows = *made;
        take();
    });
    connect(m_job, &Job::failed, this, &DataPage::fail);
    connect(m_job, &Job::cancelled, this, [this] { m_stack->setCurrentIndex(m_rows ? kRows : kEmpty); });
    m_job->start();
}

void DataPage::take() {
    const RowsToShow& prepared = m_rows->prepared;
    m_stack->setCurrentIndex(kRows);
    m_words->clear();
    sayFound({});
    m_text->clearRow();
    m_count->setValue(show::count(m_rows->rows.rows()));
    m_tokens->setValue(show::count(prepared.rows.tokens_total));
    m_trained->setValue(show::unknown());
    m_longest->setValue(show::count(prepared.rows.longest));
    const bool packed = prepared.plan.config.sample_packing;
    m_count->setCaption(packed ? tr("rows, packed from documents") : tr("rows"));
    m_longest->setCaption(packed ? tr("tokens in the longest document kept")
                                 : tr("tokens in the longest row kept"));
    m_lengths->setLengths({}, prepared.plan.config.sequence_len);
    m_list->setRows(m_rows);
    writeLosses();
    m_placement.reset();
    if (m_list->count() > 0) m_list->choose(0);
    m_placing.setFuture(QtConcurrent::run([rows = m_rows]() -> PlacementPtr {
        return std::make_shared<const Placement>(rows->prepared.plan, rows->rows.rows());
    }));
    m_survey.setFuture(QtConcurrent::run([rows = m_rows] { return survey(*rows, kBins); }));
}

void DataPage::fail(const JobFailure& failure) {
    const auto [what, next] = failureWords(failure);
    m_problem->clearActions();
    m_problem->say(Tone::Error, tr("The rows cannot be shown."), what, next);
    connect(m_problem->addAction(tr("Try again")), &QPushButton::clicked, this, &DataPage::start);
    if (!std::filesystem::exists(m_session.places().python()))
        connect(m_problem->addAction(tr("Set up")), &QPushButton::clicked, &m_session,
                &Session::setUpRequested);
    m_stack->setCurrentIndex(kProblem);
}

void DataPage::writeLosses() {
    const TokenizedRows& rows = m_rows->prepared.rows;
    const std::vector<LostRow>& lost = m_rows->prepared.lost;
    QStringList lines;
    const std::span named(lost.data(), std::min<size_t>(kNamedLosses, lost.size()));
    const auto add = [&](int64_t count, const QString& words, std::string_view why) {
        if (count > 0) lines << words.arg(show::count(count));
        int64_t more = count;
        for (const LostRow& row : named)
            if (row.why == why) lines << u"   "_s + loss_words(row), --more;
        if (more > 0) lines << u"   "_s + tr("and %n more", nullptr, int(more));
    };
    add(rows.dropped_long, tr("%1 left out: longer than sequence_len"), "long");
    add(rows.dropped_short, tr("%1 left out: too short"), "short");
    add(rows.truncated, tr("%1 cut to sequence_len"), "cut");
    if (rows.documents > 0)
        lines << tr("%1 documents are packed into %2 rows, %3 full")
                     .arg(show::count(rows.documents), show::count(m_rows->rows.rows()),
                          show::percent(rows.packing_efficiency));
    const PromptSharing& sharing = m_rows->prepared.plan.sharing;
    if (sharing.on && sharing.tokens)
        lines << tr("Answers of a row share their prompt: %1 of the tokens are not computed again")
                     .arg(show::percent(1 - *sharing.tokens));
    if (rows.data.eval_rows > 0) lines << tr("%1 more rows evaluate").arg(show::count(rows.data.eval_rows));
    if (!m_rows->rows.text().known())
        lines << tr("There is no tokenizer.json here: tokens are shown as numbers.");
    m_losses->setText(lines.join(u'\n'));
}

void DataPage::showSurvey() {
    if (!m_rows || m_stack->currentIndex() != kRows) return;
    const RowsSurvey found = m_survey.result();
    m_lengths->setLengths(found.lengths, m_rows->prepared.plan.config.sequence_len);
    const double all = double(std::max<int64_t>(1, m_rows->prepared.rows.tokens_total));
    m_trained->setValue(show::percent(double(found.trained) / all));
    writeLosses();
    if (found.repeated.rows == 0) return;
    const auto& [row, earlier] = found.repeated.examples.front();
    const QString words =
        tr("%1 rows repeat an earlier one: row %2 is row %3 again")
            .arg(show::count(found.repeated.rows), show::count(row + 1), show::count(earlier + 1));
    m_losses->setText(m_losses->text().isEmpty() ? words : m_losses->text() + u'\n' + words);
}

void DataPage::showRow(qint64 row) {
    const ShownRow shown = m_rows->rows.row(row, kMostTokens);
    QStringList words{tr("Row %1").arg(show::count(row + 1)),
                      tr("%1 tokens, %2 trained").arg(show::count(shown.tokens), show::count(shown.trained))};
    if (shown.documents > 1) words << tr("%n document(s)", nullptr, int(shown.documents));
    m_row_words = words.join(u" \u00B7 "_s);
    showPlace();
    m_text->setRow(shown, m_rows->prepared.plan.config.preference.has_pairs());
}

/// Shows the chosen row's figures, and when and where it is trained on.
void DataPage::showPlace() {
    const int64_t row = m_list->currentRow();
    if (row < 0) return;
    QString words = m_row_words;
    if (m_placement) {
        const RowPlace place = m_placement->of(row);
        //: when and where a row is trained on: "step 12 of the first epoch on ranks 0 to 3"
        words += u" \u00B7 "_s +
                 tr("step %1 of the first epoch on %2").arg(show::count(place.step), ranks_words(place));
    }
    m_place->setText(words);
}

void DataPage::sayFound(const QString& words) {
    m_found->setText(words);
    m_found->setVisible(!words.isEmpty());
}

void DataPage::search() {
    if (!m_rows) return;
    m_stop_search.request_stop();
    m_search.waitForFinished();
    const QString words = m_words->text();
    if (words.isEmpty()) {
        sayFound({});
        m_list->setFound(std::nullopt);
        return;
    }
    sayFound(tr("searching…"));
    m_stop_search = {};
    m_search.setFuture(
        QtConcurrent::run([rows = m_rows, text = words.toStdString(), stop = m_stop_search.get_token()] {
            return find_rows(rows->rows, text, kMostFound, stop);
        }));
}

bool DataPage::settled() const {
    return m_stack->currentIndex() != kWork && !m_survey.isRunning() && !m_placing.isRunning() &&
           !m_search.isRunning() && !m_soon.isActive();
}

}  // namespace ringmaster
