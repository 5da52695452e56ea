/// The rules' limits of posts, checked here before anything is sent.
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
    /// Milliseconds between the time in a post's key and its server time, from which on the post is moved.
    package static let keySkew: Int64 = 60_000
    /// Tries, each a read and writes, until an operation with concurrent changes gives up.
    package static let tries = 8
}
