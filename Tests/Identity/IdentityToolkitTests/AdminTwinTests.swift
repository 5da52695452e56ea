import TestSupport
import Accounts
import JSONTree
import Testing

@testable import IdentityToolkit

/// The accounts kept as a plain list, in which every name is searched for.
private struct NaiveAccounts {
    struct User: Equatable {
        let uid: String
        var email: String?
        var phone: String?
        var identities: [String: String] = [:]
    }

    var users: [User] = []

    func index(_ uid: String) -> Int? { users.firstIndex { $0.uid == uid } }

    /// The message with which the names of `user` are refused; nil when no other account has them.
    func clash(_ user: User) -> String? {
        let others = users.filter { $0.uid != user.uid }
        if let email = user.email, others.contains(where: { $0.email == email }) {
            return "EMAIL_EXISTS"
        }
        if let phone = user.phone, others.contains(where: { $0.phone == phone }) {
            return "PHONE_NUMBER_EXISTS"
        }
        for (provider, rawID) in user.identities
        where others.contains(where: { $0.identities[provider] == rawID }) {
            return "FEDERATED_USER_ID_ALREADY_LINKED"
        }
        return nil
    }
}

@Suite("a directory under random histories")
struct AdminTwinTests {
    /// Few names, so that they clash often; an address is written in several ways.
    private static let uids = ["a", "b", "c", "d", "e/f", "%41"]
    private static let emails = ["x@y", "X@Y", "ｘ@y", "z.z@y", "é@y", "e\u{301}@y"]
    private static let phones = ["+12345", "+1 23-45", "+67890"]
    private static let providers = ["p.com", "q.com"]
    private static let rawIDs = ["1", "2"]

    @Test(
        "indexes and records always agree with a list, and no two accounts share a name",
        arguments: TestSeed.seeds(20)
    )
    func history(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var realm = AdminRealm()
        var naive = NaiveAccounts()
        for number in 0..<150 {
            let message: String?
            let expected: String?
            switch generator.index(10) {
            case 0...2: (message, expected) = try create(&realm, &naive, &generator)
            case 3...6: (message, expected) = try update(&realm, &naive, &generator)
            case 7: (message, expected) = try delete(&realm, &naive, &generator)
            default: (message, expected) = try bring(&realm, &naive, &generator)
            }
            try #require(message == expected, "seed \(seed), request \(number)")
            try #require(Self.agrees(realm.directory, naive), "seed \(seed), request \(number)")
        }
    }

    // MARK: - Requests

    private func create(
        _ realm: inout AdminRealm,
        _ naive: inout NaiveAccounts,
        _ generator: inout SeededGenerator
    ) throws -> (String?, String?) {
        let user = Self.user(&generator)
        let reply = try realm.call(.adminCreate, "{\(Self.names(user))}")
        let spelled = Self.spelled(user)
        if naive.index(user.uid) != nil { return (reply.message, "DUPLICATE_LOCAL_ID") }
        let clash = naive.clash(spelled)
        if clash == nil { naive.users.append(spelled) }
        return (reply.message, clash)
    }

    private func update(
        _ realm: inout AdminRealm,
        _ naive: inout NaiveAccounts,
        _ generator: inout SeededGenerator
    ) throws -> (String?, String?) {
        var given = Self.user(&generator)
        var json = Self.names(given)
        given = Self.spelled(given)
        var deletes: (email: Bool, phone: Bool, provider: String?) = (false, false, nil)
        switch generator.index(5) {
        case 0:
            json += #","deleteAttribute":["EMAIL"]"#
            deletes.email = true
        case 1:
            json += #","deleteProvider":["phone"]"#
            deletes.phone = true
        case 2:
            let provider = Self.providers[generator.index(2)]
            json += #","deleteProvider":["\#(provider)"]"#
            deletes.provider = provider
        case 3:
            let (provider, rawID) = (
                Self.providers[generator.index(2)], Self.rawIDs[generator.index(2)]
            )
            json += #","linkProviderUserInfo":{"providerId":"\#(provider)","rawId":"\#(rawID)"}"#
            given.identities[provider] = rawID
        default: break
        }
        let reply = try realm.call(.adminUpdate, "{\(json)}")
        guard let index = naive.index(given.uid) else { return (reply.message, "USER_NOT_FOUND") }
        var user = naive.users[index]
        user.email = given.email ?? user.email
        user.phone = given.phone ?? user.phone
        user.identities.merge(given.identities) { $1 }
        // Only what is new can clash; of the rest each name is one account's already.
        if let clash = naive.clash(user) { return (reply.message, clash) }
        if deletes.email { user.email = nil }
        if deletes.phone { user.phone = nil }
        if let provider = deletes.provider { user.identities[provider] = nil }
        naive.users[index] = user
        return (reply.message, nil)
    }

    private func delete(
        _ realm: inout AdminRealm,
        _ naive: inout NaiveAccounts,
        _ generator: inout SeededGenerator
    ) throws -> (String?, String?) {
        let uids = (0...generator.index(2)).map { _ in Self.uids[generator.index(Self.uids.count)] }
        if uids.count == 1 {
            let reply = try realm.call(.adminDelete, #"{"localId":"\#(uids[0])"}"#)
            guard let index = naive.index(uids[0]) else { return (reply.message, "USER_NOT_FOUND") }
            naive.users.remove(at: index)
            return (reply.message, nil)
        }
        let list = uids.map { "\"\($0)\"" }.joined(separator: ",")
        let reply = try realm.call(.batchDelete, #"{"localIds":[\#(list)],"force":true}"#)
        naive.users.removeAll { uids.contains($0.uid) }
        return (reply.message, nil)
    }

    /// The messages are those of single entries: how many were refused.
    private func bring(
        _ realm: inout AdminRealm,
        _ naive: inout NaiveAccounts,
        _ generator: inout SeededGenerator
    ) throws -> (String?, String?) {
        var users = (0...generator.index(4)).map { _ in Self.user(&generator) }
        for index in users.indices where generator.index(3) == 0 {
            users[index].identities[Self.providers[generator.index(2)]] =
                Self.rawIDs[generator.index(2)]
        }
        let list = users.map { "{\(Self.names($0))}" }.joined(separator: ",")
        let reply = try realm.call(.batchCreate, #"{"allowOverwrite":true,"users":[\#(list)]}"#)
        var refused: [String] = []
        for (index, user) in users.enumerated() {
            let user = Self.spelled(user)
            guard naive.clash(user) == nil else {
                refused.append("\(index)")
                continue
            }
            naive.users.removeAll { $0.uid == user.uid }
            naive.users.append(user)
        }
        let reported = RequestFields(reply.body).elements("error").compactMap {
            $0.node.member("index").integer.map { "\($0)" }
        }
        return (reported.joined(separator: " "), refused.joined(separator: " "))
    }

    // MARK: - Names

    private static func user(_ generator: inout SeededGenerator) -> NaiveAccounts.User {
        var user = NaiveAccounts.User(uid: uids[generator.index(uids.count)])
        if generator.index(2) == 0 { user.email = emails[generator.index(emails.count)] }
        if generator.index(2) == 0 { user.phone = phones[generator.index(phones.count)] }
        return user
    }

    private static func names(_ user: NaiveAccounts.User) -> String {
        var json = #""localId":"\#(user.uid)""#
        if let email = user.email { json += #","email":"\#(email)""# }
        if let phone = user.phone { json += #","phoneNumber":"\#(phone)""# }
        if !user.identities.isEmpty {
            let all = user.identities.sorted { $0.key < $1.key }.map {
                #"{"providerId":"\#($0.key)","rawId":"\#($0.value)"}"#
            }
            json += #","providerUserInfo":[\#(all.joined(separator: ","))]"#
        }
        return json
    }

    /// The names in their one spelling, from a table of their own.
    private static func spelled(_ user: NaiveAccounts.User) -> NaiveAccounts.User {
        var user = user
        user.email = user.email.map {
            ["X@Y": "x@y", "ｘ@y": "x@y", "e\u{301}@y": "\u{E9}@y"][$0] ?? $0
        }
        user.phone = user.phone.map { $0 == "+1 23-45" ? "+12345" : $0 }
        return user
    }

    // MARK: - Agreement

    /// Whether the directory has these accounts, finds each by each of its names, and has no other entry.
    private static func agrees(_ directory: AccountDirectory, _ naive: NaiveAccounts) -> Bool {
        var (emails, phones, identities) = (0, 0, 0)
        for user in naive.users {
            guard let account = directory.account(user.uid), account.email == user.email,
                account.phoneNumber == user.phone,
                Dictionary(uniqueKeysWithValues: account.federated.map { ($0.provider, $0.rawID) })
                    == user.identities
            else { return false }
            if let email = user.email {
                guard directory.account(email: email)?.uid == user.uid else { return false }
                emails += 1
            }
            if let phone = user.phone {
                guard directory.account(phone: phone)?.uid == user.uid else { return false }
                phones += 1
            }
            for (provider, rawID) in user.identities {
                guard directory.account(provider: provider, rawID: rawID)?.uid == user.uid else {
                    return false
                }
                identities += 1
            }
        }
        var kept = 0
        directory.root.member("federated").visitChildren { _, provider in
            kept += provider.childCount
            return true
        }
        return directory.accountCount == naive.users.count && kept == identities
            && directory.root.member("emails").childCount == emails
            && directory.root.member("phones").childCount == phones
    }
}
