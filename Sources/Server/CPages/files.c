#include "CPages.h"

// The files themselves, as bytes. The compiler takes #embed for C of 2023 and remembers what it read, so a changed
// page is compiled in anew.
#pragma clang diagnostic ignored "-Wc23-extensions"
// An embedded file ends without a comma.

static const unsigned char index_html[] = {
#embed "Pages/samples/index.html"
};

static const unsigned char chat_html[] = {
#embed "Pages/samples/chat.html"
};

static const unsigned char timeline_html[] = {
#embed "Pages/samples/timeline.html"
};

static const unsigned char party_html[] = {
#embed "Pages/samples/party.html"
};

static const unsigned char style_css[] = {
#embed "Pages/colours.css"
,
#embed "Pages/samples/style.css"
};

static const unsigned char hearth_js[] = {
#embed "Pages/samples/hearth.js"
};

static const unsigned char accounts_js[] = {
#embed "Pages/samples/accounts.js"
};

static const unsigned char dom_js[] = {
#embed "Pages/samples/dom.js"
};

static const unsigned char gate_js[] = {
#embed "Pages/samples/gate.js"
};

static const unsigned char social_js[] = {
#embed "Pages/samples/social.js"
};

static const unsigned char chat_js[] = {
#embed "Pages/samples/chat.js"
};

static const unsigned char conversation_js[] = {
#embed "Pages/samples/conversation.js"
};

static const unsigned char directs_js[] = {
#embed "Pages/samples/directs.js"
};

static const unsigned char sha256_js[] = {
#embed "Pages/samples/sha256.js"
};

static const unsigned char rooms_js[] = {
#embed "Pages/samples/rooms.js"
};

static const unsigned char links_js[] = {
#embed "Pages/samples/links.js"
};

static const unsigned char threads_js[] = {
#embed "Pages/samples/threads.js"
};

static const unsigned char bell_js[] = {
#embed "Pages/samples/bell.js"
};

static const unsigned char message_js[] = {
#embed "Pages/samples/message.js"
};

static const unsigned char roompanel_js[] = {
#embed "Pages/samples/roompanel.js"
};

static const unsigned char timeline_js[] = {
#embed "Pages/samples/timeline.js"
};

static const unsigned char card_js[] = {
#embed "Pages/samples/card.js"
};

static const unsigned char party_js[] = {
#embed "Pages/samples/party.js"
};

static const unsigned char partycard_js[] = {
#embed "Pages/samples/partycard.js"
};

static const unsigned char questions_js[] = {
#embed "Pages/samples/questions.js"
};

static const unsigned char inbox_js[] = {
#embed "Pages/samples/inbox.js"
};

static const unsigned char bucket_js[] = {
#embed "Pages/samples/bucket.js"
};

static const unsigned char files_js[] = {
#embed "Pages/samples/files.js"
};

static const unsigned char photos_js[] = {
#embed "Pages/samples/photos.js"
};

static const unsigned char pictures_js[] = {
#embed "Pages/samples/pictures.js"
};

static const unsigned char uploads_js[] = {
#embed "Pages/samples/uploads.js"
};

static const unsigned char parties_js[] = {
#embed "Pages/samples/parties.js"
};

static const unsigned char console_accounts_js[] = {
#embed "Pages/console/accounts.js"
};

static const unsigned char console_audit_js[] = {
#embed "Pages/console/audit.js"
};

static const unsigned char console_backups_js[] = {
#embed "Pages/console/backups.js"
};

static const unsigned char console_cases_js[] = {
#embed "Pages/console/cases.js"
};

static const unsigned char console_cells_js[] = {
#embed "Pages/console/cells.js"
};

static const unsigned char console_charts_js[] = {
#embed "Pages/console/charts.js"
};

static const unsigned char console_cluster_js[] = {
#embed "Pages/console/cluster.js"
};

static const unsigned char console_connections_js[] = {
#embed "Pages/console/connections.js"
};

static const unsigned char console_console_css[] = {
#embed "Pages/colours.css"
,
#embed "Pages/console/console.css"
};

static const unsigned char console_console_js[] = {
#embed "Pages/console/console.js"
};

static const unsigned char console_coverage_js[] = {
#embed "Pages/console/coverage.js"
};

static const unsigned char console_data_js[] = {
#embed "Pages/console/data.js"
};

static const unsigned char console_databases_js[] = {
#embed "Pages/console/databases.js"
};

static const unsigned char console_diff_js[] = {
#embed "Pages/console/diff.js"
};

static const unsigned char console_editor_js[] = {
#embed "Pages/console/editor.js"
};

static const unsigned char console_figures_js[] = {
#embed "Pages/console/figures.js"
};

static const unsigned char console_filerules_js[] = {
#embed "Pages/console/filerules.js"
};

static const unsigned char console_files_js[] = {
#embed "Pages/console/files.js"
};

static const unsigned char console_filter_js[] = {
#embed "Pages/console/filter.js"
};

static const unsigned char console_history_js[] = {
#embed "Pages/console/history.js"
};

static const unsigned char console_index_html[] = {
#embed "Pages/console/index.html"
};

static const unsigned char console_keys_js[] = {
#embed "Pages/console/keys.js"
};

static const unsigned char console_links_js[] = {
#embed "Pages/console/links.js"
};

static const unsigned char console_listing_js[] = {
#embed "Pages/console/listing.js"
};

static const unsigned char console_log_js[] = {
#embed "Pages/console/log.js"
};

static const unsigned char console_metrics_js[] = {
#embed "Pages/console/metrics.js"
};

static const unsigned char console_nodes_js[] = {
#embed "Pages/console/nodes.js"
};

static const unsigned char console_overview_js[] = {
#embed "Pages/console/overview.js"
};

static const unsigned char console_pages_js[] = {
#embed "Pages/console/pages.js"
};

static const unsigned char console_palette_js[] = {
#embed "Pages/console/palette.js"
};

static const unsigned char console_parts_js[] = {
#embed "Pages/console/parts.js"
};

static const unsigned char console_publish_js[] = {
#embed "Pages/console/publish.js"
};

static const unsigned char console_requests_js[] = {
#embed "Pages/console/requests.js"
};

static const unsigned char console_rules_js[] = {
#embed "Pages/console/rules.js"
};

static const unsigned char console_ruleseditor_js[] = {
#embed "Pages/console/ruleseditor.js"
};

static const unsigned char console_ruleskinds_js[] = {
#embed "Pages/console/ruleskinds.js"
};

static const unsigned char console_search_js[] = {
#embed "Pages/console/search.js"
};

static const unsigned char console_server_js[] = {
#embed "Pages/console/server.js"
};

static const unsigned char console_settings_js[] = {
#embed "Pages/console/settings.js"
};

static const unsigned char console_shadow_js[] = {
#embed "Pages/console/shadow.js"
};

static const unsigned char console_signin_js[] = {
#embed "Pages/console/signin.js"
};

static const unsigned char console_simulator_js[] = {
#embed "Pages/console/simulator.js"
};

static const unsigned char console_table_js[] = {
#embed "Pages/console/table.js"
};

static const unsigned char console_traces_js[] = {
#embed "Pages/console/traces.js"
};

static const unsigned char console_transfer_js[] = {
#embed "Pages/console/transfer.js"
};

static const unsigned char console_tree_js[] = {
#embed "Pages/console/tree.js"
};

static const unsigned char console_users_js[] = {
#embed "Pages/console/users.js"
};

static const unsigned char console_values_js[] = {
#embed "Pages/console/values.js"
};

static const unsigned char console_viewer_js[] = {
#embed "Pages/console/viewer.js"
};

static const unsigned char coverage_html[] = {
#embed "Pages/coverage/begin.html"
,
#embed "Pages/colours.css"
,
#embed "Pages/console/console.css"
,
#embed "Pages/coverage/middle.html"
,
#embed "Pages/console/coverage.js"
,
#embed "Pages/coverage/end.html"
};

static const unsigned char social_rules[] = {
#embed "../../../rules/social.json"
};

static const unsigned char social_storage[] = {
#embed "../../../rules/social.storage"
};

static const unsigned char party_rules[] = {
#embed "../../../rules/party.json"
};

static const unsigned char party_storage[] = {
#embed "../../../rules/party.storage"
};

#define FILE_OF(name, type, bytes) {name, type, bytes, sizeof bytes}
#define PAGE(name, bytes) FILE_OF(name, "text/html; charset=utf-8", bytes)
#define SCRIPT(name, bytes) FILE_OF(name, "text/javascript; charset=utf-8", bytes)
#define STYLE(name, bytes) FILE_OF(name, "text/css; charset=utf-8", bytes)
#define RULES(name, bytes) FILE_OF(name, "application/json; charset=utf-8", bytes)

static const struct page_file samples[] = {
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
    SCRIPT("questions.js", questions_js),
    SCRIPT("inbox.js", inbox_js),
    SCRIPT("bucket.js", bucket_js),
    SCRIPT("files.js", files_js),
    SCRIPT("photos.js", photos_js),
    SCRIPT("pictures.js", pictures_js),
    SCRIPT("uploads.js", uploads_js),
    SCRIPT("parties.js", parties_js),
};

static const struct page_file console[] = {
    PAGE("", console_index_html),
    SCRIPT("accounts.js", console_accounts_js),
    SCRIPT("audit.js", console_audit_js),
    SCRIPT("backups.js", console_backups_js),
    SCRIPT("cases.js", console_cases_js),
    SCRIPT("cells.js", console_cells_js),
    SCRIPT("charts.js", console_charts_js),
    SCRIPT("cluster.js", console_cluster_js),
    SCRIPT("connections.js", console_connections_js),
    STYLE("console.css", console_console_css),
    SCRIPT("console.js", console_console_js),
    SCRIPT("coverage.js", console_coverage_js),
    SCRIPT("data.js", console_data_js),
    SCRIPT("databases.js", console_databases_js),
    SCRIPT("diff.js", console_diff_js),
    SCRIPT("dom.js", dom_js),
    SCRIPT("editor.js", console_editor_js),
    SCRIPT("figures.js", console_figures_js),
    SCRIPT("filerules.js", console_filerules_js),
    SCRIPT("files.js", console_files_js),
    SCRIPT("filter.js", console_filter_js),
    SCRIPT("hearth.js", hearth_js),
    SCRIPT("history.js", console_history_js),
    SCRIPT("keys.js", console_keys_js),
    SCRIPT("links.js", console_links_js),
    SCRIPT("listing.js", console_listing_js),
    SCRIPT("log.js", console_log_js),
    SCRIPT("metrics.js", console_metrics_js),
    SCRIPT("nodes.js", console_nodes_js),
    SCRIPT("overview.js", console_overview_js),
    SCRIPT("pages.js", console_pages_js),
    SCRIPT("palette.js", console_palette_js),
    SCRIPT("parts.js", console_parts_js),
    SCRIPT("publish.js", console_publish_js),
    SCRIPT("requests.js", console_requests_js),
    SCRIPT("rules.js", console_rules_js),
    SCRIPT("ruleseditor.js", console_ruleseditor_js),
    SCRIPT("ruleskinds.js", console_ruleskinds_js),
    SCRIPT("search.js", console_search_js),
    SCRIPT("server.js", console_server_js),
    SCRIPT("settings.js", console_settings_js),
    SCRIPT("shadow.js", console_shadow_js),
    SCRIPT("signin.js", console_signin_js),
    SCRIPT("simulator.js", console_simulator_js),
    SCRIPT("table.js", console_table_js),
    SCRIPT("traces.js", console_traces_js),
    SCRIPT("transfer.js", console_transfer_js),
    SCRIPT("tree.js", console_tree_js),
    SCRIPT("users.js", console_users_js),
    SCRIPT("values.js", console_values_js),
    SCRIPT("viewer.js", console_viewer_js),
};

static const struct page_file rules[] = {
    RULES("social", social_rules),
    RULES("party", party_rules),
    FILE_OF("social.storage", "text/plain; charset=utf-8", social_storage),
    FILE_OF("party.storage", "text/plain; charset=utf-8", party_storage),
};

#define SET_OF(files) {files, sizeof files / sizeof files[0]}

const struct page_set sample_pages = SET_OF(samples);
const struct page_set console_pages = SET_OF(console);
const struct page_set sample_rules = SET_OF(rules);
const struct page_file coverage_page = PAGE("", coverage_html);
