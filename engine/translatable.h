/// Marks texts that the app translates: lupdate looks for Qt's macro, and programs without Qt need a
/// stand-in.
#pragma once

#ifndef QT_TRANSLATE_NOOP
#define QT_TRANSLATE_NOOP(context, text) text
#endif
