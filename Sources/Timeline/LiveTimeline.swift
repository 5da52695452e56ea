import Records

/// What an observer of a timeline knows, and what of it is shown: no input or output.
///
/// Answers come in any order; the same answers give the same list.
package struct LiveTimeline {
    private enum Known {
        case nothing
        case gone
        case faulty(RecordFault)
        case post(Post)
    }

    private struct Place {
        let posterUID: String
        var post = Known.nothing
        var isLiked = false
    }

    private var places: [String: Place] = [:]
    private var faults: [RecordFault] = []
    private var isKnown = false

    package init() {}

    /// Takes what the timeline's entries are now.
    ///
    /// - Returns: The entries whose posts are to be observed from now on, and the keys of those that no longer are.
    package mutating func setEntries(
        _ listing: Listing<TimelineEntry>
    ) -> (added: [TimelineEntry], removed: [String]) {
        isKnown = true
        faults = listing.faults
        let wanted = Dictionary(uniqueKeysWithValues: listing.records.map { ($0.key, $0) })
        let removed = places.keys.filter { key in
            places[key]?.posterUID != wanted[key]?.posterUID
        }
        for key in removed { places[key] = nil }
        let added = listing.records.filter { places[$0.key] == nil }
        for entry in added { places[entry.key] = Place(posterUID: entry.posterUID) }
        return (added, removed.sorted())
    }

    /// Takes a post; nil when it is gone.
    package mutating func setPost(_ key: String, _ post: Result<Post?, RecordFault>) {
        places[key]?.post =
            switch post {
            case .success(let post?): .post(post)
            case .success(nil): .gone
            case .failure(let fault): .faulty(fault)
            }
    }

    /// Takes whether the user likes a post.
    package mutating func setLiked(_ key: String, _ isLiked: Bool) {
        places[key]?.isLiked = isLiked
    }

    /// What is shown, newest first; nil until each post of the entries is known.
    package var listing: Listing<ShownPost>? {
        guard isKnown else { return nil }
        var shown: [ShownPost] = []
        var listing = Listing<ShownPost>(faults: faults)
        for key in places.keys.sorted() {
            guard let place = places[key] else { continue }
            switch place.post {
            case .nothing: return nil
            case .gone: break
            case .faulty(let fault): listing.faults.append(fault)
            case .post(let post): shown.append(ShownPost(post: post, isLiked: place.isLiked))
            }
        }
        listing.records = TimelineOrder.sorted(shown)
        return listing
    }
}
