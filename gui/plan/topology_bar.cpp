#include "gui/plan/topology_bar.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QVBoxLayout>
#include <cmath>

#include "gui/look/card.h"
#include "gui/look/flow_layout.h"
#include "gui/look/look.h"
#include "gui/look/numbers.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

constexpr int kMostRanks = 65536;
constexpr int kMemoryCharacters = 8;  ///< minimum width of the memory field: fits "1024 GiB"
constexpr double kGiB = double(int64_t{1} << 30);

/// Places a control under its name.
QWidget* named(const QString& name, QWidget* control) {
    auto* box = new QWidget;
    auto* layout = new QVBoxLayout(box);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space(0.1));
    auto* label = qobject_cast<QLabel*>(mutedLabel(name));
    label->setBuddy(control);
    control->setAccessibleName(name);
    layout->addWidget(label);
    layout->addWidget(control);
    return box;
}

void set_up(QAbstractSpinBox* box, const QString& name) {
    box->setObjectName(name);
    box->setKeyboardTracking(false);
    box->setAccelerated(true);
    box->setButtonSymbols(QAbstractSpinBox::NoButtons);
}

}  // namespace

TopologyBar::TopologyBar(QWidget* parent)
    : QWidget(parent),
      m_ranks(new QSpinBox),
      m_nodes(new QSpinBox),
      m_device(new QComboBox),
      m_memory(new QDoubleSpinBox),
      m_accelerate(new QPushButton) {
    set_up(m_ranks, u"ranksBox"_s);
    m_ranks->setRange(0, kMostRanks);
    m_ranks->setToolTip(tr("Ranks in total, one for each GPU"));
    set_up(m_nodes, u"nodesBox"_s);
    m_nodes->setRange(0, kMostRanks);
    m_nodes->setToolTip(tr("Machines that the ranks are spread over"));
    m_device->setObjectName(u"deviceBox"_s);
    m_device->addItems({tr("auto"), tr("GPU"), tr("CPU")});
    m_device->setToolTip(tr("What the ranks run on"));
    set_up(m_memory, u"deviceMemoryBox"_s);
    m_memory->setRange(0, 100000);
    m_memory->setDecimals(0);
    m_memory->setSuffix(u" GiB"_s);
    m_memory->setToolTip(tr("Memory of one device"));
    m_accelerate->setObjectName(u"accelerateButton"_s);
    auto* layout = new FlowLayout(space(0.5), this);
    layout->addWidget(named(tr("Ranks"), m_ranks));
    layout->addWidget(named(tr("Nodes"), m_nodes));
    layout->addWidget(named(tr("Device"), m_device));
    layout->addWidget(named(tr("Device memory"), m_memory));
    layout->addWidget(named(tr("accelerate file"), m_accelerate));
    writeAccelerate();
    const auto tell = [this] { Q_EMIT changed(); };
    connect(m_ranks, &QSpinBox::valueChanged, this, tell);
    connect(m_nodes, &QSpinBox::valueChanged, this, tell);
    connect(m_device, &QComboBox::currentIndexChanged, this, tell);
    connect(m_memory, &QDoubleSpinBox::valueChanged, this, tell);
    connect(m_accelerate, &QPushButton::clicked, this, &TopologyBar::chooseAccelerate);
    showPlanned(Plan());
}

void TopologyBar::fill(Request& request) const {
    request.accelerate_file = m_accelerate_file.toStdString();
    if (m_ranks->value() > 0) request.ranks = m_ranks->value();
    if (m_nodes->value() > 0) request.nodes = m_nodes->value();
    if (m_device->currentIndex() > 0)
        request.device = m_device->currentIndex() == 1 ? Device::Cuda : Device::Cpu;
    if (m_memory->value() > 0) request.device_memory_bytes = std::llround(m_memory->value() * kGiB);
}

void TopologyBar::choose(const Request& request) {
    const QSignalBlocker quiet(this);
    m_ranks->setValue(request.ranks.value_or(0));
    m_nodes->setValue(request.nodes.value_or(0));
    m_device->setCurrentIndex(!request.device ? 0 : *request.device == Device::Cuda ? 1 : 2);
    m_memory->setValue(double(request.device_memory_bytes.value_or(0)) / kGiB);
    m_accelerate_file = QString::fromStdString(request.accelerate_file);
    writeAccelerate();
}

void TopologyBar::showPlanned(const Plan& plan) {
    //: the program's automatic choice and its result, such as "auto (8)"
    const auto automatic = [](const QString& value) { return tr("auto (%1)").arg(value); };
    m_ranks->setSpecialValueText(automatic(show::count(plan.ranks)));
    m_nodes->setSpecialValueText(automatic(show::count(plan.nodes)));
    m_device->setItemText(0, automatic(plan.device == Device::Cuda ? tr("GPU") : tr("CPU")));
    const int64_t bytes = plan.memory ? plan.memory->device_bytes : 0;
    m_memory->setSpecialValueText(bytes > 0 ? automatic(show::bytes(bytes)) : tr("auto"));
    // With a style sheet, a spin box no longer reserves the width of its special value's text.
    for (QAbstractSpinBox* box : std::initializer_list<QAbstractSpinBox*>{m_ranks, m_nodes, m_memory}) {
        box->ensurePolished();  // sets the font in which it is drawn
        const QString widest =
            box == m_memory ? box->text().rightJustified(kMemoryCharacters, u'0') : box->specialValueText();
        box->setMinimumWidth(box->fontMetrics().horizontalAdvance(widest) + space(1.8));
        box->parentWidget()->layout()->activate();
    }
    layout()->activate();
}

void TopologyBar::writeAccelerate() {
    m_accelerate->setText(m_accelerate_file.isEmpty()
                              ? tr("None\u2026")
                              : QFileInfo(m_accelerate_file).fileName() + u" \u00D7"_s);
    m_accelerate->setToolTip(
        m_accelerate_file.isEmpty()
            ? tr("Take parallel sizes from an accelerate YAML")
            : tr("%1 overrides the sizes of the text. Press to leave it out.").arg(m_accelerate_file));
}

void TopologyBar::chooseAccelerate() {
    if (m_accelerate_file.isEmpty()) {
        m_accelerate_file =
            QFileDialog::getOpenFileName(this, tr("Open an accelerate file"), {},
                                         tr("YAML (*.yaml *.yml)") + u";;"_s + tr("All files (*)"));
    } else {
        m_accelerate_file.clear();
    }
    writeAccelerate();
    Q_EMIT changed();
}

}  // namespace ringmaster
