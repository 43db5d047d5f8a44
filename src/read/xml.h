/* SPDX-License-Identifier: Apache-2.0 */
/* XML as a stream of events, by libxml2: no tree, so memory does not grow with the document.
 *
 *     static const struct xml_events events = { on_start, on_text, on_end };
 *
 *     ok = xml_parse(read, source, &events, self, &err);
 *
 * Entities that a document declares are not expanded and external ones are not loaded: no entity
 * is ever declared, because the parser's handlers for declarations are absent.  Names of HTML's
 * (&nbsp;) are their characters.  Names of elements are local ones, without their prefix.
 */
#ifndef HASP_READ_XML_H
#define HASP_READ_XML_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/span.h"

struct xml_attributes {
	int count;
	const unsigned char *const *at; /* libxml2's: five pointers each */
};

/* Each returns false to end the parsing, which is no error. */
struct xml_events {
	bool (*start)(void *self, const char *name, const struct xml_attributes *attributes);
	bool (*text)(void *self, struct span text); /* in pieces */
	bool (*end)(void *self, const char *name);
};

/* Up to `len` bytes of the document: 0 at its end, -1 after a failure, when the
 * function has set the error that xml_parse was given. */
typedef int xml_source(void *source, char *data, int len);

/* Loads libxml2, for format_*_load; later calls do nothing. */
bool xml_load(struct err *err);
/* "2.9.14" */
const char *xml_version(void);

/* Parses a document.  NOT_TEXT: it is not well-formed (with the line); what came before was
 * reported by events. */
bool xml_parse(xml_source *read, void *source, const struct xml_events *events, void *self,
               struct err *err);
bool xml_parse_bytes(struct span bytes, const struct xml_events *events, void *self,
                     struct err *err);

/* The value of the attribute with that local name, which lasts until the event's function returns;
 * the empty span without it.  `space`: how the URI of its namespace ends; NULL: any. */
struct span xml_attribute(const struct xml_attributes *attributes, const char *space,
                          const char *name);
/* The same as a number from 0 to `max`; `missing` if there is none. */
unsigned xml_attribute_count(const struct xml_attributes *attributes, const char *name,
                             unsigned missing, unsigned max);

#endif
