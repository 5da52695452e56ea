/// The etag of a node: its hash, or `null_etag` where nothing is.
///
/// Equal nodes have equal tags; anything that changes below a node, priorities included, changes
/// its tag. Source: the Realtime Database REST API, conditional requests.
package struct EntityTag: Hashable, Sendable {
    /// The bare tag, as replies carry it.
    package let text: String

    /// The tag of a location where nothing is.
    package static let ofNothing = EntityTag(received: "null_etag")

    /// Makes the tag of a node with this hash; nothing has the empty hash.
    package init(hash: String) {
        text = hash.isEmpty ? Self.ofNothing.text : hash
    }

    /// Takes a tag as clients send it: bare, or quoted as HTTP headers have it, `W/` included. A bare one may be a hash
    /// that begins so.
    package init(received: String) {
        var tag = received[...]
        if tag.hasPrefix("W/\"") { tag = tag.dropFirst(2) }
        if tag.utf8.count >= 2, tag.hasPrefix("\""), tag.hasSuffix("\"") {
            tag = tag.dropFirst().dropLast()
        }
        text = String(tag)
    }
}
