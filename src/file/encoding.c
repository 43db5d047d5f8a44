/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the encoding: marks, validity, NUL patterns, uchardet; and transcoding to UTF-8 and
 * back. */
#include "file/encoding.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/text.h"

enum {
	SAMPLE_BYTES = 64 << 10,   /* control characters and NUL patterns show early */
	DETECT_BYTES = 256 << 10,  /* uchardet is sure long before this */
};

/* ---- the kinds of names ------------------------------------------------- */

static const struct bom {
	struct span bytes;
	const char *name;
} marks[] = { /* longer marks before their own beginnings */
	{ { "\xFF\xFE\0\0", 4 }, "UTF-32LE" },
	{ { "\0\0\xFE\xFF", 4 }, "UTF-32BE" },
	{ { "\x84\x31\x95\x33", 4 }, "GB18030" },
	{ { "\xEF\xBB\xBF", 3 }, "UTF-8" },
	{ { "\xFF\xFE", 2 }, "UTF-16LE" },
	{ { "\xFE\xFF", 2 }, "UTF-16BE" },
};

/* What else a found or given name may mean, best first. Windows' supersets come before
 * the standards: they are what wrote the files, and glibc's Shift_JIS has no backslash. */
static const struct alias {
	const char *name;
	const char *candidates[3];
} aliases[] = {
	{ "SHIFT_JIS", { "CP932", "SHIFT_JIS" } },
	{ "EUC-KR", { "EUC-KR", "CP949" } },
	{ "UHC", { "EUC-KR", "CP949" } },
	{ "BIG5", { "BIG5", "CP950", "BIG5-HKSCS" } },
	{ "GB2312", { "GB2312", "GBK", "GB18030" } },
	{ "latin-1", { "ISO-8859-1" } },
	{ "MAC-CENTRALEUROPE", { "MACCENTRALEUROPE" } },
};

size_t encoding_unit(const char *name)
{
	if (strncasecmp(name, "UTF-16", 6) == 0)
		return 2;
	if (strncasecmp(name, "UTF-32", 6) == 0)
		return 4;
	return 1;
}

bool encoding_big_endian(const char *name)
{
	size_t len = strlen(name);

	return len > 2 && strcasecmp(name + len - 2, "BE") == 0;
}

static void encoding_add_name(struct encoding_guess *guess, const char *name)
{
	if (guess->name_count == ENCODING_CANDIDATES)
		return;
	for (size_t i = 0; i < guess->name_count; i++)
		if (strcasecmp(guess->names[i], name) == 0)
			return;
	snprintf(guess->names[guess->name_count++], ENCODING_NAME_SIZE, "%s", name);
}

static void add_candidates(struct encoding_guess *guess, const char *name)
{
	char nicer[ENCODING_NAME_SIZE];

	for (size_t i = 0; i < ARRAY_LEN(aliases); i++) {
		if (strcasecmp(name, aliases[i].name) != 0)
			continue;
		for (size_t j = 0; j < 3 && aliases[i].candidates[j]; j++)
			encoding_add_name(guess, aliases[i].candidates[j]);
		return;
	}
	snprintf(nicer, sizeof(nicer), "%s", name);
	if (strncmp(nicer, "WINDOWS-", 8) == 0)
		memcpy(nicer, "windows-", 8);
	encoding_add_name(guess, nicer);
}

/* ---- control characters ------------------------------------------------- */

/* Escapes and backspaces are in terminal logs and formatted manuals: they are text. */
static bool is_control_character(uint32_t c)
{
	const uint32_t text = 0x3Fu << 0x08 | 1u << 0x1B; /* BS TAB LF VT FF CR, ESC */

	return c < 0x20 ? (text >> c & 1) == 0 : c == 0x7F;
}

typedef unsigned char block __attribute__((vector_size(16)));

/* Counts the control characters among sixteen bytes: is_control_character for all of them in
 * parallel. */
static size_t count_controls(const char *sixteen)
{
	const block text_low = { 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8 };
	block bytes, hits;
	uint64_t halves[2];

	memcpy(&bytes, sixteen, sizeof(bytes));
	/* 0x08 to 0x0D are text: what is less than 6 after 8 was taken away. */
	hits = (block)(((bytes < 0x20) & (bytes - text_low >= 6) & (bytes != 0x1B)) |
	               (bytes == 0x7F));
	memcpy(halves, &hits, sizeof(halves));
	if (!(halves[0] | halves[1]))
		return 0;
	return (size_t)(__builtin_popcountll(halves[0]) + __builtin_popcountll(halves[1])) / 8;
}

/* Whether more than one byte in `one_in` of the beginning is a control character. */
static bool control_rich(struct span raw, size_t one_in)
{
	struct span sample = span_head(raw, SAMPLE_BYTES);
	size_t controls = 0;
	size_t at = 0;

	for (; sample.len - at >= sizeof(block); at += sizeof(block))
		controls += count_controls(sample.data + at);
	for (; at < sample.len; at++)
		controls += is_control_character((unsigned char)sample.data[at]);
	return controls * one_in > sample.len;
}

/* ---- UTF-16 and UTF-32 -------------------------------------------------- */

struct wide_stat {
	size_t units;
	size_t nul, bad, control, ascii;
	size_t swapped; /* units that would be ASCII in the other byte order */
};

static uint32_t wide_load(const char *at, size_t width, bool big_endian)
{
	const unsigned char *s = (const unsigned char *)at;
	uint32_t unit = 0;

	for (size_t i = 0; i < width; i++)
		unit |= (uint32_t)s[i] << 8 * (big_endian ? width - 1 - i : i);
	return unit;
}

static struct wide_stat wide_measure(struct span raw, size_t width, bool big_endian)
{
	struct span sample = span_head(raw, SAMPLE_BYTES);
	struct wide_stat stat = { 0 };
	bool after_high = false;

	for (size_t at = 0; at + width <= sample.len; at += width) {
		uint32_t unit = wide_load(sample.data + at, width, big_endian);
		bool low;
		bool high;

		low = unit >= 0xDC00 && unit <= 0xDFFF;
		high = unit >= 0xD800 && unit <= 0xDBFF;
		stat.units++;
		stat.nul += unit == 0;
		stat.ascii += unit && unit < 0x80;
		stat.swapped += width == 2 && unit && (unit & 0xFF) == 0;
		stat.control += is_control_character(unit) && unit;
		stat.bad += unit > 0x10FFFF || (unit & 0xFFFE) == 0xFFFE ||
		             (width == 2 ? low != after_high : low || high);
		after_high = width == 2 && unit >= 0xD800 && unit <= 0xDBFF;
	}
	return stat;
}

/* With a byte-order mark a few strange units are damage; many are another kind of file. */
static bool wide_plausible(struct span raw, size_t width, bool big_endian)
{
	struct wide_stat stat = wide_measure(raw, width, big_endian);

	return (stat.nul + stat.bad + stat.control) * 10 <= stat.units;
}

/* Without a mark everything must fit; short content must be mostly ASCII. */
static bool wide_certain(struct span raw, size_t width, bool big_endian)
{
	struct wide_stat stat = wide_measure(raw, width, big_endian);
	size_t least_ascii = stat.units < 64 ? (stat.units * 3 + 3) / 4 : stat.units / 50;

	return raw.len % width == 0 && stat.units >= 2 && !stat.nul && !stat.bad &&
	       stat.control * 50 <= stat.units && stat.ascii >= least_ascii &&
	       stat.ascii > 4 * stat.swapped;
}

static bool sniff_wide(struct span raw, struct encoding_guess *guess)
{
	static const char *const names[] = { "UTF-32LE", "UTF-32BE", "UTF-16LE", "UTF-16BE" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (!wide_certain(raw, encoding_unit(names[i]), encoding_big_endian(names[i])))
			continue;
		guess->kind = ENCODING_UNICODE;
		encoding_add_name(guess, names[i]);
		return true;
	}
	return false;
}

/* ---- UTF-8 with stray bytes --------------------------------------------- */

/* Four real multi-byte sequences for each stray byte: legacy text has them only by
 * accident, and far more rarely. */
static bool mostly_utf8(struct span raw)
{
	size_t sequences = 0;
	size_t strays = 0;
	struct utf8_char c;

	while (utf8_next(&raw, &c)) {
		sequences += c.bytes.len > 1;
		strays += c.bad;
	}
	return sequences >= 4 * strays;
}

/* ---- legacy encodings --------------------------------------------------- */

/* libuchardet's interface, which its headers would bind at link time. */
struct uchardet_api {
	void *library;
	void *(*create)(void);
	void (*destroy)(void *);
	int (*feed)(void *, const char *, size_t);
	void (*finish)(void *);
	const char *(*charset)(void *);
};

/* ISO C has no cast from an object pointer to a function pointer; POSIX has. */
#define BIND(api, member, symbol) \
	(*(void **)(void *)&(api)->member = dlsym((api)->library, symbol))

static bool uchardet_load(struct uchardet_api *api)
{
	api->library = dlopen("libuchardet.so.0", RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
	if (!api->library)
		return false;
	BIND(api, create, "uchardet_new");
	BIND(api, destroy, "uchardet_delete");
	BIND(api, feed, "uchardet_handle_data");
	BIND(api, finish, "uchardet_data_end");
	BIND(api, charset, "uchardet_get_charset");
	dlclose(api->library); /* RTLD_NODELETE keeps it */
	return api->create && api->destroy && api->feed && api->finish && api->charset;
}

/* The part to look at: whole lines from the first byte that is not ASCII. */
static struct span distinctive_part(struct span raw)
{
	size_t at = 0;
	size_t line = 0;

	while (at < raw.len && (unsigned char)raw.data[at] < 0x80) {
		if (raw.data[at] == '\n')
			line = at + 1;
		at++;
	}
	if (at == raw.len || at - line > DETECT_BYTES / 2)
		line = at == raw.len ? 0 : at;
	return span_head(span_skip(raw, line), DETECT_BYTES);
}

static bool ask_uchardet(struct span sample, char name[static ENCODING_NAME_SIZE])
{
	struct uchardet_api api;
	void *detector;

	if (!uchardet_load(&api))
		return false;
	detector = api.create();
	if (!detector)
		return false;
	name[0] = '\0';
	if (api.feed(detector, sample.data, sample.len) == 0) {
		api.finish(detector);
		snprintf(name, ENCODING_NAME_SIZE, "%s", api.charset(detector));
	}
	api.destroy(detector);
	return name[0] != '\0';
}

/* Whether two encodings read the sample alike. */
static bool reads_alike(struct span sample, const char *a, const char *b)
{
	_cleanup_transcoder_ struct transcoder ta = TRANSCODER_INIT;
	_cleanup_transcoder_ struct transcoder tb = TRANSCODER_INIT;
	_cleanup_buf_ struct buf text_a = BUF_INIT(4 * DETECT_BYTES);
	_cleanup_buf_ struct buf text_b = BUF_INIT(4 * DETECT_BYTES);
	size_t at;

	return encoding_open(a, &ta) && encoding_open(b, &tb) &&
	       encoding_convert(ta.decode, sample, &text_a, &at) == TRANSCODE_OK &&
	       encoding_convert(tb.decode, sample, &text_b, &at) == TRANSCODE_OK &&
	       span_eq(buf_view(&text_a), buf_view(&text_b));
}

/* Where the guess makes no difference to what is read, the commonest name is best: in short
 * texts uchardet takes one Latin alphabet for another. */
static void prefer_common(struct encoding_guess *guess, struct span sample, const char *name)
{
	static const char *const common[] = { "ISO-8859-1", "windows-1252" };

	if (strncmp(name, "ISO-8859-", 9) != 0 && strncmp(name, "WINDOWS-125", 11) != 0)
		return;
	for (size_t i = 0; i < ARRAY_LEN(common); i++)
		if (reads_alike(sample, name, common[i]))
			encoding_add_name(guess, common[i]);
}

/* ISO-8859-1 gives a character to every byte, but those of 0x80 to 0x9F are control
 * characters, which no text has. */
static bool few_c1(struct span raw)
{
	struct span sample = distinctive_part(raw);
	size_t controls = 0;

	for (size_t i = 0; i < sample.len; i++)
		controls += ((unsigned char)sample.data[i] & 0xE0) == 0x80;
	return controls * 100 <= sample.len;
}

static void sniff_legacy(struct span raw, struct encoding_guess *guess)
{
	struct span sample = distinctive_part(raw);
	char name[ENCODING_NAME_SIZE];

	guess->kind = ENCODING_LEGACY;
	if (ask_uchardet(sample, name)) {
		prefer_common(guess, sample, name);
		add_candidates(guess, name);
	}
	if (guess->name_count == ENCODING_CANDIDATES)
		guess->name_count--;
	encoding_add_name(guess, "windows-1252");
	if (few_c1(raw))
		encoding_add_name(guess, "ISO-8859-1");
}

/* Seven-bit encodings switch alphabets with escape sequences: ISO-2022-JP and its kin. */
static bool encoding_has_designation(struct span raw)
{
	struct span rest = span_head(raw, SAMPLE_BYTES);
	const char *escape = rest.len ? memchr(rest.data, 0x1B, rest.len) : NULL;

	while (escape) {
		rest = span_skip(rest, (size_t)(escape - rest.data) + 1);
		if (span_starts(rest, SPAN("$")))
			return true;
		escape = rest.len ? memchr(rest.data, 0x1B, rest.len) : NULL;
	}
	return false;
}

static bool sniff_seven_bit(struct span raw, struct encoding_guess *guess)
{
	char name[ENCODING_NAME_SIZE];

	if (!encoding_has_designation(raw) || !ask_uchardet(span_head(raw, DETECT_BYTES), name) ||
	    strncmp(name, "ISO-2022-", 9) != 0)
		return false;
	guess->kind = ENCODING_LEGACY;
	encoding_add_name(guess, name);
	return true;
}

/* ---- all together ------------------------------------------------------- */

static bool sniff_mark(struct span raw, struct encoding_guess *guess)
{
	for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
		const char *name = marks[i].name;
		struct span text = span_skip(raw, marks[i].bytes.len);
		size_t unit = encoding_unit(name);

		if (!span_starts(raw, marks[i].bytes))
			continue;
		if (unit > 1 && !wide_plausible(text, unit, encoding_big_endian(name)))
			continue;
		guess->bom_bytes = marks[i].bytes.len;
		encoding_add_name(guess, name);
		guess->kind = unit > 1 ? ENCODING_UNICODE : ENCODING_LEGACY;
		if (strcmp(name, "UTF-8") == 0)
			guess->kind = utf8_valid(text) ? ENCODING_UTF8 : ENCODING_LOSSY;
		return true;
	}
	return false;
}

bool encoding_sniff_utf8(struct span raw, struct encoding_guess *ret)
{
	*ret = (struct encoding_guess){ .kind = ENCODING_UTF8 };
	if (raw.len && sniff_mark(raw, ret))
		return ret->kind == ENCODING_UTF8 && !control_rich(raw, 10);
	encoding_add_name(ret, "UTF-8");
	return !raw.len || (!memchr(raw.data, '\0', raw.len) && utf8_valid(raw) &&
	                    !control_rich(raw, 10) && !encoding_has_designation(raw));
}

void encoding_sniff(struct span raw, struct encoding_guess *ret)
{
	if (encoding_sniff_utf8(raw, ret))
		return;
	*ret = (struct encoding_guess){ .kind = ENCODING_BINARY };
	if (sniff_mark(raw, ret)) {
		if (ret->names[0][4] == '8' && control_rich(raw, 10))
			ret->kind = ENCODING_BINARY;
		return;
	}
	if (memchr(raw.data, '\0', raw.len)) {
		sniff_wide(raw, ret);
		return;
	}
	if (utf8_valid(raw)) {
		if (control_rich(raw, 10) || sniff_seven_bit(raw, ret))
			return;
		ret->kind = ENCODING_UTF8;
		encoding_add_name(ret, "UTF-8");
		return;
	}
	if (control_rich(raw, 50))
		return;
	if (mostly_utf8(raw)) {
		ret->kind = ENCODING_LOSSY;
		encoding_add_name(ret, "UTF-8");
		return;
	}
	sniff_legacy(raw, ret);
}

/* ---- names that callers give -------------------------------------------- */

static bool is_utf8_name(const char *name)
{
	static const char *const names[] = { "utf-8", "utf8", "utf_8", "utf-8-sig",
		                             "ascii", "us-ascii" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcasecmp(name, names[i]) == 0)
			return true;
	return false;
}

/* "UTF-16", "utf_32le", ...: what follows "UTF" and a separator; NULL for other names. */
static const char *wide_part(const char *name)
{
	const char *part = name + 3;

	if (strncasecmp(name, "UTF", 3) != 0)
		return NULL;
	part += *part == '-' || *part == '_';
	return strncmp(part, "16", 2) == 0 || strncmp(part, "32", 2) == 0 ? part : NULL;
}

/* Without a byte order it is taken from the content, else little-endian. */
static void add_wide_name(struct span raw, const char *part, struct encoding_guess *guess)
{
	static const char *const orders[] = { "", "LE", "BE" };
	size_t unit = part[0] == '1' ? 2 : 4;

	for (size_t i = 0; i < ARRAY_LEN(orders); i++) {
		bool big_endian = i ? i == 2 : wide_certain(raw, unit, true);
		char name[ENCODING_NAME_SIZE];

		if (strcasecmp(part + 2, orders[i]) != 0)
			continue;
		snprintf(name, sizeof(name), "UTF-%zu%s", 8 * unit, big_endian ? "BE" : "LE");
		guess->kind = ENCODING_UNICODE;
		encoding_add_name(guess, name);
	}
}

/* A name that iconv can be given: it would take "//IGNORE" and worse. */
static bool name_is_plain(const char *name)
{
	size_t len = strlen(name);

	return len >= 2 && len < ENCODING_NAME_SIZE &&
	       strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	                    "0123456789-_.:+") == len;
}

static void add_known(struct encoding_guess *guess, const char *name)
{
	_cleanup_transcoder_ struct transcoder transcoder = TRANSCODER_INIT;
	char dashed[ENCODING_NAME_SIZE];

	snprintf(dashed, sizeof(dashed), "%s", name);
	for (char *c = dashed; *c; c++)
		if (*c == '_')
			*c = '-';
	add_candidates(guess, name);
	if (!encoding_open(guess->names[0], &transcoder)) {
		guess->name_count = 0;
		add_candidates(guess, dashed);
		if (!encoding_open(guess->names[0], &transcoder))
			guess->name_count = 0;
	}
}

bool encoding_named(struct span raw, const char *name, struct encoding_guess *ret,
                    struct err *err)
{
	struct encoding_guess guess = { .kind = ENCODING_LEGACY };

	if (!name_is_plain(name))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "encoding must be the name of a character encoding.");
	if (sniff_mark(raw, &guess)) {
		*ret = guess;
		return true;
	}
	if (is_utf8_name(name)) {
		/* Models name UTF-8 out of habit: that does not make text of an image. */
		guess.kind = control_rich(raw, 10) ? ENCODING_BINARY :
		             utf8_valid(raw)       ? ENCODING_UTF8 :
		                                     ENCODING_LOSSY;
		encoding_add_name(&guess, "UTF-8");
	} else if (wide_part(name)) {
		add_wide_name(raw, wide_part(name), &guess);
	} else {
		add_known(&guess, name);
	}
	if (!guess.name_count)
		return err_set(err, ERR_INVALID_ARGUMENT, "There is no encoding named \"%s\".",
		               name);
	*ret = guess;
	return true;
}

/* ---- transcoding ------------------------------------------------------------------ */

/* iconv over bounded buffers, and lines in encodings other than UTF-8. */

void encoding_close(struct transcoder *transcoder)
{
	if (transcoder->decode != (iconv_t)-1)
		iconv_close(transcoder->decode);
	if (transcoder->encode != (iconv_t)-1)
		iconv_close(transcoder->encode);
	*transcoder = (struct transcoder)TRANSCODER_INIT;
}

bool encoding_open(const char *name, struct transcoder *ret)
{
	struct transcoder transcoder = {
		.decode = iconv_open("UTF-8", name),
		.encode = iconv_open(name, "UTF-8"),
		.unit = encoding_unit(name),
	};

	if (transcoder.decode == (iconv_t)-1 || transcoder.encode == (iconv_t)-1) {
		encoding_close(&transcoder);
		return false;
	}
	*ret = transcoder;
	return true;
}

/* One call of iconv with room for `room` bytes; `in` NULL flushes the shift state. */
static enum transcode_result encoding_step(iconv_t conversion, char **in, size_t *left,
                                           struct buf *out, size_t room)
{
	char *end = buf_reserve(out, room);
	char *start = end;
	size_t done;

	if (!end)
		return TRANSCODE_OVERFLOW;
	errno = 0;
	done = iconv(conversion, in, left, &end, &room);
	out->len += (size_t)(end - start);
	out->data[out->len] = '\0';
	/* A count above 0 means characters replaced by look-alikes: not the same text. */
	if (done == (size_t)-1 && errno == E2BIG)
		return TRANSCODE_OK;
	return done == 0 ? TRANSCODE_OK : TRANSCODE_INVALID;
}

enum transcode_result encoding_convert(iconv_t conversion, struct span in, struct buf *out,
                                       size_t *ret_at)
{
	char *at = (char *)in.data; /* iconv only reads there */
	size_t left = in.len;
	enum transcode_result result = TRANSCODE_OK;

	iconv(conversion, NULL, NULL, NULL, NULL);
	while (left && result == TRANSCODE_OK)
		result = encoding_step(conversion, &at, &left, out, left + left / 2 + 16);
	if (result == TRANSCODE_OK)
		result = encoding_step(conversion, NULL, NULL, out, 16);
	*ret_at = in.len - left;
	return result;
}

size_t encoding_line_len(struct span rest, size_t unit, bool big_endian)
{
	static const char zeros[4] = { 0 };
	size_t lead = big_endian ? unit - 1 : 0; /* bytes of the unit before the 0x0A */
	size_t at = 0;

	while (at < rest.len) {
		const char *feed = memchr(rest.data + at, '\n', rest.len - at);
		size_t start;

		if (!feed)
			return rest.len;
		at = (size_t)(feed - rest.data);
		start = at - at % unit;
		if (at % unit == lead && start + unit <= rest.len &&
		    memcmp(rest.data + start, zeros, lead) == 0 &&
		    memcmp(rest.data + at + 1, zeros, unit - 1 - lead) == 0)
			return start + unit;
		at++;
	}
	return rest.len;
}
