import Attachments
import Foundation
import HearthStorage
import Social
import Timeline

/// Posts that reach all followers, and likes that are counted exactly.
enum TimelineAct {
    static func play(_ ann: Player, _ bea: Player, _ cem: Player) async throws {
        Stage.act("Timeline")
        let users = UserService(database: ann.database, uid: ann.uid)
        let posts = PostService(database: ann.database, me: try await users.me())
        let views = [View(), View()]
        var observations: [TimelineObservation] = []
        for (player, view) in zip([bea, cem], views) {
            let users = UserService(database: player.database, uid: player.uid)
            observations.append(
                try users.observeTimeline { listing in
                    view.show(listing.records.map(text))
                }
            )
        }
        let lake = try await posts.create(
            picture: AttachmentFile(
                Data(PartyAct.picture),
                title: "lake.png",
                type: "image/png"
            ),
            imageHeight: 2
        )
        Stage.does("Ann", "posts a picture of a lake; Bea follows her, Cem does not")
        var expected = ["a picture by ann, liked by 0"]
        try Stage.sees("Bea", await views[0].wait(for: expected), expected: expected)

        try await FollowService(database: cem.database, uid: cem.uid).followUser(ann.uid)
        Stage.does("Cem", "follows her now, and gets what was there before")
        try Stage.sees("Cem", await views[1].wait(for: expected), expected: expected)

        Stage.does("All", "like it at one moment, Bea twice")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for player in [ann, bea, cem, bea] {
                group.addTask {
                    try await LikeService(database: player.database, uid: player.uid).create(
                        for: lake
                    )
                }
            }
            try await group.waitForAll()
        }
        expected = ["a picture by ann, liked by 3 and me"]
        for (player, view) in zip([bea, cem], views) {
            try Stage.sees(player.name, await view.wait(for: expected), expected: expected)
        }
        try await Stage.refuses("Cem", "adds 1,000 to the count") {
            let count = cem.database.reference(withPath: "posts/\(ann.uid)/\(lake.key)/like_count")
            try await count.setValue(1003)
        }
        guard let url = URL(string: lake.imageURL) else { return }
        let file = try cem.storage.reference(for: url)
        try Stage.sees(
            "Cem",
            ["a file, \(try await file.getMetadata().size) bytes"],
            expected: ["a file, \(PartyAct.picture.count) bytes"]
        )
        try await posts.delete(forKey: lake.key)
        Stage.does("Ann", "deletes it, everywhere")
        try await Stage.refuses("Cem", "looks for the file") { _ = try await file.getMetadata() }
        for (player, view) in zip([bea, cem], views) {
            try Stage.sees(player.name, await view.wait(for: []), expected: [])
        }
        for observation in observations { observation.remove() }
    }

    private static func text(_ shown: ShownPost) -> String {
        let me = shown.isLiked ? " and me" : ""
        return "a picture by \(shown.post.poster.username), liked by \(shown.post.likeCount)\(me)"
    }
}
