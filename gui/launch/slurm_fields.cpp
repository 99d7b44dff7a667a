#include "gui/launch/slurm_fields.h"

#include <QComboBox>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QSettings>
#include <QSpinBox>
#include <algorithm>

#include "gui/look/card.h"
#include "gui/look/look.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

constexpr int kMostNodes = 100000;
constexpr int kColumns = 3;
constexpr int kShares[kColumns] = {13, 16, 10};  ///< relative widths of the columns

const QString kKept = u"launch/slurm/"_s;

}  // namespace

SlurmFields::SlurmFields(const std::vector<SavedTarget>& saved, QSettings& settings, QWidget* parent)
    : QWidget(parent),
      m_settings(settings),
      m_login(new QComboBox),
      m_partition(new QComboBox),
      m_account(new QLineEdit),
      m_time(new QLineEdit),
      m_gres(new QLineEdit),
      m_nodes(new QSpinBox),
      m_more(new QPlainTextEdit) {
    m_clusters.push_back({{TargetKind::Slurm, ""}, std::nullopt});
    for (const SavedTarget& entry : saved) {
        if (entry.target.kind != TargetKind::Slurm) continue;
        if (entry.target.host.empty())
            m_clusters.front() = entry;
        else
            m_clusters.push_back(entry);
    }
    for (const SavedTarget& entry : m_clusters)
        m_login->addItem(entry.target.host.empty()
                             ? tr("on this machine")
                             //: %1 is a login node
                             : tr("through %1").arg(QString::fromStdString(entry.target.host)));
    m_partition->setEditable(true);
    m_partition->setInsertPolicy(QComboBox::NoInsert);
    m_partition->lineEdit()->setPlaceholderText(tr("the cluster's default"));
    m_account->setPlaceholderText(tr("your default account"));
    m_time->setPlaceholderText(u"4:00:00"_s);
    m_gres->setPlaceholderText(u"gpu:4"_s);
    m_nodes->setRange(0, kMostNodes);
    m_nodes->setButtonSymbols(QAbstractSpinBox::NoButtons);
    m_nodes->setSpecialValueText(tr("as planned"));
    m_more->setPlaceholderText(u"constraint=h100\nmail-type=END"_s);
    m_more->setFont(fontOf(Type::Code));
    m_more->setTabChangesFocus(true);
    m_more->setFixedHeight(space(4));
    layOut();
    m_more->setToolTip(tr("Any other long option of sbatch, key=value, one a line"));
    restore();
    connect(m_login, &QComboBox::currentIndexChanged, this, &SlurmFields::loginChanged);
    connect(m_partition, &QComboBox::currentTextChanged, this, &SlurmFields::changed);
    for (QLineEdit* edit : {m_account, m_time, m_gres})
        connect(edit, &QLineEdit::textChanged, this, &SlurmFields::changed);
    connect(m_nodes, &QSpinBox::valueChanged, this, &SlurmFields::changed);
    connect(m_more, &QPlainTextEdit::textChanged, this, &SlurmFields::changed);
}

void SlurmFields::layOut() {
    struct Field {
        QString text, name;
        QWidget* widget;
    };
    const Field fields[] = {{tr("Submitted"), u"slurmLogin"_s, m_login},
                            {tr("Partition"), u"slurmPartition"_s, m_partition},
                            {tr("Nodes"), u"slurmNodes"_s, m_nodes},
                            {tr("Account"), u"slurmAccount"_s, m_account},
                            {tr("GPUs of a node (gres)"), u"slurmGres"_s, m_gres},
                            {tr("Time"), u"slurmTime"_s, m_time},
                            {tr("More sbatch options, one a line"), u"slurmMore"_s, m_more}};
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(space(0.6));
    grid->setVerticalSpacing(space(0.2));
    int at = 0;
    for (const Field& field : fields) {  // each field goes below its label
        auto* label = mutedLabel(field.text);
        label->setBuddy(field.widget);
        field.widget->setObjectName(field.name);
        field.widget->setAccessibleName(field.text);
        // The columns keep their widths whatever the fields contain, because names of partitions can be long.
        field.widget->setSizePolicy(QSizePolicy::Ignored, field.widget->sizePolicy().verticalPolicy());
        const int row = 2 * (at / kColumns), column = at % kColumns,
                  columns = field.widget == m_more ? kColumns : 1;
        grid->addWidget(label, row, column, 1, columns);
        grid->addWidget(field.widget, row + 1, column, 1, columns);
        if (row == 0) grid->setColumnStretch(column, kShares[column]);
        ++at;
    }
}

void SlurmFields::loginChanged() {
    const QString typed = m_partition->currentText();
    const QSignalBlocker quiet(m_partition);
    m_partition->clear();
    const auto& last = m_clusters[size_t(std::max(0, m_login->currentIndex()))].last;
    if (last) {
        for (const SlurmPartition& partition : last->partitions)
            m_partition->addItem(QString::fromStdString(partition.name));
    }
    m_partition->setCurrentIndex(-1);
    m_partition->setEditText(typed);
    Q_EMIT changed();
}

std::string SlurmFields::login() const {
    return m_clusters[size_t(std::max(0, m_login->currentIndex()))].target.host;
}

std::vector<std::string> SlurmFields::words() const {
    std::vector<std::string> words;
    const auto add = [&](const char* key, const QString& value) {
        if (const QString text = value.trimmed(); !text.isEmpty())
            words.push_back(std::string(key) + "=" + text.toStdString());
    };
    add("partition", m_partition->currentText());
    add("account", m_account->text());
    add("time", m_time->text());
    add("gres", m_gres->text());
    if (m_nodes->value() > 0) add("nodes", QString::number(m_nodes->value()));
    for (const QString& line : m_more->toPlainText().split(u'\n')) {
        if (const QString text = line.trimmed(); !text.isEmpty()) words.push_back(text.toStdString());
    }
    return words;
}

void SlurmFields::keep() {
    m_settings.setValue(kKept + u"login"_s, QString::fromStdString(login()));
    m_settings.setValue(kKept + u"partition"_s, m_partition->currentText());
    m_settings.setValue(kKept + u"account"_s, m_account->text());
    m_settings.setValue(kKept + u"time"_s, m_time->text());
    m_settings.setValue(kKept + u"gres"_s, m_gres->text());
    m_settings.setValue(kKept + u"nodes"_s, m_nodes->value());
    m_settings.setValue(kKept + u"more"_s, m_more->toPlainText());
}

void SlurmFields::restore() {
    const std::string login = m_settings.value(kKept + u"login"_s).toString().toStdString();
    for (size_t i = 0; i < m_clusters.size(); ++i) {
        if (m_clusters[i].target.host == login) m_login->setCurrentIndex(int(i));
    }
    loginChanged();
    m_partition->setEditText(m_settings.value(kKept + u"partition"_s).toString());
    m_account->setText(m_settings.value(kKept + u"account"_s).toString());
    m_time->setText(m_settings.value(kKept + u"time"_s).toString());
    m_gres->setText(m_settings.value(kKept + u"gres"_s).toString());
    m_nodes->setValue(m_settings.value(kKept + u"nodes"_s).toInt());
    m_more->setPlainText(m_settings.value(kKept + u"more"_s).toString());
}

}  // namespace ringmaster
