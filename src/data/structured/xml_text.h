/* SPDX-License-Identifier: Apache-2.0 */
/* What reading and writing XML share: names, and values in the form that a tree has. */
#ifndef HASP_DATA_STRUCTURED_XML_TEXT_H
#define HASP_DATA_STRUCTURED_XML_TEXT_H

#include "data/structured/private.h"

/* Past the name (XML 1.0, section 2.3) at `at`; `at` if there is none. */
uint32_t xml_text_name_end(struct span text, uint32_t at);

#endif
