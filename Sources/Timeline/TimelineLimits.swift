/// What the rules allow of posts, so that what they would refuse is refused before it is sent.
///
/// Source: `rules/timeline.json`.
public enum TimelineLimits {
    /// Characters (UTF-16 units) of the address of a post's picture.
    public static let addressLength = 1...2000
    /// Points of height of a post's picture; more than 0.
    public static let imageHeight = 100_000.0
    /// Posts in one page of a timeline, unless asked otherwise.
    public static let pageSize = 20
    /// Posts in one page of a timeline, at the most and at the least.
    public static let pageSizes = 1...1000
    /// Milliseconds between the time that a post's key tells and its server time, from which on the post is moved.
    package static let keySkew: Int64 = 60_000
    /// Reads, each with writes of what it found, until an operation that meets changes of others gives up.
    package static let tries = 8
}
