#include "CSamplePages.h"

// The files themselves, as bytes. The compiler takes #embed for C of 2023 and remembers what it read, so a changed
// page is compiled in anew.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char index_html[] = {
#embed "Pages/index.html"
};

static const unsigned char chat_html[] = {
#embed "Pages/chat.html"
};

static const unsigned char timeline_html[] = {
#embed "Pages/timeline.html"
};

static const unsigned char party_html[] = {
#embed "Pages/party.html"
};

static const unsigned char style_css[] = {
#embed "Pages/style.css"
};

static const unsigned char hearth_js[] = {
#embed "Pages/hearth.js"
};

static const unsigned char accounts_js[] = {
#embed "Pages/accounts.js"
};

static const unsigned char dom_js[] = {
#embed "Pages/dom.js"
};

static const unsigned char gate_js[] = {
#embed "Pages/gate.js"
};

static const unsigned char social_js[] = {
#embed "Pages/social.js"
};

static const unsigned char chat_js[] = {
#embed "Pages/chat.js"
};

static const unsigned char conversation_js[] = {
#embed "Pages/conversation.js"
};

static const unsigned char directs_js[] = {
#embed "Pages/directs.js"
};

static const unsigned char sha256_js[] = {
#embed "Pages/sha256.js"
};

static const unsigned char rooms_js[] = {
#embed "Pages/rooms.js"
};

static const unsigned char links_js[] = {
#embed "Pages/links.js"
};

static const unsigned char threads_js[] = {
#embed "Pages/threads.js"
};

static const unsigned char bell_js[] = {
#embed "Pages/bell.js"
};

static const unsigned char message_js[] = {
#embed "Pages/message.js"
};

static const unsigned char roompanel_js[] = {
#embed "Pages/roompanel.js"
};

static const unsigned char timeline_js[] = {
#embed "Pages/timeline.js"
};

static const unsigned char card_js[] = {
#embed "Pages/card.js"
};

static const unsigned char party_js[] = {
#embed "Pages/party.js"
};

static const unsigned char partycard_js[] = {
#embed "Pages/partycard.js"
};

static const unsigned char letters_js[] = {
#embed "Pages/letters.js"
};

static const unsigned char inbox_js[] = {
#embed "Pages/inbox.js"
};

static const unsigned char photos_js[] = {
#embed "Pages/photos.js"
};

static const unsigned char parties_js[] = {
#embed "Pages/parties.js"
};

static const unsigned char social_rules[] = {
#embed "../../rules/social.json"
};

static const unsigned char party_rules[] = {
#embed "../../rules/party.json"
};

#define FILE_OF(name, type, bytes) {name, type, bytes, sizeof bytes}
#define PAGE(name, bytes) FILE_OF(name, "text/html; charset=utf-8", bytes)
#define SCRIPT(name, bytes) FILE_OF(name, "text/javascript; charset=utf-8", bytes)
#define STYLE(name, bytes) FILE_OF(name, "text/css; charset=utf-8", bytes)
#define RULES(name, bytes) FILE_OF(name, "application/json; charset=utf-8", bytes)

static const struct sample_file pages[] = {
    PAGE("", index_html),
    PAGE("chat", chat_html),
    PAGE("timeline", timeline_html),
    PAGE("party", party_html),
    STYLE("style.css", style_css),
    SCRIPT("hearth.js", hearth_js),
    SCRIPT("accounts.js", accounts_js),
    SCRIPT("dom.js", dom_js),
    SCRIPT("gate.js", gate_js),
    SCRIPT("social.js", social_js),
    SCRIPT("chat.js", chat_js),
    SCRIPT("conversation.js", conversation_js),
    SCRIPT("directs.js", directs_js),
    SCRIPT("sha256.js", sha256_js),
    SCRIPT("rooms.js", rooms_js),
    SCRIPT("links.js", links_js),
    SCRIPT("threads.js", threads_js),
    SCRIPT("bell.js", bell_js),
    SCRIPT("message.js", message_js),
    SCRIPT("roompanel.js", roompanel_js),
    SCRIPT("timeline.js", timeline_js),
    SCRIPT("card.js", card_js),
    SCRIPT("party.js", party_js),
    SCRIPT("partycard.js", partycard_js),
    SCRIPT("letters.js", letters_js),
    SCRIPT("inbox.js", inbox_js),
    SCRIPT("photos.js", photos_js),
    SCRIPT("parties.js", parties_js),
};

static const struct sample_file rules[] = {
    RULES("social", social_rules),
    RULES("party", party_rules),
};

const size_t sample_page_count = sizeof pages / sizeof pages[0];
const size_t sample_rules_count = sizeof rules / sizeof rules[0];

struct sample_file sample_page(size_t index) { return pages[index]; }

struct sample_file sample_rules(size_t index) { return rules[index]; }
