import Foundation
import HearthDatabase
import ServiceSupport
import Testing

/// What the rules say about people, sentence by sentence, with clients that keep to no service.
@Suite("rules about people")
struct PeopleRulesTests {
    private let server: ServiceServer

    init() throws { server = try ServiceServer.shared("social") }

    private func isAllowed(_ operation: () async throws -> Void) async throws -> Bool {
        do {
            try await operation()
            return true
        } catch DatabaseError.permissionDenied {
            return false
        }
    }

    private func canRead(_ person: Person, _ path: String) async throws -> Bool {
        try await isAllowed { _ = try await person.place(path).getData() }
    }

    private func canWrite(_ person: Person, _ update: [String: Any]) async throws -> Bool {
        try await isAllowed { try await person.database.reference().updateChildValues(update) }
    }

    @Test("people and names are looked up one by one by the person who is signed in, never listed")
    func reading() async throws {
        let ann = try await server.quickMember("read")
        let bea = try await server.quickMember("reader")
        let stranger = try server.stranger()
        let single = [
            "users/\(ann.uid)", "usernames/\(ann.username)", "profiles/\(ann.uid)",
            "following/\(ann.uid)", "followers/\(ann.uid)", "presence/\(ann.uid)",
            "lastOnline/\(ann.uid)", "searchIndex/name/a", "searchIndex/email/a=2Eb=2Ec",
        ]
        for path in single {
            #expect(try await canRead(bea, path), "\(path)")
            #expect(try await !canRead(stranger, path), "\(path)")
        }
        let lists = [
            "", "users", "usernames", "profiles", "private", "following", "followers", "presence",
            "lastOnline", "searchIndex", "searchIndex/email", "blocks", "mutes", "emails",
        ]
        for path in lists { #expect(try await !canRead(bea, path), "\(path)") }
        for path in ["private", "blocks", "mutes"] {
            #expect(try await canRead(ann, "\(path)/\(ann.uid)"), "\(path)")
            #expect(try await !canRead(bea, "\(path)/\(ann.uid)"), "\(path)")
        }
    }

    @Test("each writes their own records, and no one another's")
    func writing() async throws {
        let ann = try await server.quickMember("own")
        let bea = try await server.quickMember("forger")
        let session: [String: Any] = ["online": true, "at": ServerValue.timestamp()]
        let updates: [[String: Any]] = [
            ["users/\(ann.uid)/name": "Ann"],
            ["users/\(ann.uid)/bio": "hello"],
            ["profiles/\(ann.uid)/name": "Ann"],
            ["profiles/\(ann.uid)/meta/a": 1],
            ["private/\(ann.uid)": ["email": "a@example.com"]],
            ["presence/\(ann.uid)/s1": session],
            ["lastOnline/\(ann.uid)": ServerValue.timestamp()],
            ["searchIndex/name/own/\(ann.uid)": true],
            ["blocks/\(ann.uid)/x": true],
            ["mutes/\(ann.uid)/r": true],
        ]
        for update in updates {
            #expect(try await !canWrite(bea, update), "\(update)")
            #expect(try await !canWrite(try server.stranger(), update), "\(update)")
            #expect(try await canWrite(ann, update), "\(update)")
        }
    }

    @Test("a username is claimed with the profile that bears it, once, in whatever case")
    func usernames() async throws {
        let ann = try await server.quickMember("Claim")
        let bea = try await server.guest()
        let name = ann.username
        func claim(_ person: Person, _ name: String, _ entry: String) -> [String: Any] {
            ["users/\(person.uid)": ["username": name], "usernames/\(entry)": person.uid]
        }
        #expect(try await !canWrite(bea, claim(bea, name.uppercased(), name.lowercased())))
        #expect(try await !canWrite(bea, claim(bea, name, name)))
        #expect(try await !canWrite(bea, ["users/\(bea.uid)": ["username": "unclaimed-x"]]))
        #expect(try await !canWrite(bea, ["usernames/hoarded-x": bea.uid]))
        #expect(try await !canWrite(bea, ["usernames/\(name.lowercased())": NSNull()]))
        #expect(try await !canWrite(bea, ["users/\(bea.uid)": ["name": "nameless"]]))
        let free = server.unique("free")
        #expect(try await canWrite(bea, claim(bea, free, free)))
        // The old name must be given back, and only with the profile that bore it.
        let other = server.unique("other")
        #expect(try await !canWrite(bea, claim(bea, other, other)))
        #expect(try await !canWrite(bea, ["usernames/\(free)": NSNull()]))
        var change = claim(bea, other, other)
        change["usernames/\(free)"] = NSNull()
        #expect(try await canWrite(bea, change))
        #expect(try await !canWrite(bea, ["profiles/\(bea.uid)": ["username": free, "name": "B"]]))
        #expect(try await canWrite(bea, ["profiles/\(bea.uid)": ["username": other, "name": "B"]]))
        // The person who goes gives the name back, and all that shows it goes with it.
        var going: [String: Any] = ["users/\(bea.uid)": NSNull()]
        #expect(try await !canWrite(bea, going))
        going["usernames/\(other)"] = NSNull()
        #expect(try await !canWrite(bea, going))
        going["profiles/\(bea.uid)"] = NSNull()
        #expect(try await !canWrite(ann, going))
        #expect(try await canWrite(bea, going))
        #expect(try await canWrite(ann, claimInstead(ann, of: ann.username, other)))
    }

    /// The update that changes a username, for a person with a kit's profile.
    private func claimInstead(_ person: Person, of old: String, _ new: String) -> [String: Any] {
        [
            "users/\(person.uid)/username": new, "profiles/\(person.uid)/username": new,
            "usernames/\(old.lowercased())": NSNull(), "usernames/\(new.lowercased())": person.uid,
        ]
    }

    @Test("an edge has both of its halves, by its follower, and ends by either of the two")
    func edges() async throws {
        let ann = try await server.quickMember("edge")
        let bea = try await server.quickMember("edged")
        func edge(_ follower: Person, _ followed: Person, _ value: Any) -> [String: Any] {
            [
                "following/\(follower.uid)/\(followed.uid)": value,
                "followers/\(followed.uid)/\(follower.uid)": value,
            ]
        }
        for half in edge(ann, bea, true) { #expect(try await !canWrite(ann, [half.key: true])) }
        #expect(try await !canWrite(ann, edge(bea, ann, true)))
        #expect(try await !canWrite(ann, edge(ann, ann, true)))
        #expect(try await !canWrite(ann, edge(ann, bea, 1)))
        #expect(try await canWrite(ann, edge(ann, bea, true)))
        for half in edge(ann, bea, true) { #expect(try await !canWrite(ann, [half.key: NSNull()])) }
        let third = try await server.quickMember("third")
        #expect(try await !canWrite(third, edge(ann, bea, NSNull())))
        #expect(try await canWrite(bea, edge(ann, bea, NSNull())))
        #expect(try await canWrite(ann, edge(ann, bea, true)))
        #expect(try await canWrite(ann, edge(ann, bea, NSNull())))
        #expect(try await canWrite(bea, ["blocks/\(bea.uid)/\(ann.uid)": true]))
        #expect(try await !canWrite(ann, edge(ann, bea, true)))
        #expect(try await !canWrite(bea, ["blocks/\(bea.uid)/\(bea.uid)": true]))
    }

    @Test("times are the server's, sizes are bounded, and short prefixes of addresses are refused")
    func validation() async throws {
        let ann = try await server.quickMember("valid")
        let id = ann.uid
        let refused: [[String: Any]] = [
            ["lastOnline/\(id)": 1],
            ["presence/\(id)/s": ["online": true, "at": 1]],
            [
                "presence/\(id)/s": ["online": false, "at": ServerValue.timestamp()]
                    as [String: Any]
            ],
            ["searchIndex/email/abcd/\(id)": true],
            ["searchIndex/phone/1234/\(id)": true],
            ["searchIndex/other/abcde/\(id)": true],
            ["searchIndex/name/\(String(repeating: "a", count: 65))/\(id)": true],
            ["searchIndex/name/a/\(id)": 1],
            ["users/\(id)/name": String(repeating: "n", count: 101)],
            ["users/\(id)/email": "ann@example.com"],
            ["profiles/\(id)/name": ""],
            ["profiles/\(id)/email": "ann@example.com"],
            ["profiles/\(id)/meta/a": ["b": 1]],
            ["private/\(id)": ["plan": "gold"]],
        ]
        for update in refused { #expect(try await !canWrite(ann, update), "\(update)") }
        #expect(try await canWrite(ann, ["searchIndex/email/abcde/\(id)": true]))
        #expect(try await canWrite(ann, ["searchIndex/name/a/\(id)": true]))
    }
}
