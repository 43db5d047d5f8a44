/* SPDX-License-Identifier: Apache-2.0 */
/* The structure of values: which paths there are, what stands there and how often.
 *
 * The items of an array are one path, `[]`, and so are the members of an object that is used as a
 * table, with many keys and values that are alike: jq's `.[]` gives the values of both. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "read/query.h"

enum shape_kind {
	SHAPE_NULL,
	SHAPE_BOOLEAN,
	SHAPE_INTEGER,
	SHAPE_NUMBER,
	SHAPE_STRING,
	SHAPE_ARRAY,
	SHAPE_OBJECT,
	SHAPE_KINDS,
};

enum {
	SHAPE_DEPTH = 64,    /* deeper values are not looked at */
	SHAPE_MEMBERS = 512, /* of one object; more keys are taken for those of a table */
	SHAPE_EXAMPLES = 3,
	SHAPE_EXAMPLE_BYTES = 40,
	TABLE_OBJECTS = 12, /* as many keys, and more, with objects alike are a table's */
	TABLE_SCALARS = 40, /* and so many with other values */
};

struct shape_member {
	char *key;          /* owned */
	struct shape *node; /* owned */
};

struct shape {
	uint64_t kinds[SHAPE_KINDS];  /* how many values are of each */
	struct shape_member *members; /* owned */
	size_t count, cap;
	size_t hint;                    /* the member that comes next, in objects alike */
	struct shape *items;            /* owned; of arrays, and of tables; or NULL */
	uint64_t keys;                  /* of a table: how many were merged into `items` */
	char *examples[SHAPE_EXAMPLES]; /* owned; scalars as JSON, shortened; keys of a table */
	bool more_examples;
	double low, high;               /* of numbers */
	uint64_t low_items, high_items; /* of arrays */
	uint64_t numeric, empty;        /* strings that are numbers; empty ones */
};

struct query_shape {
	struct shape *root; /* owned */
	size_t nodes;
	/* Of events: the arrays and objects that have started and not ended, from the root on. */
	struct shape *open[SHAPE_DEPTH];
	size_t open_count;
};

struct query_shape *query_shape_new(void)
{
	struct query_shape *shape = mem_alloc(1, sizeof(*shape));

	shape->root = mem_alloc(1, sizeof(*shape->root));
	shape->nodes = 1;
	return shape;
}

static void shape_free(struct shape *node)
{
	if (!node)
		return;
	for (size_t i = 0; i < node->count; i++) {
		free(node->members[i].key);
		shape_free(node->members[i].node);
	}
	for (size_t i = 0; i < SHAPE_EXAMPLES; i++)
		free(node->examples[i]);
	free(node->members);
	shape_free(node->items);
	free(node);
}

void query_shape_free(struct query_shape *shape)
{
	if (shape)
		shape_free(shape->root);
	free(shape);
}

/* ---- a value more ---------------------------------------------------------------------- */

static void shape_add_example(struct shape *node, const char *text)
{
	for (size_t i = 0; i < SHAPE_EXAMPLES; i++) {
		if (!node->examples[i]) {
			node->examples[i] = mem_strdup(text);
			return;
		}
		if (strcmp(node->examples[i], text) == 0)
			return;
	}
	node->more_examples = true;
}

/* As JSON, shortened. */
static char *example_of(struct span text)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 10);
	const struct span head = utf8_head(text, SHAPE_EXAMPLE_BYTES);

	json_print_string(&out, head);
	if (head.len < text.len && out.len)
		out.len--;
	buf_str(&out, head.len < text.len ? "…\"" : "");
	return buf_steal(&out);
}

static bool is_numeric(const char *text)
{
	char *end;

	if (!ascii_is_digit(text[0]) && text[0] != '-' && text[0] != '.')
		return false;
	strtod(text, &end);
	return end != text && !*end;
}

static void shape_add_string(struct shape *node, struct span text)
{
	node->kinds[SHAPE_STRING]++;
	node->empty += text.len == 0;
	if (text.len && text.len < 32 && is_numeric(text.data))
		node->numeric++;
	if (text.len && !node->more_examples) {
		_cleanup_free_ char *example = example_of(text);

		shape_add_example(node, example);
	}
}

static bool is_whole_number(double number)
{
	return number > -1e17 && number < 1e17 && (double)(int64_t)number == number;
}

static void shape_add_number(struct shape *node, double number)
{
	const bool first = !node->kinds[SHAPE_INTEGER] && !node->kinds[SHAPE_NUMBER];
	char text[40];

	node->kinds[is_whole_number(number) ? SHAPE_INTEGER : SHAPE_NUMBER]++;
	node->low = first || number < node->low ? number : node->low;
	node->high = first || number > node->high ? number : node->high;
	if (!node->more_examples) {
		snprintf(text, sizeof(text), "%.10g", number);
		shape_add_example(node, text);
	}
}

static struct shape *items_of(struct query_shape *shape, struct shape *node)
{
	if (!node->items) {
		node->items = mem_alloc(1, sizeof(*node->items));
		shape->nodes++;
	}
	return node->items;
}

/* The node of a key; of one too many, the one that all of a table have. */
static struct shape *shape_member_of(struct query_shape *shape, struct shape *node, const char *key)
{
	for (size_t i = 0, at = node->hint; i < node->count; i++, at++) {
		at = at < node->count ? at : 0;
		if (strcmp(node->members[at].key, key) == 0) {
			node->hint = at + 1;
			return node->members[at].node;
		}
	}
	if (node->count == SHAPE_MEMBERS || shape->nodes >= LIMIT_QUERY_SHAPE_NODES) {
		node->keys++;
		return items_of(shape, node);
	}
	node->members =
		mem_grow(node->members, &node->cap, node->count + 1, sizeof(*node->members));
	node->members[node->count] =
		(struct shape_member){ mem_strdup(key), mem_alloc(1, sizeof(struct shape)) };
	shape->nodes++;
	node->hint = node->count + 1;
	return node->members[node->count++].node;
}

struct shape_adding {
	struct query_shape *shape;
	const struct jq_library *jq;
};

static void shape_add_value(const struct shape_adding *adding, struct shape *node, jv value,
                            unsigned depth);

static void shape_add_object(const struct shape_adding *adding, struct shape *node, jv value,
                             unsigned depth)
{
	const struct jq_library *jq = adding->jq;

	node->kinds[SHAPE_OBJECT]++;
	for (int i = jq->jv_object_iter(value); depth && jq->jv_object_iter_valid(value, i);
	     i = jq->jv_object_iter_next(value, i)) {
		jv key = jq->jv_object_iter_key(value, i),
		   member = jq->jv_object_iter_value(value, i);

		shape_add_value(adding,
		                shape_member_of(adding->shape, node, jq->jv_string_value(key)),
		                member, depth - 1);
		jq->jv_free(key);
		jq->jv_free(member);
	}
}

static void shape_add_array(const struct shape_adding *adding, struct shape *node, jv value,
                            unsigned depth)
{
	const struct jq_library *jq = adding->jq;
	const int count = jq->jv_array_length(jq->jv_copy(value));

	if (!node->kinds[SHAPE_ARRAY]++ || (uint64_t)count < node->low_items)
		node->low_items = (uint64_t)count;
	if ((uint64_t)count > node->high_items)
		node->high_items = (uint64_t)count;
	for (int i = 0; i < count && depth; i++) {
		jv item = jq->jv_array_get(jq->jv_copy(value), i);

		shape_add_value(adding, items_of(adding->shape, node), item, depth - 1);
		jq->jv_free(item);
	}
}

static void shape_add_value(const struct shape_adding *adding, struct shape *node, jv value,
                            unsigned depth)
{
	const struct jq_library *jq = adding->jq;

	switch (jq->jv_get_kind(value)) {
	case JV_KIND_OBJECT:
		shape_add_object(adding, node, value, depth);
		break;
	case JV_KIND_ARRAY:
		shape_add_array(adding, node, value, depth);
		break;
	case JV_KIND_STRING:
		shape_add_string(node,
		                 span_of(jq->jv_string_value(value),
		                         (size_t)jq->jv_string_length_bytes(jq->jv_copy(value))));
		break;
	case JV_KIND_NUMBER:
		shape_add_number(node, jq->jv_number_value(value));
		break;
	case JV_KIND_TRUE:
	case JV_KIND_FALSE:
		node->kinds[SHAPE_BOOLEAN]++;
		break;
	default:
		node->kinds[SHAPE_NULL]++;
	}
}

void query_shape_add(struct query_shape *shape, const struct jq_library *jq, jv value, bool element)
{
	const struct shape_adding adding = { shape, jq };
	struct shape *root = shape->root;

	if (!element) {
		shape_add_value(&adding, root, value, SHAPE_DEPTH);
		return;
	}
	root->kinds[SHAPE_ARRAY] = 1;
	root->low_items = ++root->high_items;
	shape_add_value(&adding, items_of(shape, root), value, SHAPE_DEPTH - 1);
}

/* ---- events ---------------------------------------------------------------------------- */

/* Component `i` of a path: a key, or a number in *ret_number. */
static jv event_component(const struct jq_library *jq, jv path, size_t i, double *ret_number)
{
	jv component = jq->jv_array_get(jq->jv_copy(path), (int)i);

	if (jq->jv_get_kind(component) == JV_KIND_NUMBER)
		*ret_number = jq->jv_number_value(component);
	return component;
}

/* What stands at component `i` of the path, in the container that is open there. */
static struct shape *event_child(struct query_shape *shape, const struct jq_library *jq, jv path,
                                 size_t i, bool starts)
{
	struct shape *in = shape->open[i];
	double number = -1;
	jv component = event_component(jq, path, i, &number);
	struct shape *child;

	if (starts)
		in->kinds[number >= 0 ? SHAPE_ARRAY : SHAPE_OBJECT]++;
	if (number >= 0)
		child = items_of(shape, in);
	else
		child = shape_member_of(shape, in, jq->jv_string_value(component));
	jq->jv_free(component);
	return child;
}

/* The container of the path's last component has ended, whose number is that of the array's last
 * item. */
static void event_end(struct query_shape *shape, const struct jq_library *jq, jv path, size_t len)
{
	struct shape *ended = shape->open[len - 1];
	double last = -1;

	jq->jv_free(event_component(jq, path, len - 1, &last));
	shape->open_count = len - 1;
	if (last < 0)
		return;
	if (ended->kinds[SHAPE_ARRAY] == 1 || last + 1 < (double)ended->low_items)
		ended->low_items = (uint64_t)last + 1;
	if (last + 1 > (double)ended->high_items)
		ended->high_items = (uint64_t)last + 1;
}

void query_shape_event(struct query_shape *shape, const struct jq_library *jq, jv event)
{
	const bool leaf = jq->jv_array_length(jq->jv_copy(event)) == 2;
	jv path = jq->jv_array_get(jq->jv_copy(event), 0);
	const size_t len = (size_t)jq->jv_array_length(jq->jv_copy(path));
	struct shape *node = shape->root;

	for (size_t i = 0; i < len && i < SHAPE_DEPTH && leaf; i++) {
		const bool starts = i >= shape->open_count;

		if (starts) {
			shape->open[i] = node;
			shape->open_count = i + 1;
		}
		node = starts || i + 1 >= shape->open_count ?
		               event_child(shape, jq, path, i, starts) :
		               shape->open[i + 1];
	}
	if (leaf && len < SHAPE_DEPTH) {
		jv value = jq->jv_array_get(jq->jv_copy(event), 1);

		shape_add_value(&(struct shape_adding){ shape, jq }, node, value, 0);
		jq->jv_free(value);
	} else if (!leaf && len && len <= shape->open_count) {
		event_end(shape, jq, path, len);
	}
	jq->jv_free(path);
}

/* ---- tables ---------------------------------------------------------------------------- */

static uint64_t shape_total(const struct shape *node)
{
	uint64_t total = 0;

	for (size_t i = 0; i < SHAPE_KINDS; i++)
		total += node->kinds[i];
	return total;
}

/* Adds what `from` has, which is freed. */
static void shape_merge(struct query_shape *shape, struct shape *node, struct shape *from)
{
	const bool numbers = node->kinds[SHAPE_INTEGER] + node->kinds[SHAPE_NUMBER],
		   more = from->kinds[SHAPE_INTEGER] + from->kinds[SHAPE_NUMBER];

	if (more) {
		node->low = numbers && node->low < from->low ? node->low : from->low;
		node->high = numbers && node->high > from->high ? node->high : from->high;
	}
	if (from->kinds[SHAPE_ARRAY]) {
		if (!node->kinds[SHAPE_ARRAY] || from->low_items < node->low_items)
			node->low_items = from->low_items;
		if (from->high_items > node->high_items)
			node->high_items = from->high_items;
	}
	for (size_t i = 0; i < SHAPE_KINDS; i++)
		node->kinds[i] += from->kinds[i];
	node->numeric += from->numeric;
	node->empty += from->empty;
	node->keys += from->keys;
	for (size_t i = 0; i < SHAPE_EXAMPLES && from->examples[i] && !node->more_examples; i++)
		shape_add_example(node, from->examples[i]);
	node->more_examples = node->more_examples || from->more_examples;
	for (size_t i = 0; i < from->count; i++) {
		shape_merge(shape, shape_member_of(shape, node, from->members[i].key),
		            from->members[i].node);
		free(from->members[i].key);
	}
	from->count = 0;
	if (from->items)
		shape_merge(shape, items_of(shape, node), from->items);
	from->items = NULL;
	shape_free(from);
}

/* Whether nearly all members have the one kind that most have; *ret_kind is it. */
static bool members_alike(const struct shape *node, enum shape_kind *ret_kind)
{
	size_t of_kind[SHAPE_KINDS] = { 0 };

	*ret_kind = SHAPE_NULL;
	for (size_t i = 0; i < node->count; i++)
		for (size_t kind = 0; kind < SHAPE_KINDS; kind++) {
			const struct shape *member = node->members[i].node;

			of_kind[kind] += member->kinds[kind] == shape_total(member);
		}
	for (size_t kind = 1; kind < SHAPE_KINDS; kind++)
		if (of_kind[kind] > of_kind[*ret_kind])
			*ret_kind = (enum shape_kind)kind;
	return of_kind[*ret_kind] * 10 >= node->count * 9;
}

/* Whether an object has its keys as a table has them, not as a record: many, and the records of
 * an array do not share them. */
static bool is_table(const struct shape *node)
{
	enum shape_kind kind;
	uint64_t present = 0;
	bool sparse;

	if (node->keys)
		return true;
	for (size_t i = 0; i < node->count; i++)
		present += shape_total(node->members[i].node);
	sparse = present * 3 < node->count * node->kinds[SHAPE_OBJECT];
	return node->count >= TABLE_OBJECTS && members_alike(node, &kind) &&
	       (sparse || (node->kinds[SHAPE_OBJECT] == 1 &&
	                   (kind == SHAPE_OBJECT || node->count >= TABLE_SCALARS)));
}

static void shape_settle(struct query_shape *shape, struct shape *node)
{
	for (size_t i = 0; i < node->count; i++)
		shape_settle(shape, node->members[i].node);
	if (node->items)
		shape_settle(shape, node->items);
	if (!node->count || node->kinds[SHAPE_ARRAY] || !is_table(node))
		return;
	for (size_t i = 0; i < node->count; i++) {
		_cleanup_free_ char *key = example_of(span_str(node->members[i].key));

		shape_add_example(node, key);
		shape_merge(shape, items_of(shape, node), node->members[i].node);
		free(node->members[i].key);
	}
	node->keys += node->count;
	node->count = 0;
	shape_settle(shape, node->items);
}

/* ---- lines ----------------------------------------------------------------------------- */

struct printing {
	struct buf *out;
	struct buf path;
	size_t depth;    /* of the paths that are shown */
	size_t members;  /* of each object, likewise */
	size_t left_out; /* paths */
};

static void shape_put_key(struct buf *path, const char *key)
{
	bool plain = *key && !ascii_is_digit(*key);

	for (const char *c = key; *c; c++)
		plain = plain && (ascii_is_alnum(*c) || *c == '_');
	buf_char(path, '.');
	if (plain)
		buf_str(path, key);
	else
		json_print_string(path, utf8_head(span_str(key), 4 * SHAPE_EXAMPLE_BYTES));
}

static size_t shape_paths(const struct shape *node)
{
	size_t paths = node->items ? 1 + shape_paths(node->items) : 0;

	for (size_t i = 0; i < node->count; i++)
		paths += 1 + shape_paths(node->members[i].node);
	return paths;
}

static void shape_put_count(struct buf *out, uint64_t count, const char *noun)
{
	buf_printf(out, "%" PRIu64 " %s%s", count, noun, count == 1 ? "" : "s");
}

static void shape_put_examples(struct buf *out, const struct shape *node)
{
	const size_t start = out->len;
	size_t i = 0;

	for (; i < SHAPE_EXAMPLES && node->examples[i]; i++) {
		if (i && out->len - start + strlen(node->examples[i]) > SHAPE_EXAMPLE_BYTES)
			break;
		buf_printf(out, "%s%s", i ? ", " : "", node->examples[i]);
	}
	buf_str(out, node->more_examples || (i < SHAPE_EXAMPLES && node->examples[i]) ? ", …" : "");
}

/* "object of 3 keys", "array of 0 to 5 items", "string", as few words as say it. */
static void shape_put_kind(struct buf *out, const struct shape *node, enum shape_kind kind)
{
	static const char *const names[] = { "null",   "boolean", "integer", "number",
		                             "string", "array",   "object" };

	buf_str(out, names[kind]);
	if (kind == SHAPE_ARRAY && node->low_items != node->high_items)
		buf_printf(out, " of %" PRIu64 " to ", node->low_items);
	else if (kind == SHAPE_ARRAY)
		buf_str(out, " of ");
	if (kind == SHAPE_ARRAY)
		shape_put_count(out, node->high_items, "item");
	if (kind == SHAPE_OBJECT && (node->keys || node->count)) {
		buf_str(out, " of ");
		shape_put_count(out, node->keys ? node->keys : node->count, "key");
	}
	if (kind == SHAPE_STRING && node->numeric &&
	    node->numeric + node->empty == node->kinds[kind])
		buf_str(out, " (numbers)");
}

/* How often: "3 of 12" objects have it. */
static void shape_put_line(struct printing *printing, const struct shape *node, uint64_t among)
{
	struct buf *out = printing->out;
	const uint64_t total = shape_total(node);
	bool several = false;

	buf_span(out, buf_view(&printing->path));
	buf_str(out, ": ");
	for (size_t kind = 0; kind < SHAPE_KINDS; kind++) {
		if (!node->kinds[kind])
			continue;
		buf_str(out, several ? " | " : "");
		shape_put_kind(out, node, (enum shape_kind)kind);
		if (node->kinds[kind] < total)
			buf_printf(out, " (%" PRIu64 ")", node->kinds[kind]);
		several = true;
	}
	if (among && total != among)
		buf_printf(out, ", in %" PRIu64 " of %" PRIu64, total, among);
	else if (!among && total > 1)
		buf_printf(out, ", %" PRIu64 " times", total);
	if (node->empty)
		buf_printf(out, ", %" PRIu64 " empty", node->empty);
	if (node->low != node->high && (node->kinds[SHAPE_INTEGER] || node->kinds[SHAPE_NUMBER]))
		buf_printf(out, ", %.10g to %.10g", node->low, node->high);
	else if (node->examples[0]) {
		buf_str(out, node->keys ? ", keys " : ", ");
		shape_put_examples(out, node);
	}
	buf_char(out, '\n');
}

static void shape_put_node(struct printing *printing, const struct shape *node, uint64_t among,
                           size_t depth);

static void shape_put_members(struct printing *printing, const struct shape *node, size_t depth)
{
	const size_t len = printing->path.len;

	for (size_t i = 0; i < node->count && i < printing->members; i++) {
		/* the root is "." */
		printing->path.len = len == 1 ? 0 : len;
		shape_put_key(&printing->path, node->members[i].key);
		shape_put_node(printing, node->members[i].node, node->kinds[SHAPE_OBJECT],
		               depth + 1);
	}
	printing->path.len = len;
	if (printing->path.data)
		printing->path.data[len] = '\0';
	if (node->count <= printing->members)
		return;
	buf_span(printing->out, buf_view(&printing->path));
	buf_printf(printing->out, ": %zu more keys:", node->count - printing->members);
	for (size_t i = printing->members; i < node->count; i++) {
		printing->left_out += 1 + shape_paths(node->members[i].node);
		if (i < printing->members + 20) {
			_cleanup_free_ char *key = example_of(span_str(node->members[i].key));

			buf_printf(printing->out, " %s", key);
		}
	}
	buf_str(printing->out, node->count > printing->members + 20 ? " …\n" : "\n");
}

static void shape_put_node(struct printing *printing, const struct shape *node, uint64_t among,
                           size_t depth)
{
	const size_t len = printing->path.len;

	shape_put_line(printing, node, among);
	if (depth >= printing->depth) {
		printing->left_out += shape_paths(node);
		return;
	}
	shape_put_members(printing, node, depth);
	if (!node->items)
		return;
	buf_str(&printing->path, "[]");
	shape_put_node(printing, node->items, 0, depth + 1);
	printing->path.len = len;
	printing->path.data[len] = '\0';
}

/* Paths up to `depth`; false: that is more than there is room for. */
static bool shape_print_to(const struct query_shape *shape, size_t depth, size_t members,
                           struct buf *out, size_t *ret_left_out)
{
	struct printing printing = {
		.out = out, .path = BUF_INIT(64 << 10), .depth = depth, .members = members
	};

	buf_clear(out);
	buf_char(&printing.path, '.');
	shape_put_node(&printing, shape->root, 0, 0);
	buf_release(&printing.path);
	*ret_left_out = printing.left_out;
	return !out->overflowed;
}

bool query_shape_print(const struct query_shape *shape, size_t max, struct buf *out)
{
	static const size_t members[] = { SHAPE_MEMBERS, 100, 40, 15, 6, 2 };
	_cleanup_buf_ struct buf best = BUF_INIT(max), text = BUF_INIT(max);
	size_t left_out = 0, left;
	bool fits = true;

	shape_settle((struct query_shape *)shape, shape->root);
	for (size_t depth = 0; depth <= SHAPE_DEPTH && fits; depth++) {
		fits = false;
		for (size_t i = 0; i < ARRAY_LEN(members) && !fits; i++)
			if ((fits = shape_print_to(shape, depth, members[i], &text, &left))) {
				const struct buf swap = best;

				best = text;
				text = swap;
				left_out = left;
			}
		fits = fits && left_out;
	}
	buf_span(out, buf_view(&best));
	return left_out == 0;
}
