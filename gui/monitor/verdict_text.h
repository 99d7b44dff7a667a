/// Returns the verdict, its reason and what to do next, in the app's language.
#pragma once

#include <QString>

#include "gui/look/card.h"
#include "launcher/history/diagnosis.h"

namespace ringmaster {

struct VerdictText {
    Tone tone = Tone::Plain;
    QString verdict, why, next;
};

VerdictText verdictText(const Diagnosis& diagnosis);

}  // namespace ringmaster
