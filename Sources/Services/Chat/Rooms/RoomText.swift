/// A list's text for an event: its text, or else a few words, at most 200 characters.
enum RoomText {
    /// `username` acts; `target` is the username of the person concerned, if it is another one.
    static func of(_ content: RoomEvent.Content, by username: String, target: String?) -> String {
        // The rules want the text of a message as it is.
        if case .message(let message) = content, let text = message.text { return text }
        let words =
            switch content {
            case .message(let message):
                "\(username) sent a \(message.picture == nil ? "location" : "picture")"
            case .deletedMessage: "\(username) deleted a message"
            case .createdChat: "\(username) made the room"
            case .addedUser: target.map { "\(username) added \($0)" } ?? "\(username) came in"
            case .userLeft: target.map { "\(username) put \($0) out" } ?? "\(username) left"
            case .renamedChat(let name): "\(username) named the room \(name)"
            }
        return cut(words)
    }

    private static func cut(_ text: String) -> String {
        var count = 0
        let kept = text.prefix { character in
            count += character.utf16.count
            return count <= ChatLimits.listTextLength.upperBound
        }
        return String(kept)
    }
}
