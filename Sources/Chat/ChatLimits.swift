/// What the rules allow of chats and rooms, so that what they would refuse is refused before it is sent.
///
/// Source: `rules/chat.json`.
public enum ChatLimits {
    /// Characters (UTF-16 units) of a message.
    public static let messageLength = 1...4000
    /// Characters of the title of a direct chat.
    public static let titleLength = 1...200
    /// Characters of the name of a room.
    public static let roomNameLength = 1...100
    /// Characters of the address of a picture.
    public static let pictureLength = 1...2000
    /// Characters of what a list says of an event without text.
    public static let listTextLength = 0...200
    /// Messages or events in one page of older ones, unless asked otherwise.
    public static let pageSize = 50
}
