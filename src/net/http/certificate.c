/* SPDX-License-Identifier: Apache-2.0 */
/* Client certificates: GnuTLS, which libmicrohttpd has loaded, checks them when they are asked
 * for. */
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdlib.h>

#include "base/library.h"
#include "base/mem.h"
#include "net/http/server_private.h"

struct certificate_library {
	__typeof__(gnutls_certificate_get_peers) *peers;
	__typeof__(gnutls_certificate_verify_peers) *verify;
	__typeof__(gnutls_x509_crt_init) *init;
	__typeof__(gnutls_x509_crt_deinit) *deinit;
	__typeof__(gnutls_x509_crt_import) *import;
	__typeof__(gnutls_x509_crt_get_dn3) *name;
};

static const struct library_symbol certificate_symbols[] = {
	{ "gnutls_certificate_get_peers", offsetof(struct certificate_library, peers) },
	{ "gnutls_certificate_verify_peers", offsetof(struct certificate_library, verify) },
	{ "gnutls_x509_crt_init", offsetof(struct certificate_library, init) },
	{ "gnutls_x509_crt_deinit", offsetof(struct certificate_library, deinit) },
	{ "gnutls_x509_crt_import", offsetof(struct certificate_library, import) },
	{ "gnutls_x509_crt_get_dn3", offsetof(struct certificate_library, name) },
};

static const struct library certificate_library_row = {
	{ "libgnutls.so.30" }, "Client certificates need", "libgnutls30", certificate_symbols,
	ARRAY_LEN(certificate_symbols),
};

/* Its authority is one of options.client_authority, its time has come and is not over, and it is
 * not one for servers alone. */
static bool is_valid(const struct certificate_library *lib, gnutls_session_t session)
{
	gnutls_typed_vdata_st purpose = { .type = GNUTLS_DT_KEY_PURPOSE_OID,
		                          .data = (void *)(uintptr_t)GNUTLS_KP_TLS_WWW_CLIENT };
	unsigned status = GNUTLS_CERT_INVALID;

	return lib->verify(session, &purpose, 1, &status) == 0 && status == 0;
}

static char *certificate_subject(const struct certificate_library *lib, const gnutls_datum_t *der)
{
	gnutls_x509_crt_t certificate;
	gnutls_datum_t text = { 0 }; /* from malloc: no one sets another allocator */
	char *name = NULL;

	if (lib->init(&certificate) != 0)
		return NULL;
	if (lib->import(certificate, der, GNUTLS_X509_FMT_DER) == 0 &&
	    lib->name(certificate, &text, 0) == 0)
		name = mem_dup((const char *)text.data, text.size);
	free(text.data);
	lib->deinit(certificate);
	return name;
}

bool http_request_certificate(struct http_request *request, struct http_certificate *ret)
{
	const union MHD_ConnectionInfo *info;
	struct certificate_library lib;
	const gnutls_datum_t *chain;
	struct err ignored = ERR_INIT;
	unsigned count = 0;

	if (!request->server->options.client_authority ||
	    !library_load(&certificate_library_row, &lib, &ignored))
		return false;
	info = request->server->lib.get_connection_info(request->mhd,
	                                                MHD_CONNECTION_INFO_GNUTLS_SESSION);
	if (!info || !info->tls_session || !is_valid(&lib, info->tls_session))
		return false;
	chain = lib.peers(info->tls_session, &count);
	if (!chain || !count)
		return false;
	ret->subject = certificate_subject(&lib, &chain[0]);
	ret->der = span_of((const char *)chain[0].data, chain[0].size);
	return ret->subject != NULL;
}

void http_certificate_release(struct http_certificate *certificate)
{
	free(certificate->subject);
	*certificate = (struct http_certificate){ 0 };
}
