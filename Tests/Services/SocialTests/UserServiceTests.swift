import Foundation
import HearthDatabase
import Social
import ServiceSupport
import TestSupport
import Testing

@Suite("people and usernames")
struct UserServiceTests {
    private let server: ServiceServer

    init() throws { server = try ServiceServer.shared("social") }

    @Test("signing up writes the profile, the name, the private part and the index at once")
    func signUp() async throws {
        let ann = try await server.person("Ann1")
        let users = ann.users
        let profile = try await users.create(
            username: "Ann1",
            name: "Ann Lee",
            email: "ann1@example.com"
        )
        #expect(profile == UserProfile(uid: ann.uid, username: "Ann1", name: "Ann Lee"))
        #expect(try await users.me() == profile)
        #expect(try await users.uid(forUsername: "aNN1") == ann.uid)
        #expect(try await ann.value("profiles/\(ann.uid)/name") as? String == "Ann Lee")
        #expect(try await ann.value("private/\(ann.uid)/email") as? String == "ann1@example.com")
        #expect(try await ann.value("searchIndex/name/lee/\(ann.uid)") as? Bool == true)
    }

    @Test("signing up lets those find one who know the whole address, and no one spell it out")
    func wholeAddress() async throws {
        let bea = try await server.quickMember("seeker")
        let name = bea.username
        let long = String(repeating: "a", count: 52) + "@example.com"
        for (number, address) in ["\(name).lee@example.com", name + long].enumerated() {
            let person = try await server.guest()
            let typed = " \(address.uppercased())\n"
            try await person.users.create(username: "\(name)-\(number)", email: typed)
            let found = try await bea.search.find(email: address).records.map(\.uid)
            #expect(found == (number == 0 ? [person.uid] : []))
            for count in 5..<address.count {
                let beginning = String(address.prefix(count))
                let found = try await bea.search.find(beginning, in: .email).records
                #expect(found.isEmpty, "\(beginning)")
                #expect(try await bea.search.find(email: beginning).records.isEmpty)
            }
            #expect(try await bea.search.find(email: "\(address)m").records.isEmpty)
        }
    }

    @Test("a username that a person has is taken, in any case, and nothing is left behind")
    func taken() async throws {
        let first = try await server.person("bea2")
        try await first.users.create(username: "Bea2")
        let second = try await server.person("bea3")
        await #expect(throws: ServiceError.taken("BEA2")) {
            try await second.users.create(username: "BEA2", name: "Other", email: "b@example.com")
        }
        #expect(try await second.users.show(forUID: second.uid) == nil)
        #expect(try await second.value("profiles/\(second.uid)") as? NSNull != nil)
        #expect(try await second.value("private/\(second.uid)") as? NSNull != nil)
        #expect(try await second.users.uid(forUsername: "bea2") == first.uid)
    }

    @Test("of two who claim one name at once exactly one has it", arguments: 1...3)
    func race(round: Int) async throws {
        let people = [try await server.guest(), try await server.guest()]
        let outcomes = try await people.mapInParallel { person -> Bool in
            do {
                try await person.users.create(username: "Race-\(round)")
                return true
            } catch ServiceError.taken {
                return false
            }
        }
        #expect(outcomes.filter { $0 }.count == 1)
        for (person, hasWon) in zip(people, outcomes) {
            let profile = try await person.users.show(forUID: person.uid)
            #expect((profile != nil) == hasWon)
            let kit = try await person.value("profiles/\(person.uid)")
            #expect((kit is NSNull) != hasWon)
            let owner = try await person.users.uid(forUsername: "race-\(round)")
            #expect((owner == person.uid) == hasWon)
        }
    }

    @Test("signing up again with the same name changes nothing, with another it is refused")
    func again() async throws {
        let ann = try await server.guest()
        let profile = try await ann.users.create(username: "again", name: "Again")
        #expect(try await ann.users.create(username: "AGAIN", name: "Else") == profile)
        await #expect(
            throws: ServiceError.invalid(field: "username", why: "you are again already")
        ) { try await ann.users.create(username: "again2") }
    }

    @Test("a changed name is claimed everywhere at once, and the old one is free again")
    func change() async throws {
        let ann = try await server.guest()
        let old = server.unique("Change")
        let new = server.unique("Changed")
        try await ann.users.create(username: old)
        let profile = try await ann.users.changeUsername(to: new)
        #expect(profile.username == new)
        #expect(try await ann.users.me() == profile)
        #expect(try await ann.users.uid(forUsername: old) == nil)
        #expect(try await ann.users.uid(forUsername: new.uppercased()) == ann.uid)
        #expect(try await ann.profiles.show(forUID: ann.uid)?.username == new)
        #expect(try await ann.profiles.show(forUID: ann.uid)?.name == new)
        #expect(try await ann.search.find(new, in: .name).records == [profile])
        let bea = try await server.guest()
        try await bea.users.create(username: old)
        #expect(
            try await bea.users.changeUsername(to: old.uppercased()).username == old.uppercased()
        )
        #expect(try await bea.users.uid(forUsername: old) == bea.uid)
        await #expect(throws: ServiceError.taken(new)) {
            try await bea.users.changeUsername(to: new)
        }
        #expect(try await bea.users.me().username == old.uppercased())
    }

    @Test(
        "what the rules would refuse is not sent",
        arguments: ["", "a b", "ann.lee", "ä", "a/b", String(repeating: "a", count: 31)]
    )
    func invalid(username: String) async throws {
        let ann = try await server.guest()
        await #expect {
            try await ann.users.create(username: username)
        } throws: { error in
            guard case .invalid("username", _) = error as? ServiceError else { return false }
            return true
        }
        #expect(try await ann.users.uid(forUsername: username) == nil)
        await #expect(throws: ServiceError.invalid(field: "name", why: "it is empty")) {
            try await ann.users.create(username: "fine", name: "")
        }
        await #expect(throws: ServiceError.notFound("profile of yours: choose a username first")) {
            try await ann.users.me()
        }
    }

    @Test("those whom a person follows are listed with their profiles; gone ones are left out")
    func following() async throws {
        let ann = try await server.quickMember("lister")
        var others: [Person] = []
        for _ in 0..<5 { others.append(try await server.quickMember("listed")) }
        for other in others { try await ann.graph.follow(other.uid) }
        let gone = others.removeLast()
        try await gone.database.reference().updateChildValues([
            "users/\(gone.uid)": NSNull(), "profiles/\(gone.uid)": NSNull(),
            "usernames/\(gone.username)": NSNull(),
        ])
        let listing = try await ann.users.following()
        #expect(listing.records.map(\.uid) == others.map(\.uid).sorted())
        #expect(Set(listing.records.map(\.username)) == Set(others.map(\.username)))
        #expect(listing.faults.isEmpty)
        #expect(try await others[0].users.following(for: ann.uid) == listing)
        #expect(try await others[0].users.followers() == [ann.uid])
        #expect(try await ann.users.followers().isEmpty)
    }

    @Test("name, picture and words of one's own change wherever they stand")
    func save() async throws {
        let ann = try await server.guest()
        let username = server.unique("saver")
        try await ann.users.create(username: username, name: "Quentin Xylo")
        let profile = UserProfile(
            uid: ann.uid,
            username: username,
            name: "Xenia Ypsilon",
            picture: "https://example.com/a.png",
            bio: "hello"
        )
        try await ann.users.save(profile)
        #expect(try await ann.users.me() == profile)
        #expect(try await ann.profiles.show(forUID: ann.uid)?.name == "Xenia Ypsilon")
        #expect(try await ann.profiles.show(forUID: ann.uid)?.picture == profile.picture)
        #expect(try await ann.search.find("ypsi", in: .name).records == [profile])
        #expect(try await ann.search.find("quentin", in: .name).records.isEmpty)
        #expect(try await ann.value("searchIndex/name/quentin") is NSNull)
        let other = UserProfile(uid: ann.uid, username: "other")
        await #expect(throws: ServiceError.invalid(field: "username", why: "it is not yours")) {
            try await ann.users.save(other)
        }
    }

    @Test("an account of an app without a messaging kit has a profile and a name alone")
    func graphOnly() async throws {
        let server = try ServiceServer.shared("timeline")
        let ann = try await server.guest()
        let users = UserService(database: ann.database, uid: ann.uid, records: .graph)
        try await users.create(username: "ann", name: "Ann")
        try await users.changeUsername(to: "ann2")
        try await users.save(UserProfile(uid: ann.uid, username: "ann2", bio: "hello"))
        #expect(try await users.me() == UserProfile(uid: ann.uid, username: "ann2", bio: "hello"))
        let bea = try await server.guest()
        await #expect(throws: ServiceError.refused("sign up as bea")) {
            try await bea.users.create(username: "bea")
        }
    }

    @Test("what is no profile is reported as a fault, once")
    func faulty() async throws {
        let server = try RunningServer()
        defer { server.stop(atOnce: true) }
        let open = try Person(server.url)
        let place = open.place("users")
        try await place.setValue([
            "a": ["username": 1], "b": ["username": "bea"], "c": ["name": "Cleo"],
        ])
        let users = UserService(database: open.database, uid: "b")
        let fault = try #require(
            await #expect(throws: ServiceError.self) {
                try await users.show(forUID: "a")
            }
        )
        guard case .faulty(let record) = fault else { throw fault }
        #expect(record.path == "users/a")
        let listing = try await users.profiles(of: ["c", "b", "a", "d"])
        #expect(listing.records == [UserProfile(uid: "b", username: "bea")])
        #expect(listing.faults.map(\.path) == ["users/c", "users/a"])
        await #expect(throws: ServiceError.invalid(field: "uid", why: "it cannot be a key")) {
            try await users.show(forUID: "a/username")
        }
    }
}
