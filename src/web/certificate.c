/* SPDX-License-Identifier: Apache-2.0 */
/* The certificate of an address that other machines reach: the user's, or one that is made for this
 * run (ECDSA P-256, its own issuer), whose fingerprint the user compares with the browser's. */
#include <arpa/inet.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/library.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/random.h"
#include "web/private.h"

enum { FILE_BYTES = 256 << 10, SERIAL_BYTES = 16, DAYS = 30, FINGERPRINT_BYTES = 32 };

/* libmicrohttpd brings it along. */
struct gnutls_library {
	__typeof__(gnutls_x509_privkey_init) *privkey_init;
	__typeof__(gnutls_x509_privkey_deinit) *privkey_deinit;
	__typeof__(gnutls_x509_privkey_generate) *privkey_generate;
	__typeof__(gnutls_x509_privkey_export2) *privkey_export2;
	__typeof__(gnutls_x509_crt_init) *crt_init;
	__typeof__(gnutls_x509_crt_deinit) *crt_deinit;
	__typeof__(gnutls_x509_crt_import) *crt_import;
	__typeof__(gnutls_x509_crt_set_version) *crt_set_version;
	__typeof__(gnutls_x509_crt_set_key) *crt_set_key;
	__typeof__(gnutls_x509_crt_set_serial) *crt_set_serial;
	__typeof__(gnutls_x509_crt_set_activation_time) *crt_set_activation_time;
	__typeof__(gnutls_x509_crt_set_expiration_time) *crt_set_expiration_time;
	__typeof__(gnutls_x509_crt_set_dn) *crt_set_dn;
	__typeof__(gnutls_x509_crt_set_subject_alt_name) *crt_set_subject_alt_name;
	__typeof__(gnutls_x509_crt_set_key_usage) *crt_set_key_usage;
	__typeof__(gnutls_x509_crt_sign2) *crt_sign2;
	__typeof__(gnutls_x509_crt_export2) *crt_export2;
	__typeof__(gnutls_x509_crt_get_fingerprint) *crt_get_fingerprint;
	__typeof__(gnutls_strerror) *strerror;
};

#define SYMBOL(name, member) { "gnutls_" name, offsetof(struct gnutls_library, member) }

static const struct library_symbol symbols[] = {
	SYMBOL("x509_privkey_init", privkey_init),
	SYMBOL("x509_privkey_deinit", privkey_deinit),
	SYMBOL("x509_privkey_generate", privkey_generate),
	SYMBOL("x509_privkey_export2", privkey_export2),
	SYMBOL("x509_crt_init", crt_init),
	SYMBOL("x509_crt_deinit", crt_deinit),
	SYMBOL("x509_crt_import", crt_import),
	SYMBOL("x509_crt_set_version", crt_set_version),
	SYMBOL("x509_crt_set_key", crt_set_key),
	SYMBOL("x509_crt_set_serial", crt_set_serial),
	SYMBOL("x509_crt_set_activation_time", crt_set_activation_time),
	SYMBOL("x509_crt_set_expiration_time", crt_set_expiration_time),
	SYMBOL("x509_crt_set_dn", crt_set_dn),
	SYMBOL("x509_crt_set_subject_alt_name", crt_set_subject_alt_name),
	SYMBOL("x509_crt_set_key_usage", crt_set_key_usage),
	SYMBOL("x509_crt_sign2", crt_sign2),
	SYMBOL("x509_crt_export2", crt_export2),
	SYMBOL("x509_crt_get_fingerprint", crt_get_fingerprint),
	SYMBOL("strerror", strerror),
};

static const struct library row = { { "libgnutls.so.30" }, "HTTPS needs", "libgnutls30", symbols,
                                    ARRAY_LEN(symbols) };

struct certificate_work {
	struct gnutls_library lib;
	gnutls_x509_crt_t certificate;
	gnutls_x509_privkey_t key;
};

/* ---- made for this run ------------------------------------------------------------ */

static int certificate_add_name(const struct certificate_work *work, const char *name)
{
	unsigned char address[sizeof(struct in6_addr)];
	const bool v4 = inet_pton(AF_INET, name, address) == 1;

	if (v4 || inet_pton(AF_INET6, name, address) == 1)
		return work->lib.crt_set_subject_alt_name(
			work->certificate, GNUTLS_SAN_IPADDRESS, address,
			v4 ? sizeof(struct in_addr) : sizeof(struct in6_addr), GNUTLS_FSAN_APPEND);
	return work->lib.crt_set_subject_alt_name(work->certificate, GNUTLS_SAN_DNSNAME, name,
	                                            (unsigned)strlen(name),
	                                            GNUTLS_FSAN_APPEND);
}

/* The names that requests may come under, without ports. */
static int certificate_add_names(const struct certificate_work *work,
                                 const struct web *web)
{
	const struct web_options *options = &web->options;
	int code = certificate_add_name(work, "127.0.0.1");

	for (size_t i = 0; i < web->name_count && code >= 0; i++) {
		const char *host = web->names[i];
		_cleanup_free_ char *name = host[0] == '[' ?
			mem_dup(host + 1, strcspn(host + 1, "]")) : mem_strdup(host);

		code = certificate_add_name(work, name);
	}
	for (size_t i = 0; i < options->host_count && code >= 0; i++) {
		_cleanup_free_ char *name = mem_dup(options->hosts[i],
		                                    strcspn(options->hosts[i], ":"));

		code = certificate_add_name(work, name);
	}
	return code < 0 ? code : certificate_add_name(work, "localhost");
}

static int certificate_fill(const struct certificate_work *work,
                            const struct web *web)
{
	const struct gnutls_library *lib = &work->lib;
	unsigned char serial[SERIAL_BYTES];
	const time_t now = time(NULL);
	int code;

	random_distinct(serial, sizeof(serial));
	serial[0] &= 0x7f; /* RFC 5280, 4.1.2.2: positive */
	if ((code = lib->crt_set_version(work->certificate, 3)) < 0 ||
	    (code = lib->crt_set_serial(work->certificate, serial, sizeof(serial))) < 0 ||
	    (code = lib->crt_set_activation_time(work->certificate, now - 3600)) < 0 ||
	    (code = lib->crt_set_expiration_time(work->certificate, now + DAYS * 86400)) < 0 ||
	    (code = lib->crt_set_dn(work->certificate, "CN=hasp", NULL)) < 0 ||
	    (code = certificate_add_names(work, web)) < 0 ||
	    (code = lib->crt_set_key_usage(work->certificate,
	                                   GNUTLS_KEY_DIGITAL_SIGNATURE)) < 0 ||
	    (code = lib->crt_set_key(work->certificate, work->key)) < 0)
		return code;
	return lib->crt_sign2(work->certificate, work->certificate, work->key,
	                      GNUTLS_DIG_SHA256, 0);
}

static char *datum_steal(gnutls_datum_t *datum)
{
	char *text = mem_dup((const char *)datum->data, datum->size);

	explicit_bzero(datum->data, datum->size);
	free(datum->data); /* gnutls_free is the C library's, unless the program replaced it */
	return text;
}

static bool certificate_make(const struct certificate_work *work, const struct web *web,
                 char **ret_certificate, char **ret_key, struct err *err)
{
	const struct gnutls_library *lib = &work->lib;
	gnutls_datum_t certificate = { 0 }, key = { 0 };
	int code;

	if ((code = lib->privkey_generate(work->key, GNUTLS_PK_ECDSA,
	                                  GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1),
	                                  0)) < 0 ||
	    (code = certificate_fill(work, web)) < 0 ||
	    (code = lib->crt_export2(work->certificate, GNUTLS_X509_FMT_PEM,
	                             &certificate)) < 0)
		return err_set(err, ERR_INTERNAL, "A certificate cannot be made: %s.",
		               lib->strerror(code));
	*ret_certificate = datum_steal(&certificate);
	if ((code = lib->privkey_export2(work->key, GNUTLS_X509_FMT_PEM, &key)) < 0)
		return err_set(err, ERR_INTERNAL, "A key cannot be made: %s.", lib->strerror(code));
	*ret_key = datum_steal(&key);
	return true;
}

/* ---- from files ------------------------------------------------------------------- */

static bool read_pem(const char *path, char **ret, struct err *err)
{
	_cleanup_file_text_ struct file_text text = { 0 };
	struct span read;

	if (!file_read(path, FILE_BYTES, &text, err))
		return false;
	read = file_text_span(&text);
	if (!read.len || memchr(read.data, '\0', read.len))
		return err_set(err, ERR_INVALID_ARGUMENT, "%s is missing, or is no PEM file.",
		               path);
	*ret = mem_dup(read.data, read.len);
	return true;
}

static bool certificate_take(const struct certificate_work *work, const struct web *web,
                 char **ret_certificate, char **ret_key, struct err *err)
{
	gnutls_datum_t text;
	int code;

	if (!read_pem(web->options.certificate, ret_certificate, err) ||
	    !read_pem(web->options.key, ret_key, err))
		return false;
	text = (gnutls_datum_t){ (unsigned char *)*ret_certificate,
		                 (unsigned)strlen(*ret_certificate) };
	code = work->lib.crt_import(work->certificate, &text, GNUTLS_X509_FMT_PEM);
	return code >= 0 || err_set(err, ERR_INVALID_ARGUMENT, "%s is no certificate: %s.",
	                            web->options.certificate, work->lib.strerror(code));
}

/* ---- both ------------------------------------------------------------------------- */

static bool fingerprint(const struct certificate_work *work, char **ret, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT(4 * FINGERPRINT_BYTES);
	unsigned char bytes[FINGERPRINT_BYTES];
	size_t size = sizeof(bytes);

	if (work->lib.crt_get_fingerprint(work->certificate, GNUTLS_DIG_SHA256, bytes,
	                                    &size) < 0)
		return err_set(err, ERR_INTERNAL, "The certificate has no fingerprint.");
	for (size_t i = 0; i < size; i++)
		buf_printf(&text, "%s%02X", i ? ":" : "", bytes[i]);
	*ret = buf_steal(&text);
	return true;
}

bool web_certificate(const struct web *web, char **ret_certificate, char **ret_key,
                     char **ret_fingerprint, struct err *err)
{
	struct certificate_work work = { 0 };
	bool ok;

	if (!library_load(&row, &work.lib, err))
		return false;
	work.lib.crt_init(&work.certificate);
	work.lib.privkey_init(&work.key);
	ok = (web->options.certificate ? certificate_take : certificate_make)(
		     &work, web, ret_certificate, ret_key, err) &&
	     fingerprint(&work, ret_fingerprint, err);
	work.lib.crt_deinit(work.certificate);
	work.lib.privkey_deinit(work.key);
	return ok;
}
