/* SPDX-License-Identifier: Apache-2.0 */
/* libxml2's parser with handlers for elements and text only. */
#include "read/xml.h"

#include <libxml/HTMLparser.h>
#include <libxml/parser.h>
#include <libxml/xmlerror.h>
#include <string.h>

#include "base/library.h"
#include "base/mem.h"
#include "base/text.h"

struct xml_library {
	__typeof__(xmlInitParser) *init_parser;
	__typeof__(xmlCreateIOParserCtxt) *create;
	__typeof__(xmlCtxtUseOptions) *use_options;
	__typeof__(xmlParseDocument) *parse;
	__typeof__(xmlStopParser) *stop;
	__typeof__(xmlCtxtGetLastError) *last_error;
	__typeof__(xmlFreeParserCtxt) *free_parser;
	__typeof__(xmlFreeDoc) *free_doc;
	__typeof__(htmlEntityLookup) *html_entity;
	const char *const *version; /* the variable itself */
};

#define ROW(member, name) { name, offsetof(struct xml_library, member) }
static const struct library_symbol symbols[] = {
	ROW(init_parser, "xmlInitParser"),
	ROW(create, "xmlCreateIOParserCtxt"),
	ROW(use_options, "xmlCtxtUseOptions"),
	ROW(parse, "xmlParseDocument"),
	ROW(stop, "xmlStopParser"),
	ROW(last_error, "xmlCtxtGetLastError"),
	ROW(free_parser, "xmlFreeParserCtxt"),
	ROW(free_doc, "xmlFreeDoc"),
	ROW(html_entity, "htmlEntityLookup"),
	ROW(version, "xmlParserVersion"),
};
#undef ROW

static const struct library row = { { "libxml2.so.2", "libxml2.so.16" },
                                    "XML of documents needs", "libxml2", symbols,
                                    ARRAY_LEN(symbols) };

static struct xml_library library;

bool xml_load(struct err *err)
{
	if (!library.create && !library_load(&row, &library, err))
		return false;
	library.init_parser();
	return true;
}

/* "20914" and what may follow. */
const char *xml_version(void)
{
	static char text[80];
	long number = strtol(*library.version, NULL, 10);

	snprintf(text, sizeof(text), "%ld.%ld.%ld", number / 10000, number / 100 % 100,
	         number % 100);
	return text;
}

/* ---- events ---------------------------------------------------------------------------- */

struct xml_parsing {
	const struct xml_events *events;
	void *self;
	xmlParserCtxtPtr context;
	bool stopped;
};

/* Every handler ends in this. */
static void stop_unless(struct xml_parsing *parsing, bool more)
{
	if (more || parsing->stopped)
		return;
	parsing->stopped = true;
	library.stop(parsing->context);
}

static void handle_start(void *self, const xmlChar *name, const xmlChar *prefix,
                         const xmlChar *uri, int spaces, const xmlChar **space, int count,
                         int defaulted, const xmlChar **attributes)
{
	struct xml_parsing *parsing = self;
	const struct xml_attributes all = { count, (const unsigned char *const *)attributes };

	(void)prefix, (void)uri, (void)spaces, (void)space, (void)defaulted;
	if (!parsing->stopped)
		stop_unless(parsing, parsing->events->start(parsing->self, (const char *)name,
		                                            &all));
}

static void handle_end(void *self, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri)
{
	struct xml_parsing *parsing = self;

	(void)prefix, (void)uri;
	if (!parsing->stopped)
		stop_unless(parsing, parsing->events->end(parsing->self, (const char *)name));
}

static void handle_text(void *self, const xmlChar *text, int len)
{
	struct xml_parsing *parsing = self;
	const struct span span = span_of((const char *)text, (size_t)len);

	if (!parsing->stopped)
		stop_unless(parsing, parsing->events->text(parsing->self, span));
}

/* An entity that is not XML's own. */
static void handle_reference(void *self, const xmlChar *name)
{
	const htmlEntityDesc *entity = library.html_entity(name);
	char bytes[4];

	if (entity)
		handle_text(self, (const xmlChar *)bytes, (int)utf8_put(entity->value, bytes));
}

static void ignore_error(void *self, xmlErrorPtr error)
{
	(void)self, (void)error;
}

/* ---- parsing --------------------------------------------------------------------------- */

static bool refuse_xml(const struct xml_parsing *parsing, struct err *err)
{
	const xmlError *error = library.last_error(parsing->context);
	struct span why = span_trim(span_str(error ? error->message : NULL));

	if (err->code)
		return false;
	why = utf8_head(why, 200);
	return err_set(err, ERR_NOT_TEXT, "It is damaged: its XML is invalid in line %d: %.*s.",
	               error ? error->line : 0, (int)why.len, why.len ? why.data : "");
}

bool xml_parse(xml_source *read, void *source, const struct xml_events *events, void *self,
               struct err *err)
{
	xmlSAXHandler handlers = {
		.initialized = XML_SAX2_MAGIC,
		.startElementNs = handle_start,
		.endElementNs = handle_end,
		.characters = handle_text,
		.ignorableWhitespace = handle_text,
		.cdataBlock = handle_text,
		.reference = handle_reference,
		.serror = (xmlStructuredErrorFunc)ignore_error,
	};
	struct xml_parsing parsing = { .events = events, .self = self };
	bool ok;

	parsing.context = library.create(&handlers, &parsing, read, NULL, source,
	                                 XML_CHAR_ENCODING_NONE);
	if (!parsing.context)
		return err->code ? false :
		       err_set(err, ERR_NOT_TEXT, "It is damaged: an XML part of it is empty.");
	library.use_options(parsing.context, XML_PARSE_NONET | XML_PARSE_NOCDATA);
	library.parse(parsing.context);
	ok = parsing.stopped || parsing.context->wellFormed || refuse_xml(&parsing, err);
	if (parsing.context->myDoc)
		library.free_doc(parsing.context->myDoc);
	library.free_parser(parsing.context);
	return ok;
}

static int read_span(void *source, char *data, int len)
{
	struct span *rest = source;
	const size_t count = rest->len < (size_t)len ? rest->len : (size_t)len;

	memcpy(data, rest->data, count);
	*rest = span_skip(*rest, count);
	return (int)count;
}

bool xml_parse_bytes(struct span bytes, const struct xml_events *events, void *self,
                     struct err *err)
{
	return xml_parse(read_span, &bytes, events, self, err);
}

/* ---- attributes ------------------------------------------------------------------------ */

struct span xml_attribute(const struct xml_attributes *attributes, const char *space,
                          const char *name)
{
	for (int i = 0; i < attributes->count; i++) {
		const unsigned char *const *at = attributes->at + 5 * i;

		if (strcmp((const char *)at[0], name) == 0 &&
		    (!space || span_ends(span_str((const char *)at[2]), span_str(space))))
			return span_of((const char *)at[3], (size_t)(at[4] - at[3]));
	}
	return span_of("", 0);
}

unsigned xml_attribute_count(const struct xml_attributes *attributes, const char *name,
                             unsigned missing, unsigned max)
{
	const struct span text = xml_attribute(attributes, NULL, name);
	const size_t digits = span_digits(text);
	unsigned number = 0;

	for (size_t i = 0; i < digits; i++) {
		number = number * 10 + (unsigned)(text.data[i] - '0');
		if (number >= max)
			return max;
	}
	return digits ? number : missing;
}
