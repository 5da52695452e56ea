import TestSupport
import JSONTree
import Testing
import Tokens

@testable import Accounts

@Suite("one-time codes")
struct OneTimeCodeTests {
    private let start = Timestamp(milliseconds: 1_700_000_000_000)

    private func at(_ milliseconds: Int64) -> Timestamp {
        Timestamp(milliseconds: start.milliseconds + milliseconds)
    }

    private func code(
        _ secret: String,
        _ kind: OneTimeCode.Kind = .passwordReset,
        email: String = "ann@example.com",
        at now: Timestamp
    ) -> OneTimeCode {
        OneTimeCode(secret: secret, kind: kind, uid: "ann", email: email, now: now)
    }

    @Test("a digest is that of FIPS 180-4")
    func digest() {
        #expect(
            SHA256Digest.hex("abc")
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        )
        #expect(
            SHA256Digest.hex("")
                == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        )
    }

    @Test(
        "a code counts until its time is over",
        arguments: [
            (.passwordReset, 3_600_000), (.verifyEmail, 259_200_000),
            (.verifyAndChangeEmail, 259_200_000), (.emailSignIn, 21_600_000),
            (.recoverEmail, 604_800_000), (.phone, 600_000),
        ] as [(OneTimeCode.Kind, Int64)]
    )
    func expiry(kind: OneTimeCode.Kind, lifetime: Int64) {
        let code = code("secret", kind, at: start)
        #expect(!code.isExpired(at: at(lifetime - 1)))
        #expect(code.isExpired(at: at(lifetime)))
    }

    @Test("what is stored has no secret in it and reads back as it was")
    func record() throws {
        let code = OneTimeCode(
            secret: "the session",
            kind: .phone,
            uid: "ann",
            email: "a@example.com",
            newEmail: "b@example.com",
            phoneNumber: "+15555550100",
            digits: "123456",
            now: start
        )
        let json = String(decoding: code.record.json(), as: UTF8.self)
        #expect(!json.contains("session") && !json.contains("123456"))
        #expect(OneTimeCode(digest: code.digest, record: code.record) == code)
        #expect(code.isProved(by: "123456", secret: "the session"))
        #expect(!code.isProved(by: "123457", secret: "the session"))
        #expect(!code.isProved(by: "123456", secret: "another session"))
        #expect(code.triesLeft == OneTimeCode.tryLimit)
        let link = self.code("secret", at: start)
        #expect(!link.isProved(by: "", secret: "secret") && link.triesLeft == nil)
    }

    @Test("a code is found by its secret until it is taken away, and leaves nothing")
    func finding() {
        var directory = AccountDirectory(root: .absent)
        let code = code("secret", at: start)
        directory.apply(directory.adding(code, now: start))
        #expect(directory.code("secret") == code)
        #expect(directory.code("Secret") == nil)
        #expect(directory.code(code.digest) == nil)
        directory.apply(directory.removing(code))
        #expect(directory.root.isAbsent)
    }

    @Test("of one kind and address the newest count")
    func newest() {
        let limit = OneTimeCode.Kind.passwordReset.openLimit
        var directory = AccountDirectory(root: .absent)
        for number in 1...limit + 2 {
            let now = at(Int64(number))
            directory.apply(directory.adding(code("\(number)", at: now), now: now))
        }
        let other = code("other kind", .verifyEmail, at: start)
        directory.apply(directory.adding(other, now: start))
        let elsewhere = code("elsewhere", email: "bob@example.com", at: start)
        directory.apply(directory.adding(elsewhere, now: start))
        for number in 1...2 { #expect(directory.code("\(number)") == nil) }
        for number in 3...limit + 2 { #expect(directory.code("\(number)") != nil) }
        #expect(directory.code("other kind") != nil && directory.code("elsewhere") != nil)
        let count = directory.openCodeCount(
            .passwordReset,
            subject: "ann@example.com",
            now: at(20)
        )
        #expect(count == limit)
        #expect(directory.codeCount == limit + 2)
    }

    @Test("codes that are not sent push out one another, and none that counts")
    func untold() {
        func untold(_ secret: String, at now: Timestamp) -> OneTimeCode {
            let email = "\(secret)@example.com"
            return OneTimeCode(
                secret: secret,
                kind: .passwordReset,
                email: email,
                isUnsent: true,
                now: now
            )
        }
        var directory = AccountDirectory(root: .absent)
        directory.apply(directory.adding(code("sent", at: start), now: start))
        let (first, second) = (untold("first", at: at(1)), untold("second", at: at(2)))
        for code in [first, second] { directory.apply(directory.adding(code, now: start)) }
        #expect(OneTimeCode(digest: first.digest, record: first.record) == first)
        var fill = AccountChanges()
        for number in 2..<AccountDirectory.unsentCodeLimit {
            let key = AccountDirectory.key("9\(number)")
            fill.set(Node(true), at: AccountDirectory.path("untoldCodes", key))
        }
        directory.apply(fill)
        directory.apply(directory.adding(untold("third", at: at(3)), now: start))
        #expect(directory.root.member("untoldCodes").childCount == 10_000)
        #expect(directory.code("first") == nil)
        for secret in ["sent", "second", "third"] { #expect(directory.code(secret) != nil) }
        #expect(directory.root.member("codeExpiries").childCount == 1)
    }

    @Test("expired codes of an address make room before those that count")
    func expiredMakeRoom() {
        let limit = OneTimeCode.Kind.passwordReset.openLimit
        var directory = AccountDirectory(root: .absent)
        directory.apply(directory.adding(code("old", at: start), now: start))
        let later = at(3_600_000)
        for number in 1...limit {
            directory.apply(directory.adding(code("\(number)", at: later), now: later))
        }
        #expect(directory.code("old") == nil)
        #expect(directory.code("1") != nil)
        #expect(directory.codeCount == limit)
    }

    @Test(
        "old codes go a few at a time, the oldest first, after a while in which they are known to be old"
    )
    func removingExpired() {
        var directory = AccountDirectory(root: .absent)
        for number in 0..<10 {
            let now = at(Int64(number))
            let code = OneTimeCode(
                secret: "\(number)",
                kind: .passwordReset,
                email: "\(number)@example.com",
                isUnsent: number == 9,
                now: now
            )
            directory.apply(directory.adding(code, now: now))
        }
        let end: Int64 = 3_600_000 + AccountDirectory.codeGrace
        #expect(directory.removingExpiredCodes(now: at(end - 1), limit: 100).isEmpty)
        directory.apply(directory.removingExpiredCodes(now: at(end + 4), limit: 3))
        #expect((0..<10).map { directory.code("\($0)") == nil } == [true, true, true] + .no(7))
        directory.apply(directory.removingExpiredCodes(now: at(end + 4), limit: 100))
        #expect(directory.codeCount == 5)
        directory.apply(directory.removingExpiredCodes(now: at(end + 100), limit: 100))
        #expect(directory.root.isAbsent)
    }

    @Test("an entry without a code holds up none behind it")
    func strayEntry() {
        var directory = AccountDirectory(root: .absent)
        let code = code("secret", at: start)
        directory.apply(directory.adding(code, now: start))
        var stray = AccountChanges()
        stray.set(
            Node(true),
            at: AccountDirectory.path("codeExpiries", AccountDirectory.key("0-x"))
        )
        directory.apply(stray)
        directory.apply(directory.removingExpiredCodes(now: at(1 << 40), limit: 100))
        #expect(directory.root.isAbsent)
    }

    @Test("whatever is added, used and forgotten, the lists agree with the codes")
    func property() {
        for seed in TestSeed.seeds(20) {
            var chance = SeededGenerator(seed: seed)
            var directory = AccountDirectory(root: .absent)
            var naive: [String: OneTimeCode] = [:]
            var now = start
            for number in 0..<200 {
                now.milliseconds += Int64(chance.next() % 1_200_000)
                switch chance.next() % 4 {
                case 0:
                    if let (secret, code) = naive.min(by: { $0.key < $1.key }) {
                        directory.apply(directory.removing(code))
                        naive[secret] = nil
                    }
                case 1:
                    directory.apply(directory.removingExpiredCodes(now: now, limit: 1_000))
                    let end = Timestamp(
                        milliseconds: now.milliseconds - AccountDirectory.codeGrace
                    )
                    naive = naive.filter { !$0.value.isExpired(at: end) }
                default:
                    let kinds = OneTimeCode.Kind.allCases
                    let kind = kinds[Int(chance.next() % UInt64(kinds.count))]
                    let email = "\(chance.next() % 3)@example.com"
                    let added = code("\(number)", kind, email: email, at: now)
                    directory.apply(directory.adding(added, now: now))
                    let same = naive.filter {
                        $0.value.kind == kind && $0.value.subject == added.subject
                    }
                    for (secret, code) in same where code.isExpired(at: now) { naive[secret] = nil }
                    let open = same.filter { !$0.value.isExpired(at: now) }
                        .sorted { $0.value.createdAt < $1.value.createdAt }
                    for (secret, _) in open.dropLast(kind.openLimit - 1) {
                        naive[secret] = nil
                    }
                    naive["\(number)"] = added
                }
                #expect(directory.codeCount == naive.count, "seed \(seed), step \(number)")
                for (secret, code) in naive {
                    #expect(directory.code(secret) == code, "seed \(seed), step \(number)")
                }
            }
        }
    }
}

extension AccountDirectory {
    fileprivate mutating func apply(_ changes: AccountChanges) {
        self = AccountDirectory(root: changes.applied(to: root))
    }
}

extension [Bool] {
    fileprivate static func no(_ count: Int) -> [Bool] { Array(repeating: false, count: count) }
}
