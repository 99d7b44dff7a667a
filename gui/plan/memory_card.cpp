#include "gui/plan/memory_card.h"

#include <QEvent>
#include <QHBoxLayout>
#include <algorithm>
#include <cmath>

#include "engine/layout/layout.h"
#include "gui/look/look.h"
#include "gui/look/numbers.h"
#include "gui/plan/verdict_words.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

constexpr int kSteps = 400;  // number of the slider's positions
constexpr int64_t kLeastTokens = 128;

struct Component {
    const char* name;
    int64_t RankMemory::*bytes;
};
constexpr Component kComponents[] = {
    {QT_TRANSLATE_NOOP("ringmaster::MemoryCard", "weights"), &RankMemory::weights},
    {QT_TRANSLATE_NOOP("ringmaster::MemoryCard", "gradients"), &RankMemory::gradients},
    {QT_TRANSLATE_NOOP("ringmaster::MemoryCard", "optimizer"), &RankMemory::optimizer},
    {QT_TRANSLATE_NOOP("ringmaster::MemoryCard", "activations"), &RankMemory::activations},
    {QT_TRANSLATE_NOOP("ringmaster::MemoryCard", "workspace"), &RankMemory::workspace},
    {QT_TRANSLATE_NOOP("ringmaster::MemoryCard", "logits"), &RankMemory::logits},
    {QT_TRANSLATE_NOOP("ringmaster::MemoryCard", "communication"), &RankMemory::communication},
    {QT_TRANSLATE_NOOP("ringmaster::MemoryCard", "runtime"), &RankMemory::runtime}};

}  // namespace

MemoryCard::MemoryCard(QWidget* parent)
    : Card(tr("Memory of the fullest rank"), parent),
      m_bar(new StackedBar),
      m_legend(new BarLegend),
      m_bounds(mutedLabel()),
      m_unknown(mutedLabel()),
      m_lengths(new QWidget),
      m_slider(new MarkedSlider),
      m_length(new QSpinBox),
      m_longest_text(mutedLabel()),
      m_longer(new QWidget),
      m_longer_text(mutedLabel()),
      m_apply_longer(new QPushButton(tr("Apply"))) {
    m_bar->setAccessibleName(tr("Memory by component"));
    m_bar->setObjectName(u"memoryBar"_s);
    m_legend->setAccessibleName(tr("Legend of the memory"));
    m_unknown->setWordWrap(true);
    m_bounds->setWordWrap(true);
    m_slider->setObjectName(u"lengthSlider"_s);
    m_slider->setAccessibleName(tr("sequence_len to try"));
    m_slider->setRange(0, kSteps);
    m_slider->setPageStep(kSteps / 20);
    m_length->setObjectName(u"lengthBox"_s);
    m_length->setAccessibleName(u"sequence_len"_s);
    m_length->setKeyboardTracking(false);
    m_length->setButtonSymbols(QAbstractSpinBox::NoButtons);
    m_length->setGroupSeparatorShown(true);
    m_length->setRange(1, 1 << 30);
    auto* name = new QLabel(u"sequence_len"_s);
    name->setFont(fontOf(Type::Code));
    name->setBuddy(m_length);
    auto* row = new QHBoxLayout;
    row->setSpacing(space(0.6));
    row->addWidget(name);
    row->addWidget(m_slider, 1);
    row->addWidget(m_length);
    auto* lengths = new QVBoxLayout(m_lengths);
    lengths->setContentsMargins(0, space(0.2), 0, 0);
    lengths->setSpacing(space(0.2));
    lengths->addLayout(row);
    lengths->addWidget(m_longest_text);
    m_longest_text->setWordWrap(true);
    lengths->addWidget(m_longer);
    auto* longer = new QHBoxLayout(m_longer);
    longer->setContentsMargins(0, 0, 0, 0);
    longer->setSpacing(space(0.6));
    longer->addWidget(m_longer_text, 1);
    longer->addWidget(m_apply_longer, 0, Qt::AlignTop);
    m_longer_text->setWordWrap(true);
    m_longer_text->setTextFormat(Qt::PlainText);
    m_longer_text->setObjectName(u"longerText"_s);
    m_apply_longer->setObjectName(u"applyLongerButton"_s);
    m_longer->hide();
    body()->addWidget(m_bar);
    body()->addWidget(m_legend);
    body()->addWidget(m_bounds);
    m_host = addTier("hostBar", tr("Host memory of a node"));
    m_disk = addTier("diskBar", tr("Disk of a node"));
    body()->addWidget(m_unknown);
    body()->addWidget(m_lengths);
    body()->addStretch(1);
    connect(m_slider, &QSlider::valueChanged, this, &MemoryCard::moved);
    connect(m_slider, &QSlider::sliderReleased, this,
            [this] { Q_EMIT lengthWanted(lengthAt(m_slider->value())); });
    connect(m_length, &QSpinBox::valueChanged, this, [this](int length) { Q_EMIT lengthWanted(length); });
    connect(m_apply_longer, &QPushButton::clicked, this, [this] {
        if (m_longer_by) Q_EMIT settingsWanted(m_longer_by->set);
    });
}

MemoryCard::Tier MemoryCard::addTier(const char* object, const QString& accessible_name) {
    const Tier tier{mutedLabel(), new StackedBar, new BarLegend};
    tier.bar->setObjectName(QLatin1StringView(object));
    tier.bar->setAccessibleName(accessible_name);
    tier.legend->setAccessibleName(accessible_name);
    tier.name->setWordWrap(true);
    for (QWidget* widget : {static_cast<QWidget*>(tier.name), static_cast<QWidget*>(tier.bar),
                            static_cast<QWidget*>(tier.legend)})
        body()->addWidget(widget);
    fill(tier, {}, {}, 0, 0);
    return tier;
}

/// Hides the tier if it has no parts.
void MemoryCard::fill(const Tier& tier, const QString& words, std::vector<BarPart> parts, int64_t bytes,
                      int64_t capacity) {
    tier.name->setVisible(!parts.empty());
    tier.bar->setVisible(!parts.empty());
    tier.legend->setVisible(!parts.empty());
    const QString figure = show::bytes(bytes);
    if (!parts.empty())
        tier.name->setText(
            words.arg(capacity > 0 ? tr("%1 of %2").arg(figure, show::bytes(capacity)) : figure));
    tier.legend->setParts(parts);
    tier.bar->setParts(std::move(parts), double(capacity));
}

void MemoryCard::setPlan(const Plan& plan, bool what_if) {
    m_plan = plan;
    m_what_if = what_if;
    writeMemory();
    if (!what_if) writeLengths();
}

void MemoryCard::setLongest(std::optional<int64_t> length, const std::optional<LongerBy>& by) {
    m_longest = length;
    m_longer_by = by;
    writeLengths();
    writeLonger();
}

void MemoryCard::writeMemory() {
    const RankMemory* rank = fullest_rank(m_plan);
    m_bar->setVisible(rank != nullptr);
    m_legend->setVisible(rank != nullptr);
    m_bounds->setVisible(rank != nullptr);
    m_unknown->setVisible(rank == nullptr);
    writeTiers(rank);
    if (!rank) {
        setSubtitle({});
        m_unknown->setText(m_plan.model
                               ? tr("Not known until the problems above are solved.")
                               : tr("The model's shape is not known here, so memory and time are not."));
        return;
    }
    const Colours c = coloursOf(this);
    std::vector<BarPart> parts;
    for (size_t i = 0; i < std::size(kComponents); ++i) {
        const int64_t bytes = rank->*kComponents[i].bytes;
        if (bytes <= 0) continue;
        parts.push_back(
            {tr(kComponents[i].name), show::bytes(bytes), double(bytes), memoryColour(int(i), c)});
    }
    const int64_t device = m_plan.memory->device_bytes;
    m_bar->setParts(parts, double(device), double(rank->total_low), double(rank->total_high));
    m_legend->setParts(parts);
    const QString total = show::bytes(rank->total);
    QString words = device > 0 ? tr("%1 of %2").arg(total, show::bytes(device)) : total;
    if (m_what_if) words += u' ' + tr("if sequence_len were %1").arg(show::count(m_plan.sequence.length));
    m_bounds->setText(tr("low %1 \u00B7 expected %2 \u00B7 high %3")
                          .arg(show::bytes(rank->total_low), total, show::bytes(rank->total_high)));
    setSubtitle(words);
}

/// Shows host memory and disk only if ranks keep something there.
void MemoryCard::writeTiers(const RankMemory* rank) {
    const Memory memory = rank ? *m_plan.memory : Memory();
    const Colours c = coloursOf(this);
    const int64_t offloaded = rank ? rank->host * (m_plan.ranks / m_plan.nodes) : 0;
    const auto part = [&](const QString& name, int64_t bytes, int colour) {
        return BarPart{name, show::bytes(bytes), double(bytes), memoryColour(colour, c)};
    };
    constexpr int kOptimizer = 2, kActivations = 3, kRuntime = 7;  // index in kComponents
    std::vector<BarPart> host, disk;
    if (offloaded > 0)
        host = {part(tr("offloaded"), offloaded, kActivations),
                part(tr("processes"), memory.host_bytes - offloaded, kRuntime)};
    if (memory.disk_bytes > 0) disk = {part(tr("optimizer"), memory.disk_bytes, kOptimizer)};
    fill(m_host, tr("Host memory of a node: %1"), std::move(host), memory.host_bytes,
         memory.host_capacity_bytes);
    fill(m_disk, tr("Disk of a node: %1"), std::move(disk), memory.disk_bytes, memory.disk_capacity_bytes);
}

// ------------------------------------------------------------ trying another length

int64_t MemoryCard::lengthAt(int position) const {
    const double span = std::log2(double(m_most) / double(kLeastTokens));
    const double length = double(kLeastTokens) * std::exp2(span * position / kSteps);
    // Rounds to a multiple of `step`, about 1/32 to 1/16 of the length, so that the layout can divide the
    // result.
    const auto grain = int64_t(std::exp2(std::floor(std::log2(length)) - 4));
    const int64_t step = std::max(m_multiple, grain / m_multiple * m_multiple);
    return std::max<int64_t>(step, std::llround(length / double(step)) * step);
}

int MemoryCard::positionOf(int64_t length) const {
    const double span = std::log2(double(m_most) / double(kLeastTokens));
    const double at = std::log2(double(std::max(length, kLeastTokens)) / double(kLeastTokens)) / span;
    return std::clamp(int(std::lround(at * kSteps)), 0, kSteps);
}

void MemoryCard::writeLengths() {
    const int64_t length = m_plan.sequence.length;
    m_lengths->setVisible(length > 0 && !m_plan.config.accelerate_only);
    if (length <= 0) return;
    m_multiple = length_multiple(m_plan.context_parallel.layout, m_plan.mesh.ring, m_plan.mesh.ulysses);
    m_most =
        std::max({int64_t{4096}, 2 * length, m_longest ? *m_longest + *m_longest / 2 : 0, 64 * m_multiple});
    m_length->setSingleStep(int(std::min<int64_t>(m_multiple, 1 << 20)));
    const QSignalBlocker quiet_slider(m_slider), quiet_length(m_length);
    if (!m_slider->isSliderDown()) {
        m_slider->setValue(positionOf(length));
        m_length->setValue(int(length));
    }
    const bool marked = m_longest && *m_longest > 0;
    m_slider->setMark(marked ? double(positionOf(*m_longest)) / kSteps : -1);
    m_longest_text->setText(marked      ? tr("Longest that fits: %1 tokens").arg(show::count(*m_longest))
                            : m_longest ? tr("No length fits with this mesh and these options.")
                                        : QString());
    m_longest_text->setVisible(!m_longest_text->text().isEmpty());
}

void MemoryCard::writeLonger() {
    m_longer->setVisible(m_longer_by.has_value());
    if (!m_longer_by) return;
    QStringList changes;
    for (const auto& [key, value] : m_longer_by->set)
        changes << u"%1: %2"_s.arg(QString::fromStdString(key), QString::fromStdString(value));
    const QString all = changes.join(u", "_s), length = show::count(m_longer_by->sequence_len);
    //: what allows the longest sequence; %1 is a number, %2 "key: value" or several of them
    m_longer_text->setText(
        tr("Up to %1 tokens with %2").arg(length, QString(all).replace(u": "_s, u":\u00A0"_s)));
    m_apply_longer->setAccessibleName(tr("Apply %1").arg(all));
    m_apply_longer->setToolTip(tr("Writes into the text:") + u'\n' + changes.join(u'\n'));
}

/// Tries a length while the mouse drags and writes it on release; a key press writes at once.
void MemoryCard::moved(int position) {
    const int64_t length = lengthAt(position);
    if (!m_slider->isSliderDown()) {
        Q_EMIT lengthWanted(length);
        return;
    }
    const QSignalBlocker quiet(m_length);
    m_length->setValue(int(length));
    Q_EMIT lengthTried(length);
}

void MemoryCard::changeEvent(QEvent* event) {
    Card::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_bar) writeMemory();
}

}  // namespace ringmaster
