import Foundation
import HearthDatabase
import Social
import ServiceSupport
import Testing

@Suite("races for usernames")
struct UsernameRaceTests {
    private let server: ServiceServer

    init() throws { server = try ServiceServer.shared("social") }

    @Test("of many who claim or change to one name at once exactly one has it")
    func crowd() async throws {
        let name = server.unique("crowd")
        var people: [Person] = []
        for index in 0..<8 {
            let person = try await server.guest()
            if index.isMultiple(of: 2) {
                try await person.users.create(username: server.unique("before"))
            }
            people.append(person)
        }
        let winners = try await people.mapInParallel { person -> String? in
            do {
                let profile = try await person.users.show(forUID: person.uid)
                if profile == nil {
                    try await person.users.create(username: name)
                } else {
                    try await person.users.changeUsername(to: name.uppercased())
                }
                return person.uid
            } catch ServiceError.taken {
                return nil
            }
        }.compactMap { $0 }
        #expect(winners.count == 1)
        #expect(try await people[0].users.uid(forUsername: name) == winners.first)
        for (index, person) in people.enumerated() where person.uid != winners.first {
            let profile = try await person.users.show(forUID: person.uid)
            #expect((profile == nil) == !index.isMultiple(of: 2))
            #expect(profile?.username.hasPrefix("before") ?? true)
        }
    }

    @Test("two devices of one person who change the name at once leave one name", arguments: 1...5)
    func devices(round: Int) async throws {
        let ann = try await server.member("device")
        let phone = try await ann.device(server.url)
        let names = (1...2).map { server.unique("name-\(round)-\($0)") }
        let claims = [(ann, names[0]), (phone, names[1])]
        let profiles = try await claims.mapInParallel { person, name in
            try await person.users.changeUsername(to: name)
        }
        #expect(profiles.map(\.username) == names)
        let last = try await ann.users.me().username
        #expect(names.contains(last))
        for name in names + [ann.username] {
            let owner = try await phone.users.uid(forUsername: name)
            #expect(owner == (name == last ? ann.uid : nil), "\(name), now \(last)")
        }
        #expect(try await ann.profiles.show(forUID: ann.uid)?.username == last)
    }

    @Test("two devices of one person who sign up at once make one profile")
    func signUp() async throws {
        let ann = try await server.person("twin")
        let phone = try await ann.device(server.url)
        let names = [server.unique("twin-a"), server.unique("twin-b")]
        let outcomes = try await [(ann, names[0]), (phone, names[1])].mapInParallel {
            person,
            name -> Bool in
            do {
                try await person.users.create(username: name)
                return true
            } catch ServiceError.invalid("username", _) {
                return false
            }
        }
        #expect(outcomes.filter { $0 }.count == 1)
        let username = try await ann.users.me().username
        for name in names {
            let owner = try await ann.users.uid(forUsername: name)
            #expect(owner == (name == username ? ann.uid : nil))
        }
    }

    @Test(
        "a connection that is cut while a name is claimed leaves all of it or nothing",
        arguments: 0..<12
    )
    func cut(turn: Int) async throws {
        let ann = try await server.guest()
        let bea = try await server.guest()
        _ = try await ann.place("users/\(ann.uid)").getData()
        let name = server.unique("cut")
        let claim = Task { try await ann.users.create(username: name, name: "Cut \(turn)") }
        // Each turn cuts a little later; when exactly does not matter.
        for _ in 0..<(turn * 40) { await Task.yield() }
        ann.database.goOffline()
        ann.database.goOnline()
        let isMade: Bool
        do {
            _ = try await claim.value
            isMade = true
        } catch ServiceError.database(.offline) {
            isMade = false
        }
        let profile = try await bea.users.show(forUID: ann.uid)
        #expect((profile != nil) == isMade)
        #expect(try await bea.users.uid(forUsername: name) == (isMade ? ann.uid : nil))
        #expect((try await bea.profiles.show(forUID: ann.uid) != nil) == isMade)
        // The next start goes on where this one was cut.
        let made = try await ann.users.create(username: name, name: "Cut \(turn)")
        #expect(try await bea.users.show(forUID: ann.uid) == made)
    }
}
