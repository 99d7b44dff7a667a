#include "gui/try/publish_dialog.h"

#include <QCheckBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRegularExpressionValidator>

#include "gui/look/card.h"
#include "gui/look/form.h"
#include "gui/look/look.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

PublishDialog::PublishDialog(const QString& name, bool has_run, QWidget* parent)
    : FittedDialog(parent), m_repository(new QLineEdit), m_private(new QCheckBox(tr("Private"))) {
    setObjectName(u"publishDialog"_s);
    setWindowTitle(tr("Upload to the Hugging Face hub"));
    m_repository->setObjectName(u"publishRepository"_s);
    m_repository->setAccessibleName(tr("Repository"));
    m_repository->setPlaceholderText(tr("owner/%1").arg(name));
    // This is the hub's own rule: a name has letters, digits and . _ - and at most 96 characters.
    static const QRegularExpression rule(u"[A-Za-z0-9][\\w.-]{0,95}/[A-Za-z0-9][\\w.-]{0,95}"_s);
    m_repository->setValidator(new QRegularExpressionValidator(rule, this));
    m_private->setObjectName(u"publishPrivate"_s);
    m_private->setChecked(true);
    m_private->setToolTip(tr("A repository that is made is private"));
    auto* about = mutedLabel(
        has_run ? tr("The hub's own client uploads the model's folder, with your login. A card goes with it: "
                     "figures, loss, "
                     "data, proof and configuration, without secrets. An existing README.md is kept.")
                : tr("The hub's own client uploads the folder, with your login."));
    about->setWordWrap(true);
    auto* form = new QFormLayout;
    form->addRow(tr("Repository"), m_repository);
    form->addRow(QString(), m_private);
    alignNames(form);
    auto* cancel = new QPushButton(tr("Cancel"));
    QPushButton* upload = primaryButton(tr("Upload"));
    upload->setObjectName(u"publishUploadButton"_s);
    upload->setEnabled(false);
    upload->setDefault(true);
    auto* buttons = twoButtons(upload, cancel);
    auto* lacks = mutedLabel(tr("Name a repository to upload to: owner/name."));
    lacks->setObjectName(u"publishLacks"_s);
    lacks->setWordWrap(true);
    connect(m_repository, &QLineEdit::textChanged, this, [this, upload, lacks] {
        upload->setEnabled(m_repository->hasAcceptableInput());
        lacks->setVisible(!m_repository->hasAcceptableInput());
        fitHeight();
    });
    connect(upload, &QPushButton::clicked, this, &QDialog::accept);
    connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
    rows()->addWidget(about);
    rows()->addLayout(form);
    rows()->addWidget(lacks);
    rows()->addWidget(buttons);
    setMinimumWidth(space(30));
}

QString PublishDialog::repository() const {
    return m_repository->text();
}

bool PublishDialog::isPrivate() const {
    return m_private->isChecked();
}

}  // namespace ringmaster
