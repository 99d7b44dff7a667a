/// Aligns the labels of a form with its fields.
#pragma once

class QFormLayout;

namespace ringmaster {

/// Gives a form's labels the height of a line in the app's language. Otherwise Qt would place a lower label,
/// such as a Latin one among Japanese ones, too high next to its field.
void alignNames(const QFormLayout* form);

}  // namespace ringmaster
