import Social

/// The known and shown data of a timeline's observer: no input or output. Answers come in any order; the same answers
/// give the same list.
package struct LiveTimeline {
    private enum Known {
        case nothing
        case gone
        case faulty(RecordFault)
        case post(Post)
    }

    private struct PostState {
        let posterUID: String
        var post = Known.nothing
        var isLiked = false
    }

    private var posts: [String: PostState] = [:]
    private var faults: [RecordFault] = []
    private var isKnown = false

    package init() {}

    /// Takes the present entries of the timeline.
    ///
    /// - Returns: The entries whose posts are to be observed from now on, and the keys of those that no longer are.
    package mutating func setEntries(
        _ listing: Listing<TimelineEntry>
    ) -> (added: [TimelineEntry], removed: [String]) {
        isKnown = true
        faults = listing.faults
        let wanted = Dictionary(uniqueKeysWithValues: listing.records.map { ($0.key, $0) })
        let removed = posts.keys.filter { key in
            posts[key]?.posterUID != wanted[key]?.posterUID
        }
        for key in removed { posts[key] = nil }
        let added = listing.records.filter { posts[$0.key] == nil }
        for entry in added { posts[entry.key] = PostState(posterUID: entry.posterUID) }
        return (added, removed.sorted())
    }

    /// Takes a post; nil when it is gone.
    package mutating func setPost(_ key: String, _ post: Result<Post?, RecordFault>) {
        posts[key]?.post =
            switch post {
            case .success(let post?): .post(post)
            case .success(nil): .gone
            case .failure(let fault): .faulty(fault)
            }
    }

    /// Takes whether the user likes a post.
    package mutating func setLiked(_ key: String, _ isLiked: Bool) { posts[key]?.isLiked = isLiked }

    /// The shown posts, newest first; nil until each post of the entries is known.
    package var listing: Listing<ShownPost>? {
        guard isKnown else { return nil }
        var shown: [ShownPost] = []
        var listing = Listing<ShownPost>(faults: faults)
        for key in posts.keys.sorted() {
            guard let state = posts[key] else { continue }
            switch state.post {
            case .nothing: return nil
            case .gone: break
            case .faulty(let fault): listing.faults.append(fault)
            case .post(let post): shown.append(ShownPost(post: post, isLiked: state.isLiked))
            }
        }
        listing.records = TimelineOrder.sorted(shown)
        return listing
    }
}
