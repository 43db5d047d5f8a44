/* SPDX-License-Identifier: Apache-2.0 */
/* hasp(1), in mdoc(7), computed from the tables of commands and tools. */
#ifndef HASP_CLI_OPTIONS_MANPAGE_H
#define HASP_CLI_OPTIONS_MANPAGE_H

#include "base/buf.h"

void manpage_print(struct buf *out);

#endif
