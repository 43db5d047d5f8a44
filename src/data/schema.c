/* SPDX-License-Identifier: Apache-2.0 */
/* A schema: from its text to a structure, and a value checked along that: what is wrong with it,
 * and what was meant. */
#include "data/schema.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"

enum {
	SCHEMA_OBJECT = 1,
	SCHEMA_ARRAY = 2,
	SCHEMA_STRING = 4,
	SCHEMA_INTEGER = 8,
	SCHEMA_NUMBER = 16,
	SCHEMA_BOOLEAN = 32,
	SCHEMA_NULL = 64,
};

struct schema_property {
	const char *name; /* borrowed from schema.source */
	struct schema *schema;
	bool required;
};

struct schema {
	json_t *source;     /* owned; only set in the outermost schema */
	unsigned types;     /* SCHEMA_ bits; 0 allows all */
	json_t *choices;    /* enum: an array; NULL if absent. Borrowed, like `constant` */
	json_t *constant;
	struct schema_property *properties; /* owned */
	size_t property_count;
	json_t *required;   /* borrowed array of names, or NULL */
	bool closed;        /* additionalProperties: false */
	struct schema *items;
	struct schema **branches; /* oneOf; owned */
	size_t branch_count;
	bool has_minimum, has_maximum;
	double minimum, maximum;
	size_t min_items, max_items; /* max_items: SIZE_MAX when absent */
	size_t min_length;  /* code points; only whether it is 0 or more matters for bytes */
};

/* ---- compiling -------------------------------------------------------------------- */

enum { SCHEMA_DEPTH_MAX = 32 };

static const struct {
	const char *name;
	unsigned bit;
	const char *phrase;
} types[] = {
	{ "object", SCHEMA_OBJECT, "an object" },    { "array", SCHEMA_ARRAY, "an array" },
	{ "string", SCHEMA_STRING, "a string" },     { "integer", SCHEMA_INTEGER, "an integer" },
	{ "number", SCHEMA_NUMBER, "a number" },     { "boolean", SCHEMA_BOOLEAN, "a boolean" },
	{ "null", SCHEMA_NULL, "null" },
};

static void schema_release(struct schema *schema)
{
	for (size_t i = 0; i < schema->property_count; i++)
		schema_free(schema->properties[i].schema);
	for (size_t i = 0; i < schema->branch_count; i++)
		schema_free(schema->branches[i]);
	schema_free(schema->items);
	free(schema->properties);
	free(schema->branches);
	json_decref(schema->source);
}

void schema_free(struct schema *schema)
{
	if (schema)
		schema_release(schema);
	free(schema);
}

static bool schema_bad_keyword(struct err *err, const char *keyword, const char *wanted)
{
	return err_set(err, ERR_INVALID_ARGUMENT, "Bad schema: \"%s\" must be %s.", keyword,
	               wanted);
}

static bool schema_add_type(struct schema *schema, const json_t *name)
{
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (span_eq(json_span(name), span_str(types[i].name))) {
			schema->types |= types[i].bit;
			return true;
		}
	return false;
}

static bool compile_types(struct schema *schema, const json_t *type, struct err *err)
{
	size_t i;
	json_t *name;

	if (!type || (json_is_string(type) && schema_add_type(schema, type)))
		return true;
	json_array_foreach(type, i, name) {
		if (!schema_add_type(schema, name))
			return schema_bad_keyword(err, "type", "a type's name, or a list of them");
	}
	return json_is_array(type) ||
	       schema_bad_keyword(err, "type", "a type's name, or a list of them");
}

static bool compile_size(const json_t *source, const char *keyword, size_t *ret,
                         struct err *err)
{
	const json_t *value = json_object_get(source, keyword);

	if (!value)
		return true;
	if (!json_is_integer(value) || json_integer_value(value) < 0)
		return schema_bad_keyword(err, keyword, "an integer from 0");
	*ret = (size_t)json_integer_value(value);
	return true;
}

static bool compile_bound(const json_t *source, const char *keyword, double *ret, bool *ret_has,
                          struct err *err)
{
	const json_t *value = json_object_get(source, keyword);

	if (value && !json_is_number(value))
		return schema_bad_keyword(err, keyword, "a number");
	*ret_has = value != NULL;
	*ret = json_number_value(value);
	return true;
}

static bool compile_limits(struct schema *schema, const json_t *source, struct err *err)
{
	schema->max_items = SIZE_MAX;
	return compile_bound(source, "minimum", &schema->minimum, &schema->has_minimum, err) &&
	       compile_bound(source, "maximum", &schema->maximum, &schema->has_maximum, err) &&
	       compile_size(source, "minItems", &schema->min_items, err) &&
	       compile_size(source, "maxItems", &schema->max_items, err) &&
	       compile_size(source, "minLength", &schema->min_length, err);
}

static bool schema_compile_value(json_t *source, unsigned depth, struct schema **ret,
                                 struct err *err);

static bool compile_properties(struct schema *schema, json_t *source, unsigned depth,
                               struct err *err)
{
	json_t *properties = json_object_get(source, "properties");
	json_t *value;
	const char *name;

	schema->required = json_object_get(source, "required");
	if (schema->required && !json_is_array(schema->required))
		return schema_bad_keyword(err, "required", "a list of names");
	if (properties && !json_is_object(properties))
		return schema_bad_keyword(err, "properties", "an object");
	schema->closed = json_is_false(json_object_get(source, "additionalProperties"));
	schema->properties = mem_alloc(json_object_size(properties), sizeof(*schema->properties));
	json_object_foreach(properties, name, value) {
		struct schema_property *property = &schema->properties[schema->property_count];

		if (!schema_compile_value(value, depth + 1, &property->schema, err))
			return false;
		property->name = name;
		property->required = json_lists(schema->required, span_str(name));
		schema->property_count++;
	}
	return true;
}

static bool compile_branches(struct schema *schema, json_t *source, unsigned depth,
                             struct err *err)
{
	json_t *branches = json_object_get(source, "oneOf");
	json_t *branch;
	size_t i;

	if (branches && !json_array_size(branches))
		return schema_bad_keyword(err, "oneOf", "a list of schemas");
	schema->branches = mem_alloc(json_array_size(branches), sizeof(*schema->branches));
	json_array_foreach(branches, i, branch) {
		if (!schema_compile_value(branch, depth + 1, &schema->branches[i], err))
			return false;
		schema->branch_count++;
	}
	return true;
}

static bool schema_fill(struct schema *schema, json_t *source, unsigned depth, struct err *err)
{
	json_t *items = json_object_get(source, "items");

	schema->choices = json_object_get(source, "enum");
	schema->constant = json_object_get(source, "const");
	if (schema->choices && !json_array_size(schema->choices))
		return schema_bad_keyword(err, "enum", "a list of values");
	return compile_types(schema, json_object_get(source, "type"), err) &&
	       compile_limits(schema, source, err) &&
	       compile_properties(schema, source, depth, err) &&
	       compile_branches(schema, source, depth, err) &&
	       (!items || schema_compile_value(items, depth + 1, &schema->items, err));
}

/* On failure nothing is left behind and *ret is NULL. */
static bool schema_compile_value(json_t *source, unsigned depth, struct schema **ret,
                                 struct err *err)
{
	struct schema *schema;

	*ret = NULL;
	if (depth > SCHEMA_DEPTH_MAX)
		return schema_bad_keyword(err, "properties", "nested less deeply");
	if (!json_is_object(source) && !json_is_true(source))
		return schema_bad_keyword(err, "schema", "an object");
	schema = mem_alloc(1, sizeof(*schema));
	if (!schema_fill(schema, source, depth, err)) {
		schema_free(schema);
		return false;
	}
	*ret = schema;
	return true;
}

bool schema_compile(struct span text, struct schema **ret, struct err *err)
{
	struct schema *schema;
	json_t *source;

	if (!json_parse(text, &source, err))
		return false;
	if (!schema_compile_value(source, 0, &schema, err)) {
		json_decref(source);
		return false;
	}
	schema->source = source;
	*ret = schema;
	return true;
}

/* ---- checking a value ------------------------------------------------------------- */

/* Walks a value along its schema: what is wrong with it, and what was meant. */

struct schema_checking {
	struct buf path;      /* "changes[2].kind"; empty at the top */
	struct buf *problems; /* borrowed */
	const json_t *names;  /* borrowed; paths as they were sent; or NULL */
	size_t count;         /* problems so far */
};

/* Appends the path, or what it was when the value came. */
static void put_path_as_sent(const struct schema_checking *check, struct buf *out)
{
	_cleanup_free_ char *path = mem_strdup(check->path.len ? check->path.data : "arguments");
	const char *whole = check->path.len ? check->path.data : path;
	const char *sent = NULL;
	size_t len = strlen(path);

	while (check->names && len && !(sent = json_string_value(json_object_get(check->names,
	                                                                         path)))) {
		while (len && path[len - 1] != '.' && path[len - 1] != '[')
			len--;
		len -= len > 0;
		path[len] = '\0';
	}
	buf_printf(out, "%s%s", sent ? sent : "", sent ? whole + len : whole);
}

__attribute__((format(printf, 2, 3))) static void report_problem(struct schema_checking *check,
                                                                 const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list args;
	int len;

	if (++check->count > SCHEMA_PROBLEMS_MAX) {
		if (check->count == SCHEMA_PROBLEMS_MAX + 1)
			buf_str(check->problems, "; and more");
		return;
	}
	va_start(args, format);
	len = vasprintf(&text, format, args);
	va_end(args);
	if (len < 0)
		abort();
	if (check->count > 1)
		buf_str(check->problems, "; ");
	put_path_as_sent(check, check->problems);
	buf_printf(check->problems, ": %s", text);
}

static void path_cut(struct schema_checking *check, size_t len)
{
	check->path.len = len;
	if (check->path.data)
		check->path.data[len] = '\0';
}

static void path_name(struct schema_checking *check, const char *name)
{
	struct span shown = utf8_head(span_str(name), 80);

	buf_printf(&check->path, "%s%.*s", check->path.len ? "." : "", (int)shown.len, shown.data);
}

/* What was meant: each returns a new reference, or NULL when that is not it. */

static json_t *integer_from(const json_t *value)
{
	double real = json_real_value(value);
	const char *text = json_string_value(value);
	char *end;
	long long number;

	if (json_is_real(value))
		return fabs(real) < 9e15 && real == trunc(real) ?
			       json_integer((json_int_t)real) : NULL;
	if (!text || !*text || strspn(text, "-0123456789") != json_string_length(value))
		return NULL;
	errno = 0;
	number = strtoll(text, &end, 10);
	return *end || errno ? NULL : json_integer(number);
}

static json_t *number_from(const json_t *value)
{
	const char *text = json_string_value(value);
	char *end;
	double number;

	if (!text || !*text || strspn(text, "-+.eE0123456789") != json_string_length(value))
		return NULL;
	number = strtod(text, &end);
	return *end || !isfinite(number) ? NULL : json_real(number);
}

static json_t *boolean_from(const json_t *value)
{
	struct span text = json_span(value);

	if (span_eq(text, SPAN("true")) || span_eq(text, SPAN("True")))
		return json_true();
	if (span_eq(text, SPAN("false")) || span_eq(text, SPAN("False")))
		return json_false();
	return NULL;
}

/* A string of JSON where an array or object is wanted. */
static json_t *parsed_from(const json_t *value, char first)
{
	struct span text = span_trim(json_span(value));
	struct err err = ERR_INIT;
	json_t *parsed;

	if (!text.len || text.data[0] != first || !json_parse(text, &parsed, &err))
		return NULL;
	return parsed;
}

static json_t *array_from(const struct schema *schema, json_t *value)
{
	json_t *array = parsed_from(value, '[');

	if (array)
		return array;
	if (!schema->items || !(schema->items->types & SCHEMA_STRING) || !json_is_string(value) ||
	    !json_string_length(value))
		return NULL;
	array = json_array();
	json_array_append(array, value);
	return array;
}

/* An integer has one text; of other numbers 1.0 could be "1" and "1.0". */
static json_t *text_from(const json_t *value)
{
	return json_is_integer(value) ?
	               json_sprintf("%" JSON_INTEGER_FORMAT, json_integer_value(value)) : NULL;
}

static json_t *value_as_meant(const struct schema *schema, json_t *value)
{
	json_t *other = NULL;

	if (schema->types & SCHEMA_INTEGER)
		other = integer_from(value);
	if (!other && schema->types & SCHEMA_NUMBER)
		other = number_from(value);
	if (!other && schema->types & SCHEMA_BOOLEAN)
		other = boolean_from(value);
	if (!other && schema->types & SCHEMA_ARRAY)
		other = array_from(schema, value);
	if (!other && schema->types & SCHEMA_OBJECT)
		other = parsed_from(value, '{');
	if (!other && schema->types & SCHEMA_STRING)
		other = text_from(value);
	return other;
}

static unsigned type_bits(const json_t *value)
{
	static const unsigned bits[] = {
		[JSON_OBJECT] = SCHEMA_OBJECT, [JSON_ARRAY] = SCHEMA_ARRAY,
		[JSON_STRING] = SCHEMA_STRING, [JSON_INTEGER] = SCHEMA_INTEGER | SCHEMA_NUMBER,
		[JSON_REAL] = SCHEMA_NUMBER,   [JSON_TRUE] = SCHEMA_BOOLEAN,
		[JSON_FALSE] = SCHEMA_BOOLEAN, [JSON_NULL] = SCHEMA_NULL,
	};

	return bits[json_typeof(value)];
}

static json_t *schema_check_value(struct schema_checking *check, const struct schema *schema,
                                  json_t *value);

/* Objects */

static const struct schema_property *property_find(const struct schema *schema, const char *name)
{
	for (size_t i = 0; i < schema->property_count; i++)
		if (strcmp(schema->properties[i].name, name) == 0)
			return &schema->properties[i];
	return NULL;
}

static void unknown_property(struct schema_checking *check, const struct schema *schema)
{
	_cleanup_free_ const char **names = mem_alloc(schema->property_count, sizeof(*names));
	const char *last = strrchr(check->path.data, '.');
	const char *near;

	if (check->count >= SCHEMA_PROBLEMS_MAX) { /* not reported any more: do not search */
		report_problem(check, "unknown argument");
		return;
	}
	for (size_t i = 0; i < schema->property_count; i++)
		names[i] = schema->properties[i].name;
	near = schema_nearest_name(last ? last + 1 :
	                           check->path.data, names, schema->property_count);
	if (near)
		report_problem(check, "unknown argument; did you mean %s?", near);
	else
		report_problem(check, "unknown argument");
}

static void check_missing_members(struct schema_checking *check, const struct schema *schema,
                                  const json_t *object)
{
	size_t mark = check->path.len;
	size_t i;
	json_t *name;

	json_array_foreach(schema->required, i, name) {
		if (json_object_get(object, json_string_value(name)))
			continue;
		path_name(check, json_string_value(name));
		report_problem(check, "required, but missing");
		path_cut(check, mark);
	}
}

/* Replaces a member in *copy, which is made of `object` when it is first needed. */
static void schema_replace_member(json_t **copy, json_t *object, const char *name, json_t *member)
{
	if (!*copy)
		*copy = json_copy(object);
	if (member)
		json_object_set_nocheck(*copy, name, member);
	else
		json_object_del(*copy, name);
}

static json_t *schema_check_object(struct schema_checking *check, const struct schema *schema,
                                   json_t *object)
{
	size_t mark = check->path.len;
	json_t *copy = NULL;
	const char *name;
	json_t *member;

	json_object_foreach(object, name, member) {
		const struct schema_property *property = property_find(schema, name);
		json_t *other;

		if (!property && !schema->closed)
			continue;
		path_name(check, name);
		if (!property) {
			unknown_property(check, schema);
		} else if (json_is_null(member) && !property->required &&
		           property->schema->types && !(property->schema->types & SCHEMA_NULL)) {
			schema_replace_member(&copy, object, name, NULL);
		} else {
			other = schema_check_value(check, property->schema, member);
			if (other != member)
				schema_replace_member(&copy, object, name, other);
			json_decref(other);
		}
		path_cut(check, mark);
	}
	check_missing_members(check, schema, copy ? copy : object);
	return copy ? copy : json_incref(object);
}

/* Arrays */

static json_t *check_array(struct schema_checking *check, const struct schema *schema,
                           json_t *array)
{
	size_t mark = check->path.len;
	json_t *copy = NULL;
	size_t i;
	json_t *item;

	if (json_array_size(array) < schema->min_items)
		report_problem(check, "needs at least %zu element%s", schema->min_items,
		               schema->min_items == 1 ? "" : "s");
	if (json_array_size(array) > schema->max_items)
		report_problem(check, "has %zu elements, at most %zu are possible",
		               json_array_size(array), schema->max_items);
	if (!schema->items)
		return json_incref(array);
	json_array_foreach(array, i, item) {
		json_t *other;

		buf_printf(&check->path, "[%zu]", i);
		other = schema_check_value(check, schema->items, item);
		if (other != item) {
			if (!copy)
				copy = json_copy(array);
			json_array_set(copy, i, other);
		}
		json_decref(other);
		path_cut(check, mark);
	}
	return copy ? copy : json_incref(array);
}

/* Single values */

static void schema_describe_value(struct buf *out, const json_t *value)
{
	_cleanup_buf_ struct buf text = BUF_INIT(4096);
	struct span shown;

	if (!json_print(&text, value, 0)) {
		buf_str(out, json_type_phrase(value));
		return;
	}
	shown = utf8_head(buf_view(&text), 60);
	buf_span(out, shown);
	if (shown.len < text.len)
		buf_str(out, "...");
}

static void check_choices(struct schema_checking *check, const struct schema *schema,
                          const json_t *value)
{
	_cleanup_buf_ struct buf list = BUF_INIT(4096);
	size_t i;
	json_t *choice;

	json_array_foreach(schema->choices, i, choice) {
		if (json_equal(choice, value))
			return;
		if (i)
			buf_str(&list, ", ");
		schema_describe_value(&list, choice);
	}
	buf_str(&list, ", got ");
	schema_describe_value(&list, value);
	report_problem(check, "must be one of %s", list.data);
}

static void check_constant(struct schema_checking *check, const struct schema *schema,
                           const json_t *value)
{
	_cleanup_buf_ struct buf text = BUF_INIT(4096);

	if (json_equal(schema->constant, value))
		return;
	schema_describe_value(&text, schema->constant);
	buf_str(&text, ", got ");
	schema_describe_value(&text, value);
	report_problem(check, "must be %s", text.data);
}

static void check_number(struct schema_checking *check, const struct schema *schema,
                         const json_t *value)
{
	double number = json_number_value(value);

	if (schema->has_minimum && number < schema->minimum)
		report_problem(check, "must be at least %g, got %g", schema->minimum, number);
	if (schema->has_maximum && number > schema->maximum)
		report_problem(check, "must be at most %g, got %g", schema->maximum, number);
}

static void check_string(struct schema_checking *check, const struct schema *schema,
                         const json_t *value)
{
	struct span text = json_span(value);

	if (text.len && text.len < schema->min_length)
		report_problem(check, "is too short: \"%.*s\"", (int)text.len, text.data);
	else if (text.len < schema->min_length)
		report_problem(check, "must not be empty");
	if (text.len && memchr(text.data, '\0', text.len))
		report_problem(check, "must not contain a NUL character");
}

/* oneOf */

/* The const property that distinguishes the branches; NULL if they have none. */
static const struct schema_property *branch_discriminator(const struct schema *branch)
{
	for (size_t i = 0; i < branch->property_count; i++)
		if (branch->properties[i].schema->constant && branch->properties[i].required)
			return &branch->properties[i];
	return NULL;
}

static json_t *no_branch(struct schema_checking *check, const struct schema *schema,
                         const char *name, json_t *value)
{
	_cleanup_buf_ struct buf list = BUF_INIT(4096);
	size_t mark = check->path.len;
	json_t *got = json_object_get(value, name);

	for (size_t i = 0; i < schema->branch_count; i++) {
		const struct schema_property *kind = branch_discriminator(schema->branches[i]);

		if (i)
			buf_str(&list, ", ");
		if (kind)
			schema_describe_value(&list, kind->schema->constant);
	}
	if (got) {
		buf_str(&list, ", got ");
		schema_describe_value(&list, got);
	}
	path_name(check, name);
	report_problem(check, got ? "must be one of %s" :
	               "required, but missing; one of %s", list.data);
	path_cut(check, mark);
	return json_incref(value);
}

/* One branch on its own: its problems apart, its paths as usual. */
static json_t *try_branch(const struct schema_checking *check, const struct schema *branch,
                          json_t *value, struct buf *problems, size_t *ret_count)
{
	struct schema_checking trial = { .path = BUF_INIT(check->path.max), .problems = problems,
	                       .names = check->names };
	json_t *result;

	buf_span(&trial.path, buf_view(&check->path));
	result = schema_check_value(&trial, branch, value);
	buf_release(&trial.path);
	*ret_count = trial.count;
	return result;
}

/* Tries each branch; the first without problems is it, else the problems of the one with
 * the fewest are reported. */
static json_t *try_branches(struct schema_checking *check, const struct schema *schema,
                            json_t *value)
{
	_cleanup_buf_ struct buf best = BUF_INIT(check->problems->max);
	size_t fewest = SIZE_MAX;

	for (size_t i = 0; i < schema->branch_count; i++) {
		struct buf problems = BUF_INIT(check->problems->max);
		size_t count;
		json_t *result = try_branch(check, schema->branches[i], value, &problems, &count);

		if (!count)
			return result;
		json_decref(result);
		if (count < fewest) {
			struct buf worse = best;

			best = problems;
			problems = worse;
			fewest = count;
		}
		buf_release(&problems);
	}
	if (check->count && best.len)
		buf_str(check->problems, "; ");
	buf_span(check->problems, buf_view(&best));
	check->count += fewest;
	return json_incref(value);
}

static json_t *check_branches(struct schema_checking *check, const struct schema *schema,
                              json_t *value)
{
	const struct schema_property *kind = branch_discriminator(schema->branches[0]);

	if (!kind || !json_is_object(value))
		return try_branches(check, schema, value);
	for (size_t i = 0; i < schema->branch_count; i++) {
		const struct schema_property *own = branch_discriminator(schema->branches[i]);
		const json_t *got = own ? json_object_get(value, own->name) : NULL;

		if (got && json_equal(got, own->schema->constant))
			return schema_check_value(check, schema->branches[i], value);
	}
	return no_branch(check, schema, kind->name, value);
}

static json_t *check_typed(struct schema_checking *check, const struct schema *schema,
                           json_t *value)
{
	json_t *result = NULL;

	if (schema->choices)
		check_choices(check, schema, value);
	if (schema->constant)
		check_constant(check, schema, value);
	if (schema->branch_count)
		return check_branches(check, schema, value);
	if (json_is_object(value))
		result = schema_check_object(check, schema, value);
	else if (json_is_array(value))
		result = check_array(check, schema, value);
	else if (json_is_string(value))
		check_string(check, schema, value);
	else if (json_is_number(value))
		check_number(check, schema, value);
	return result ? result : json_incref(value);
}

static void report_type(struct schema_checking *check, const char *wanted, const json_t *value)
{
	_cleanup_buf_ struct buf got = BUF_INIT(4096);

	if (!json_is_null(value))
		schema_describe_value(&got, value);
	report_problem(check, "expected %s, got %s%s%s%s", wanted, json_type_phrase(value),
	               got.len ? " (" : "", got.len ? got.data : "", got.len ? ")" : "");
}

/* The depth of the recursion is that of the schema, which schema_compile bounds. */
static json_t *schema_check_value(struct schema_checking *check, const struct schema *schema,
                                  json_t *value)
{
	json_t *other, *result;
	char wanted[128];

	if (!schema->types || schema->types & type_bits(value))
		return check_typed(check, schema, value);
	other = value_as_meant(schema, value);
	if (!other) {
		/* "a string or null" for a set of types. */
		size_t size = sizeof(wanted);
		size_t len = 0;

		wanted[0] = '\0';
		for (size_t i = 0; i < ARRAY_LEN(types) && len < size; i++)
			if (schema->types & types[i].bit)
				len += (size_t)snprintf(wanted + len, size - len, "%s%s",
				                        len ? " or " : "", types[i].phrase);
		report_type(check, wanted, value);
		return json_incref(value);
	}
	result = check_typed(check, schema, other);
	json_decref(other);
	return result;
}

json_t *schema_check_sent(const struct schema *schema, json_t *value, const json_t *names,
                          struct buf *problems)
{
	struct schema_checking check = { .path = BUF_INIT(4096), .problems = problems,
	                                 .names = names };
	json_t *result = schema_check_value(&check, schema, value);

	buf_release(&check.path);
	return result;
}

json_t *schema_check(const struct schema *schema, json_t *value, struct buf *problems)
{
	return schema_check_sent(schema, value, NULL, problems);
}
