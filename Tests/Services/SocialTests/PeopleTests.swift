import Foundation
import HearthDatabase
import Social
import ServiceSupport
import Testing

@Suite("following, blocks, profiles and search")
struct PeopleTests {
    private let server: ServiceServer

    init() throws { server = try ServiceServer.shared("social") }

    @Test("an edge is both entries or none, and the person who watches is notified")
    func edges() async throws {
        let ann = try await server.quickMember("ann")
        let bea = try await server.quickMember("bea")
        let following = Recorder<[String]>()
        let followers = Recorder<[String]>()
        let observations = [
            bea.graph.observeFollowing(of: ann.uid, with: { following.record($0) }),
            bea.graph.observeFollowers { followers.record($0) },
        ]
        try await ann.graph.follow(bea.uid)
        try await ann.graph.follow(bea.uid)
        #expect(try await ann.graph.isFollowed(bea.uid))
        #expect(try await !bea.graph.isFollowed(ann.uid))
        try await following.wait { $0.last == [bea.uid] }
        try await followers.wait { $0.last == [ann.uid] }
        try await ann.graph.unfollow(bea.uid)
        try await ann.graph.unfollow(bea.uid)
        try await following.wait { $0.last == [] }
        try await followers.wait { $0.last == [] }
        try await ann.graph.follow(bea.uid)
        try await bea.graph.removeFollower(ann.uid)
        #expect(try await !ann.graph.isFollowed(bea.uid))
        for observation in observations { observation.remove() }
    }

    @Test("no one follows themselves, a person who is not there, or a person who blocks them")
    func refusedEdges() async throws {
        let ann = try await server.quickMember("ann")
        let bea = try await server.quickMember("bea")
        await #expect(
            throws: ServiceError.invalid(field: "uid", why: "you cannot follow yourself")
        ) { try await ann.graph.follow(ann.uid) }
        await #expect(throws: ServiceError.notFound("person stranger")) {
            try await ann.graph.follow("stranger")
        }
        try await ann.graph.follow(bea.uid)
        try await bea.graph.follow(ann.uid)
        try await bea.blocks.block(ann.uid)
        #expect(try await !ann.graph.isFollowed(bea.uid))
        #expect(try await !bea.graph.isFollowed(ann.uid))
        await #expect(throws: ServiceError.refused("follow \(bea.uid)")) {
            try await ann.graph.follow(bea.uid)
        }
        #expect(try await bea.users.followers().isEmpty)
        #expect(try await bea.blocks.blocked() == [ann.uid])
        #expect(try await bea.blocks.isBlocked(ann.uid))
        try await bea.blocks.unblock(ann.uid)
        try await ann.graph.follow(bea.uid)
        #expect(try await bea.blocks.blocked().isEmpty)
        await #expect(
            throws: ServiceError.invalid(field: "uid", why: "you cannot block yourself")
        ) { try await ann.blocks.block(ann.uid) }
    }

    @Test("details are seen by oneself alone, and found by as one wishes")
    func details() async throws {
        let ann = try await server.quickMember("detailed")
        let bea = try await server.quickMember("curious")
        let name = ann.username
        let details = PrivateDetails(
            email: "\(name)@Example.com",
            phone: "+49 30 \(Int.random(in: 1_000_000...9_999_999))",
            others: ["plan": .text("gold"), "age": .number(30), "isOld": .flag(false)]
        )
        #expect(try await ann.profiles.details() == nil)
        let phone = try #require(details.phone)
        try await ann.profiles.saveDetails(details, findable: [.email, .phone])
        #expect(try await ann.profiles.details() == details)
        #expect(
            try await bea.search.find("\(name)@ex", in: .email).records.map(\.uid) == [ann.uid]
        )
        #expect(try await bea.search.find(phone, in: .phone).records.map(\.uid) == [ann.uid])
        // Unasked, the whole address alone, and no number.
        try await ann.profiles.saveDetails(details)
        #expect(try await bea.search.find("\(name)@ex", in: .email).records.isEmpty)
        #expect(try await bea.search.find(phone, in: .phone).records.isEmpty)
        let email = "\(name)@example.com"
        #expect(try await bea.search.find(email: email).records.map(\.uid) == [ann.uid])
        try await ann.search.remove(email, in: .email)
        #expect(try await bea.search.find(email: email).records.isEmpty)
        try await ann.profiles.saveDetails(details, findable: [.email, .phone])
        #expect(try await bea.search.find(phone, in: .phone).records.map(\.uid) == [ann.uid])
        await #expect(throws: ServiceError.refused("look at your private details")) {
            try await ProfileService(database: bea.database, uid: ann.uid).details()
        }
        try await ann.profiles.saveDetails(PrivateDetails(phone: phone), findable: [.email])
        #expect(try await bea.search.find("\(name)@ex", in: .email).records.isEmpty)
        #expect(try await bea.search.find(phone, in: .phone).records.isEmpty)
        await #expect(throws: ServiceError.self) {
            try await ann.profiles.saveDetails(PrivateDetails())
        }
        await #expect(
            throws: ServiceError.invalid(field: "email", why: "a search needs 5 characters or more")
        ) { try await bea.search.find("ann@", in: .email) }
    }

    @Test("an app keeps texts, numbers and truth values with a profile")
    func meta() async throws {
        let ann = try await server.quickMember("meta")
        try await ann.profiles.setMeta(.text("blue"), for: "colour")
        try await ann.profiles.setMeta(.number(3), for: "level")
        try await ann.profiles.setMeta(.flag(true), for: "0")
        let profile = try await ann.profiles.show(forUID: ann.uid)
        #expect(profile?.meta == ["colour": .text("blue"), "level": .number(3), "0": .flag(true)])
        for field in ["colour", "level", "0"] { try await ann.profiles.setMeta(nil, for: field) }
        #expect(try await ann.profiles.show(forUID: ann.uid)?.meta == [:])
        for (field, detail) in [
            ("a/b", Detail.flag(true)), (String(repeating: "f", count: 65), .flag(true)),
            ("text", .text(String(repeating: "t", count: 1001))), ("n", .number(.nan)),
        ] {
            await #expect {
                try await ann.profiles.setMeta(detail, for: field)
            } throws: { error in
                guard case .invalid = error as? ServiceError else { return false }
                return true
            }
        }
    }

    @Test("people are found by any word of a name, in any spelling, and until they withdraw it")
    func search() async throws {
        let ann = try await server.guest()
        let username = server.unique("finder")
        let me = try await ann.users.create(username: username, name: "Zoë O'Quillon-Größe")
        for beginning in ["zoe oq", "OQUILL", "grosse", "Größe", username] {
            #expect(try await ann.search.find(beginning, in: .name).records == [me])
        }
        #expect(try await ann.search.find("quillon", in: .name).records.isEmpty)
        try await ann.search.remove("Zoë O'Quillon-Größe", in: .name)
        #expect(try await ann.search.find("oquillon", in: .name).records.isEmpty)
        try await ann.search.index("Zoë O'Quillon-Größe", in: .name)
        #expect(try await ann.search.find("oquillon", in: .name).records == [me])
        #expect(try await ann.search.find("oq", in: .name, limit: 1).records == [me])
        await #expect(throws: ServiceError.self) { try await ann.search.find(" ", in: .name) }
    }

    @Test("two devices that save at once leave what one of them saved, whole, and found by")
    func devices() async throws {
        let ann = try await server.member("saver")
        let phone = try await ann.device(server.url)
        let number = Int.random(in: 1_000_000...9_999_999)
        let saves = [(ann, "one"), (phone, "two")].map { device, word in
            let name = "\(word) \(ann.username)"
            let email = "\(word)-\(ann.username)@example.com"
            return (
                device: device,
                profile: UserProfile(uid: ann.uid, username: ann.username, name: name, bio: word),
                details: PrivateDetails(email: email, phone: "+49 40 \(number)")
            )
        }
        _ = try await saves.mapInParallel { save in
            try await save.device.users.save(save.profile)
            try await save.device.profiles.saveDetails(save.details)
        }
        let profile = try await ann.users.me()
        #expect(saves.map(\.profile).contains(profile))
        #expect(try await ann.profiles.show(forUID: ann.uid)?.name == profile.name)
        let found = try await ann.search.find(profile.name ?? "", in: .name)
        #expect(found.records == [profile])
        let details = try #require(try await ann.profiles.details())
        #expect(saves.map(\.details).contains(details))
        let owner = try await phone.search.find(email: details.email ?? "")
        #expect(owner.records == [profile])
    }

    @Test("who is under a name that is not theirs hides no one who has it")
    func squatters() async throws {
        var people: [Person] = []
        for _ in 0..<7 { people.append(try await server.quickMember("squat")) }
        // By account, as a search reads.
        people.sort { $0.uid < $1.uid }
        let ann = people.removeLast()
        let other = people.removeLast()
        let name = "Quirina \(ann.username)"
        for person in [other, ann] {
            let profile = UserProfile(uid: person.uid, username: person.username, name: name)
            try await person.users.save(profile)
        }
        for person in people { try await person.search.index(name, in: .name) }
        let found = try await other.search.find(name, in: .name, limit: 2)
        #expect(found.records.map(\.uid) == [other.uid, ann.uid])
        #expect(
            try await ann.search.find(name, in: .name, limit: 1).records.map(\.uid) == [other.uid]
        )
        // A search ends, however many have put themselves there.
        var search = ann.search
        search.longestRead = 5
        let five = try await search.find(name, in: .name, limit: 1)
        #expect(five.records.isEmpty)
        search.longestRead = 6
        let six = try await search.find(name, in: .name, limit: 4)
        #expect(six.records.map(\.uid) == [other.uid])
    }

    @Test("an observation ends by its handle too, one of several in that part alone")
    func handles() async throws {
        let ann = try await server.quickMember("ann")
        let bea = try await server.quickMember("bea")
        let byHandle = Recorder<[String]>()
        let lasting = Recorder<[String]>()
        let ended = ann.graph.observeFollowing { byHandle.record($0) }
        let other = ann.graph.observeFollowing { lasting.record($0) }
        try await byHandle.wait { $0.last == [] }
        ended.query.removeObserver(withHandle: ended.handle)
        let parts = Recorder<String>()
        let session = bea.place("presence/\(bea.uid)/s")
        let seen = ann.place("presence/\(bea.uid)")
        let time = ann.place("lastOnline/\(bea.uid)")
        let both = Observation(
            seen,
            seen.observe(.value) { parts.record($0.exists() ? "there" : "away") },
            and: [Observation(time, time.observe(.value) { _ in parts.record("time") })]
        )
        try await parts.wait { Set($0) == ["away", "time"] }
        both.query.removeObserver(withHandle: both.handle)
        try await session.setValue(["online": true, "at": ServerValue.timestamp()])
        try await bea.place("lastOnline/\(bea.uid)").setValue(ServerValue.timestamp())
        try await parts.wait { $0.filter { $0 == "time" }.count == 2 }
        both.remove()
        try await bea.place("lastOnline/\(bea.uid)").setValue(ServerValue.timestamp())
        try await ann.graph.follow(bea.uid)
        try await lasting.wait { $0.last == [bea.uid] }
        try await ann.isAnswered()
        #expect(byHandle.values == [[]])
        #expect(parts.values.sorted() == ["away", "time", "time"])
        other.remove()
    }

    @Test("observers that the rules do not allow are notified once, and then nothing")
    func cancelled() async throws {
        let stranger = try server.stranger()
        let graph = FollowGraph(database: stranger.database, uid: "x")
        let errors = Recorder<ServiceError>()
        let values = Recorder<[String]>()
        let observations = [
            graph.observeFollowing(
                with: { values.record($0) },
                withCancel: { errors.record($0) }
            ),
            graph.observeFollowers(
                with: { values.record($0) },
                withCancel: { errors.record($0) }
            ),
            BlockService(database: stranger.database, uid: "x").observeBlocked(
                with: { values.record($0) },
                withCancel: { errors.record($0) }
            ),
        ]
        try await errors.wait(count: 3)
        // Behind whatever is still to be reported: of another answer of the server, and of another connection.
        try await stranger.isAnswered()
        stranger.database.goOffline()
        stranger.database.goOnline()
        try await stranger.isAnswered()
        #expect(errors.values.count == 3)
        #expect(
            Set(errors.values.map(\.description)) == [
                "the rules do not allow to see whom they follow",
                "the rules do not allow to see who follows them",
                "the rules do not allow to see whom you block",
            ]
        )
        #expect(values.values.isEmpty)
        for observation in observations { observation.remove() }
    }
}
