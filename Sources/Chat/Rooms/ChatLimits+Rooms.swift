extension ChatLimits {
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
    /// How often a write is tried that is refused because members came or went meanwhile.
    ///
    /// Each time somebody's write got through; so as many can act at one moment and all succeed.
    package static let tries = 25

    /// How many of these there are at the most when members and name are as they were, and only something was said.
    ///
    /// Mostly the rules do not allow it then; now and then somebody left and came back in between.
    static let blindTries = 16
}
