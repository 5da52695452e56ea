#ifndef HEARTH_CCURL_H
#define HEARTH_CCURL_H
#include <curl/curl.h>
#include <stdbool.h>

// libcurl sets and reads its options through variadic functions, which Swift cannot call: one function here for each
// type of argument. The caller must name an option of that type.

static inline CURLcode hearth_curl_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode hearth_curl_set_size(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}

/// libcurl copies the text.
static inline CURLcode hearth_curl_set_text(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

/// libcurl keeps the pointer.
static inline CURLcode hearth_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

typedef size_t (*hearth_curl_bytes)(char *bytes, size_t size, size_t count, void *owner);

/// For CURLOPT_WRITEFUNCTION, CURLOPT_HEADERFUNCTION and CURLOPT_READFUNCTION.
static inline CURLcode hearth_curl_set_bytes(CURL *easy, CURLoption option, hearth_curl_bytes function) {
    return curl_easy_setopt(easy, option, function);
}

/// The status of the answer so far; 0 before there is one.
static inline long hearth_curl_status(CURL *easy) {
    long status = 0;
    return curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK ? status : 0;
}

/// Takes the next transfer that has ended; false when there is none.
static inline bool hearth_curl_take_ended(CURLM *multi, CURL **easy, CURLcode *result) {
    int left = 0;
    for (CURLMsg *message; (message = curl_multi_info_read(multi, &left));) {
        if (message->msg != CURLMSG_DONE) continue;
        *easy = message->easy_handle;
        *result = message->data.result;
        return true;
    }
    return false;
}

static inline CURLcode hearth_curl_global_init(void) {
    return curl_global_init(CURL_GLOBAL_DEFAULT);
}

enum { HEARTH_CURL_WRITE_ERROR = 0xFFFFFFFF, HEARTH_CURL_READ_ABORT = CURL_READFUNC_ABORT };
#endif
