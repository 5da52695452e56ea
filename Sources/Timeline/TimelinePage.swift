/// Some posts of a timeline, newest first.
public struct TimelinePage: Equatable, Sendable {
    /// The posts, in the order of the server's times.
    public let posts: [ShownPost]
    /// What was left out: posts that are gone, whose entries are being cleared, and what makes no sense.
    public let faults: [RecordFault]
    /// What the page behind this one is asked for with; nil when there is none.
    public let next: String?

    /// A page.
    public init(posts: [ShownPost], faults: [RecordFault] = [], next: String? = nil) {
        self.posts = posts
        self.faults = faults
        self.next = next
    }
}
