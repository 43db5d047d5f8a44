/* SPDX-License-Identifier: Apache-2.0 */
/* Documents that are ZIP archives of XML: Office Open XML, OpenDocument, EPUB.
 *
 *     struct package *package = package_open(input, &err);
 *
 *     ok = package_parse(package, "word/document.xml", &events, self, &err);
 *     package_free(package);
 *
 * One pass over the archive notes its members and keeps the content of small ones that are XML or
 * HTML; larger ones are parsed as a stream out of the archive, as often as they are asked for.
 */
#ifndef HASP_READ_PACKAGE_H
#define HASP_READ_PACKAGE_H

#include "read/format.h"
#include "read/xml.h"

struct package;

/* Loads what packages need, for format_*_load. */
bool package_load(struct err *err);
/* "libarchive 3.6.2, libxml2 2.9.14" */
void package_library(struct derive_result *ret);

/* NULL after an error.  NOT_TEXT: damaged or encrypted; TOO_LARGE: a bomb, or too many members. */
struct package *package_open(const struct format_input *input, struct err *err);
void package_free(struct package *package); /* NULL is fine */

static inline void package_cleanup_free(struct package **package)
{
	package_free(*package);
}
#define _cleanup_package_ __attribute__((cleanup(package_cleanup_free)))

/* Whether it has a member of that name. */
bool package_has(const struct package *package, const char *name);
/* The content of a member if it is kept in memory (borrowed); else the empty span. */
struct span package_bytes(const struct package *package, const char *name);
/* Parses a member as xml_parse does.  NOT_TEXT also if it is missing. */
bool package_parse(struct package *package, const char *name, const struct xml_events *events,
                   void *self, struct err *err);

/* ---- relationships of Office Open XML ---- */

struct package_relation {
	char *id, *type; /* "rId3"; the last word of its type: "slide", "officeDocument" */
	char *target;    /* the member that it leads to */
};

struct package_relations {
	struct package_relation *all;
	size_t count, cap;
};

/* Those of a member ("" is the package): none without a part for them.  NOT_TEXT: damaged. */
bool package_relations(struct package *package, const char *member,
                       struct package_relations *ret, struct err *err);
void package_relations_release(struct package_relations *relations);
#define _cleanup_package_relations_ __attribute__((cleanup(package_relations_release)))
/* The target by id, or the first of a type; NULL: none. */
const char *package_target(const struct package_relations *relations, struct span id);
const char *package_target_of_type(const struct package_relations *relations, const char *type);
/* The main part of an Office Open XML document, `usual` if it names none; the caller frees.  NULL
 * after an error. */
char *package_main(struct package *package, const char *usual, struct err *err);
/* A path that stands in the member `from`, as a member's name: "../media/a.png" in
 * "ppt/slides/slide1.xml" is "ppt/media/a.png".  What follows "#" is cut off, %20 decoded.  The
 * caller frees. */
char *package_resolve(const char *from, struct span path);

/* The core properties (title, author, dates), of both families, as facts; none if damaged. */
void package_facts(struct package *package, const char *member, struct derive_result *ret);

#endif
