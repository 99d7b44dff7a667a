/// The verdict, why, and what next, in the app's language.
#pragma once

#include <QString>

#include "gui/look/card.h"
#include "launcher/diagnosis.h"

namespace ringmaster {

struct VerdictText {
    Tone tone = Tone::Plain;
    QString verdict, why, next;
};

VerdictText verdictText(const Diagnosis& diagnosis);
QString phaseText(const std::string& phase);  ///< "loading the model"

}  // namespace ringmaster
