/* SPDX-License-Identifier: Apache-2.0 */
/* ZIP archives of XML parts. */
#include "read/package.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "read/archives.h"

enum {
	PACKAGE_MEMBERS = 100000,
	PACKAGE_KEPT = 64 << 20,        /* bytes of all members that are kept */
	PACKAGE_KEPT_MEMBER = 4 << 20,
	PACKAGE_RELATIONS = 100000,
};

struct package_member {
	char *name;
	struct buf bytes; /* of a member that is kept */
	bool kept;
	size_t order;     /* of entries of one name the first counts */
};

struct package {
	const struct format_input *input; /* borrowed */
	struct package_member *members;   /* in the order of their names */
	size_t count, cap, kept;
};

bool package_load(struct err *err)
{
	return archives_load(err) && xml_load(err);
}

void package_library(struct derive_result *ret)
{
	format_library(ret, "%s, libxml2 %s", archives_library()->version(), xml_version());
}

/* ---- members --------------------------------------------------------------------------- */

static bool is_markup(const char *name)
{
	static const char *const endings[] = { ".xml", ".rels", ".xhtml", ".html", ".htm",
		                               ".opf", ".ncx" };

	for (size_t i = 0; i < ARRAY_LEN(endings); i++)
		if (span_ends(span_str(name), span_str(endings[i])))
			return true;
	return false;
}

/* Reads the current member to its end, or until it is too large to be kept. */
static bool keep_member(struct archives_source *source, struct package *package,
                        struct package_member *member, struct err *err)
{
	ssize_t count;

	member->bytes = (struct buf)BUF_INIT(PACKAGE_KEPT_MEMBER);
	do {
		char *room = buf_reserve(&member->bytes, 32 << 10);

		if (!room || package->kept + member->bytes.len > PACKAGE_KEPT) {
			buf_release(&member->bytes);
			return true;
		}
		count = archives_read(source, room, 32 << 10, err);
		member->bytes.len += count > 0 ? (size_t)count : 0;
	} while (count > 0);
	package->kept += member->bytes.len;
	member->kept = count == 0;
	return count == 0;
}

static int compare_names(const void *a, const void *b)
{
	const struct package_member *left = a, *right = b;
	const int order = strcmp(left->name, right->name);

	return order ? order : left->order < right->order ? -1 : 1;
}

static bool read_members(struct package *package, struct archives_source *source, struct err *err)
{
	const struct archives_library *lib = archives_library();
	struct archive_entry *entry;

	while (archives_next(source, &entry, err)) {
		const char *name = entry ? lib->pathname(entry) : NULL;
		struct package_member *member;

		if (!entry)
			return true;
		if (package->count == PACKAGE_MEMBERS)
			return err_set(err, ERR_TOO_LARGE,
			               "It has more than %d members: no document has so many.",
			               PACKAGE_MEMBERS);
		if (!name || lib->filetype(entry) != AE_IFREG)
			continue;
		if (lib->data_encrypted(entry))
			return err_set(err, ERR_NOT_TEXT, "It is encrypted.");
		package->members = mem_grow(package->members, &package->cap, package->count + 1,
		                            sizeof(*member));
		member = &package->members[package->count];
		*member = (struct package_member){ .name = mem_strdup(name),
			                           .order = package->count++ };
		if (is_markup(name) && !keep_member(source, package, member, err))
			return false;
	}
	return false;
}

struct package *package_open(const struct format_input *input, struct err *err)
{
	struct package *package = mem_alloc(1, sizeof(*package));
	struct archives_source source;
	bool ok;

	package->input = input;
	ok = archives_open(&source, input, ARCHIVES_ZIP, err) &&
	     read_members(package, &source, err);
	archives_close(&source);
	if (!ok) {
		package_free(package);
		return NULL;
	}
	if (package->count)
		qsort(package->members, package->count, sizeof(*package->members),
		      compare_names);
	return package;
}

void package_free(struct package *package)
{
	for (size_t i = 0; package && i < package->count; i++) {
		free(package->members[i].name);
		buf_release(&package->members[i].bytes);
	}
	if (package)
		free(package->members);
	free(package);
}

static const struct package_member *find_member(const struct package *package, const char *name)
{
	size_t from = 0, to = package->count;

	while (from < to) {
		const size_t middle = from + (to - from) / 2;

		if (strcmp(package->members[middle].name, name) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from < package->count && strcmp(package->members[from].name, name) == 0 ?
	       &package->members[from] : NULL;
}

bool package_has(const struct package *package, const char *name)
{
	return find_member(package, name) != NULL;
}

struct span package_bytes(const struct package *package, const char *name)
{
	const struct package_member *member = find_member(package, name);

	return member && member->kept ? buf_view(&member->bytes) : span_of("", 0);
}

/* ---- parsing --------------------------------------------------------------------------- */

struct member_stream {
	struct archives_source source;
	struct err *err;
};

static int read_member_stream(void *stream_, char *data, int len)
{
	struct member_stream *stream = stream_;

	return (int)archives_read(&stream->source, data, (size_t)len, stream->err);
}

static bool parse_stream(struct package *package, const char *name,
                         const struct xml_events *events, void *self, struct err *err)
{
	struct member_stream stream = { .err = err };
	struct archive_entry *entry;
	bool ok = archives_open(&stream.source, package->input, ARCHIVES_ZIP, err);

	while (ok && (ok = archives_next(&stream.source, &entry, err)) && entry) {
		const char *own = archives_library()->pathname(entry);

		if (own && strcmp(own, name) == 0) {
			ok = xml_parse(read_member_stream, &stream, events, self, err);
			break;
		}
	}
	archives_close(&stream.source);
	return ok;
}

bool package_parse(struct package *package, const char *name, const struct xml_events *events,
                   void *self, struct err *err)
{
	const struct package_member *member = find_member(package, name);

	if (!member)
		return err_set(err, ERR_NOT_TEXT, "It is damaged: it has no part %.200s.", name);
	if (!member->kept)
		return parse_stream(package, name, events, self, err);
	return xml_parse_bytes(buf_view(&member->bytes), events, self, err);
}

/* ---- relationships --------------------------------------------------------------------- */

struct relations_parsing {
	struct package_relations *ret;
	const char *from;
};

static bool relation_start(void *self, const char *name, const struct xml_attributes *attributes)
{
	struct relations_parsing *parsing = self;
	struct package_relations *ret = parsing->ret;
	const struct span id = xml_attribute(attributes, NULL, "Id"),
	                  target = xml_attribute(attributes, NULL, "Target");
	struct span type = xml_attribute(attributes, NULL, "Type");

	if (strcmp(name, "Relationship") != 0 ||
	    span_eq(xml_attribute(attributes, NULL, "TargetMode"), SPAN("External")))
		return true;
	for (size_t i = type.len; i > 0; i--)
		if (type.data[i - 1] == '/') {
			type = span_skip(type, i);
			break;
		}
	ret->all = mem_grow(ret->all, &ret->cap, ret->count + 1, sizeof(*ret->all));
	ret->all[ret->count++] = (struct package_relation){
		.id = mem_dup(id.data, id.len),
		.type = mem_dup(type.data, type.len),
		.target = package_resolve(parsing->from, target),
	};
	return ret->count < PACKAGE_RELATIONS;
}

static bool ignore_text(void *self, struct span text)
{
	(void)self, (void)text;
	return true;
}

static bool ignore_end(void *self, const char *name)
{
	(void)self, (void)name;
	return true;
}

static int compare_relations(const void *a, const void *b)
{
	return strcmp(((const struct package_relation *)a)->id,
	              ((const struct package_relation *)b)->id);
}

bool package_relations(struct package *package, const char *member,
                       struct package_relations *ret, struct err *err)
{
	static const struct xml_events events = { relation_start, ignore_text, ignore_end };
	struct relations_parsing parsing = { ret, member };
	const char *slash = strrchr(member, '/');
	const int folder = slash ? (int)(slash - member) + 1 : 0;
	_cleanup_free_ char *name = mem_printf("%.*s_rels/%s.rels", folder, member,
	                                       member + folder);

	*ret = (struct package_relations){ 0 };
	if (!package_has(package, name))
		return true;
	if (!package_parse(package, name, &events, &parsing, err)) {
		package_relations_release(ret);
		return false;
	}
	if (ret->count)
		qsort(ret->all, ret->count, sizeof(*ret->all), compare_relations);
	return true;
}

void package_relations_release(struct package_relations *relations)
{
	for (size_t i = 0; i < relations->count; i++) {
		free(relations->all[i].id);
		free(relations->all[i].type);
		free(relations->all[i].target);
	}
	free(relations->all);
	*relations = (struct package_relations){ 0 };
}

const char *package_target(const struct package_relations *relations, struct span id)
{
	size_t from = 0, to = relations->count;

	while (from < to) {
		const size_t middle = from + (to - from) / 2;
		const struct span at = span_str(relations->all[middle].id);
		const size_t len = at.len < id.len ? at.len : id.len;
		const int order = len ? memcmp(at.data, id.data, len) : 0;

		if (order == 0 && at.len == id.len)
			return relations->all[middle].target;
		if (order < 0 || (order == 0 && at.len < id.len))
			from = middle + 1;
		else
			to = middle;
	}
	return NULL;
}

const char *package_target_of_type(const struct package_relations *relations, const char *type)
{
	for (size_t i = 0; i < relations->count; i++)
		if (strcmp(relations->all[i].type, type) == 0)
			return relations->all[i].target;
	return NULL;
}

char *package_main(struct package *package, const char *usual, struct err *err)
{
	_cleanup_package_relations_ struct package_relations relations = { 0 };
	const char *target;

	if (!package_relations(package, "", &relations, err))
		return NULL;
	target = package_target_of_type(&relations, "officeDocument");
	return mem_strdup(target && package_has(package, target) ? target : usual);
}

/* Appends one name of a path: ".." takes the last away. */
static void put_step(struct buf *out, struct span step)
{
	if (span_eq(step, SPAN("..")) || span_eq(step, SPAN("."))) {
		while (step.len == 2 && out->len && out->data[--out->len] != '/')
			;
		return;
	}
	if (out->len && step.len)
		buf_char(out, '/');
	for (size_t i = 0; i < step.len; i++) {
		const bool escape = step.data[i] == '%' && i + 2 < step.len &&
		                    ascii_hex(step.data[i + 1]) >= 0 &&
		                    ascii_hex(step.data[i + 2]) >= 0;
		const int byte = escape ? ascii_hex(step.data[i + 1]) * 16 +
		                          ascii_hex(step.data[i + 2]) : 0;

		buf_char(out, byte ? (char)byte : step.data[i]);
		i += byte ? 2 : 0;
	}
}

char *package_resolve(const char *from, struct span path)
{
	_cleanup_buf_ struct buf out = BUF_INIT(path.len + strlen(from) + 2);
	const char *slash = strrchr(from, '/');
	const char *mark = path.len ? memchr(path.data, '#', path.len) : NULL;

	if (mark)
		path.len = (size_t)(mark - path.data);
	if (slash && !span_starts(path, SPAN("/")))
		buf_append(&out, from, (size_t)(slash - from));
	while (path.len) {
		const char *next = memchr(path.data, '/', path.len);
		const size_t len = next ? (size_t)(next - path.data) : path.len;

		put_step(&out, span_head(path, len));
		path = span_skip(path, len + (next != NULL));
	}
	return buf_steal(&out);
}

/* ---- properties ------------------------------------------------------------------------ */

struct properties_parsing {
	struct derive_result *ret;
	const char *fact; /* of the element that is open; NULL: none */
	struct buf text;
};

static bool property_start(void *self, const char *name, const struct xml_attributes *attributes)
{
	static const struct {
		const char *element, *fact;
	} rows[] = {
		{ "title", "title" }, { "creator", "author" }, { "initial-creator", "author" },
		{ "subject", "subject" }, { "created", "created" },
		{ "creation-date", "created" }, { "modified", "modified" },
		{ "date", "modified" }, { "language", "language" },
		{ "publisher", "publisher" },
	};
	struct properties_parsing *parsing = self;

	(void)attributes;
	parsing->fact = NULL;
	buf_clear(&parsing->text);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (strcmp(name, rows[i].element) == 0)
			parsing->fact = rows[i].fact;
	return true;
}

static bool property_text(void *self, struct span text)
{
	struct properties_parsing *parsing = self;

	if (parsing->fact)
		buf_span(&parsing->text, text);
	return true;
}

static bool property_end(void *self, const char *name)
{
	struct properties_parsing *parsing = self;

	if (parsing->fact && !json_object_get(parsing->ret->facts, parsing->fact))
		format_fact(parsing->ret, parsing->fact, buf_view(&parsing->text));
	parsing->fact = NULL;
	/* What follows in an EPUB is no property. */
	return strcmp(name, "metadata") != 0;
}

void package_facts(struct package *package, const char *member, struct derive_result *ret)
{
	static const struct xml_events events = { property_start, property_text, property_end };
	struct properties_parsing parsing = { .ret = ret, .text = BUF_INIT(4 << 10) };
	struct err ignored = ERR_INIT;

	if (package_has(package, member))
		package_parse(package, member, &events, &parsing, &ignored);
	buf_release(&parsing.text);
}
