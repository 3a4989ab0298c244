// Marks what libkstream exports; everything else stays hidden.
#ifndef KSTREAM_EXPORT_H_
#define KSTREAM_EXPORT_H_

#define KSTREAM_EXPORT [[gnu::visibility("default")]]

#endif  // KSTREAM_EXPORT_H_
