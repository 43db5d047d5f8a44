/* SPDX-License-Identifier: Apache-2.0 */
/* What reading and writing YAML share: how plain scalars are read, and the text between nodes. */
#ifndef HASP_DATA_STRUCTURED_YAML_TEXT_H
#define HASP_DATA_STRUCTURED_YAML_TEXT_H

#include "data/structured/private.h"

/* What a plain scalar of that text is, by the core schema. */
enum structured_kind yaml_text_kind(struct span text);
/* Past white space, line ends and comments. */
uint32_t yaml_text_skip(struct span text, uint32_t at);
/* After the anchor and tag that follow; `at` if there is neither. */
uint32_t yaml_text_properties(struct span text, uint32_t at);

#endif
