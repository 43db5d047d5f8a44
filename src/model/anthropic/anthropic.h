/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: what the Messages API answers. */
#ifndef HASP_MODEL_ANTHROPIC_ANTHROPIC_H
#define HASP_MODEL_ANTHROPIC_ANTHROPIC_H

#include "model/provider.h"
#include "model/wire.h"

extern const struct provider_reader anthropic_reader;

/* Of an answer with an error status (provider.h, `error`), or, with 0, of an error in a stream. */
enum wire_trouble anthropic_error(int status, const json_t *value, double *delay_s,
                                  struct err *err);

#endif
