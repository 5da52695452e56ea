extension ServerMessage {
    /// The text up to where the number of a tag goes, for messages that differ by tag alone.
    ///
    /// Of a `put` or `merge` that has no tag; the number and `textAfterTag` follow.
    package func textBeforeTag() -> [UInt8] {
        var text = encoded()
        text.removeLast(Self.textAfterTag.count)
        text.append(contentsOf: Array(#","t":"#.utf8))
        return text
    }

    /// What follows the number of a tag.
    package static let textAfterTag = Array("}}}".utf8)
}
