/// Some posts of a timeline, newest first.
public struct TimelinePage: Equatable, Sendable {
    /// The posts, in the order of the server's times.
    public let posts: [ShownPost]
    /// Skipped entries: deleted posts, whose entries are being removed, and invalid ones.
    public let faults: [RecordFault]
    /// The cursor of the next page; nil when there is none.
    public let next: String?
}
