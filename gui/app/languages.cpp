#include "gui/app/languages.h"

#include <QFontDatabase>
#include <QGuiApplication>
#include <QLibraryInfo>
#include <QLocale>
#include <QTranslator>
#include <algorithm>

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

QString now = u"en"_s;

/// Names of keys that Qt shows in menus and tool tips. They are translated here because the package with Qt's
/// translations may be missing.
[[maybe_unused]] constexpr const char* kKeys[] = {
    QT_TRANSLATE_NOOP("QShortcut", "Ctrl"), QT_TRANSLATE_NOOP("QShortcut", "Shift"),
    QT_TRANSLATE_NOOP("QShortcut", "Return"), QT_TRANSLATE_NOOP("QShortcut", "Del")};

QString known_code(const QString& wanted) {
    const QString name = wanted.isEmpty() ? QLocale::system().name() : wanted;
    for (const Language& language : languages_known())
        if (name == language.code || name.section(u'_', 0, 0) == language.code.section(u'_', 0, 0))
            return language.code;
    return u"en"_s;
}

QTranslator& installed(int which) {
    static QTranslator translators[2];
    QCoreApplication::removeTranslator(&translators[which]);
    return translators[which];
}

/// Draws all texts of a language with one family made for it, if one is installed. Otherwise Qt would take
/// only the characters that the system's family lacks from another family, and digits and full stops would
/// change their shape within a line.
void use_font_of(const QString& code) {
    static const QFont system = QGuiApplication::font();
    QFont font = system;
    const QStringList installed = QFontDatabase::families();
    for (const Language& language : languages_known()) {
        if (language.code != code) continue;
        const auto found = std::ranges::find_if(
            language.families, [&](const QString& family) { return installed.contains(family); });
        if (found != language.families.end()) font.setFamilies(QStringList{*found} + system.families());
    }
    QGuiApplication::setFont(font);
}

}  // namespace

const std::vector<Language>& languages_known() {
    static const std::vector<Language> all{
        {u"en"_s, u"English"_s},
        {u"de"_s, u"Deutsch"_s},
        {u"ja"_s, u"日本語"_s, {u"Noto Sans CJK JP"_s, u"Noto Sans JP"_s, u"IPAexGothic"_s, u"VL PGothic"_s}},
        {u"zh_CN"_s, u"简体中文"_s, {u"Noto Sans CJK SC"_s, u"Noto Sans SC"_s, u"WenQuanYi Micro Hei"_s}}};
    return all;
}

void use_language(const QString& code) {
    now = known_code(code);
    const QLocale system = QLocale::system();
    // Keeps the system's conventions (decimal sign, dates) if the system uses the same language.
    QLocale::setDefault(system.name().section(u'_', 0, 0) == now.section(u'_', 0, 0) ? system : QLocale(now));
    use_font_of(now);
    QTranslator& qt = installed(0);
    if (qt.load(u"qtbase_"_s + now, QLibraryInfo::path(QLibraryInfo::TranslationsPath)))
        QCoreApplication::installTranslator(&qt);
    QTranslator& ours = installed(1);
    if (ours.load(u":/i18n/ringmaster_"_s + now)) QCoreApplication::installTranslator(&ours);
}

QString language_now() {
    return now;
}

}  // namespace ringmaster
