/// Lines up a form's names with its fields.
#pragma once

class QFormLayout;

namespace ringmaster {

/// Gives the names of a form's fields the height of a line in the app's language. Qt puts a lower one, such
/// as a name in Latin letters among Japanese ones, too high beside its field.
void alignNames(const QFormLayout* form);

}  // namespace ringmaster
