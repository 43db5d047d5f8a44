/* SPDX-License-Identifier: Apache-2.0 */
/* Taking a diff out of what models wrap it in: code fences and indentation.
 */
#ifndef HASP_PATCH_UNWRAP_H
#define HASP_PATCH_UNWRAP_H

#include "base/buf.h"
#include "base/span.h"

/* Returns `text` itself when nothing wraps it, otherwise the unwrapped text in
 * *storage.  Lines that are left out stay as empty prose before the first hunk or
 * vanish between blocks; line numbers of the diff then count from the unwrapped text. */
struct span diff_unwrap(struct span text, struct buf *storage);

#endif
