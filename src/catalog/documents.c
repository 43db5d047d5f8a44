/* SPDX-License-Identifier: Apache-2.0 */
#include "catalog/documents.h"

#include <string.h>

#include "base/span.h"
#include "catalog/private.h"

const struct manual_page *document_at(size_t i)
{
	const struct manual_page *document = &documents_rows[i];

	return document->name ? document : NULL;
}

const struct manual_page *document_named(const char *name)
{
	static const struct span folder = SPAN("docs/"), ending = SPAN(".md");
	struct span wanted = span_str(name);
	const struct manual_page *document;

	if (span_starts(wanted, SPAN("./")))
		wanted = span_skip(wanted, 2);
	if (span_starts(wanted, folder))
		wanted = span_skip(wanted, folder.len);
	if (span_ends(wanted, ending))
		wanted = span_head(wanted, wanted.len - ending.len);
	for (size_t i = 0; (document = document_at(i)); i++)
		if (span_eq(wanted, span_head(span_str(document->name),
		                              strlen(document->name) - ending.len)))
			return document;
	return NULL;
}
