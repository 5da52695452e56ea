/// The rules' limits of chats and rooms, checked here before anything is sent.
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
    /// Characters of a list's text for an event without text.
    public static let listTextLength = 0...200
    /// Messages or events in one page of older ones, unless asked otherwise.
    public static let pageSize = 50
    /// Characters (UTF-16 units) of a bubble's colour.
    public static let colorLength = 0...32
    /// Characters of the name of a font.
    public static let fontLength = 0...64
    /// Degrees north of the equator.
    public static let latitudes = -90.0...90.0
    /// Degrees east of Greenwich.
    public static let longitudes = -180.0...180.0
    /// Rooms in one page of public ones.
    public static let publicPageSize = 100
    /// How often a write is tried when it is refused because members came or went. In each round one person's write
    /// succeeds, so this many can act at the same time and all succeed.
    package static let tries = 25

    /// The most of these tries while members and name are unchanged and only messages came. Then the rules usually deny
    /// the write; rarely, a person left and came back in between.
    static let blindTries = 16
}
