import CArgon2
import JSONTree
import Testing

@testable import Passwords

private let cost = PasswordCost(memoryKiB: 8 << 10, passes: 1)

private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

private func verify(
    _ password: String,
    _ stored: StoredPassword?,
    _ hashing: ImportedHashing? = nil,
    _ cost: PasswordCost = cost
) -> PasswordOutcome {
    PasswordHasher.perform(.verify(password: bytes(password), stored, hashing, cost))
}

private func hashed(_ password: String, _ cost: PasswordCost = cost) throws -> StoredPassword {
    let made = PasswordHasher.perform(.hash(password: bytes(password), cost))
    guard case .hashed(let stored) = made else {
        Issue.record("no hash: \(made)")
        throw NoHash()
    }
    return stored
}

private struct NoHash: Error {}

@Suite("password hashes")
struct HasherTests {
    @Test("know their password and no other")
    func roundTrip() throws {
        let stored = try hashed("tea")
        #expect(stored.text.hasPrefix("$argon2id$v=19$m=8192,t=1,p=1$"))
        #expect(stored.isWellFormed)
        #expect(verify("tea", stored) == .right(renewed: nil))
        #expect(verify("Tea", stored) == .wrong)
        #expect(verify("tea ", stored) == .wrong)
    }

    @Test("differ for equal passwords")
    func salted() throws {
        #expect(try hashed("tea") != hashed("tea"))
    }

    @Test("are those of the reference implementation")
    func reference() {
        // Source: github.com/P-H-C/phc-winner-argon2, src/test.c.
        let stored = StoredPassword(
            "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
        )
        let cost = PasswordCost(memoryKiB: 65_536, passes: 2)
        #expect(verify("password", stored, nil, cost) == .right(renewed: nil))
        #expect(verify("Password", stored, nil, cost) == .wrong)
    }

    @Test(
        "count every byte of a password",
        arguments: [
            ("a\u{0}b", "a"), ("a\u{0}b", "a\u{0}c"),
            (String(repeating: "x", count: 4096), String(repeating: "x", count: 4095) + "y"),
            (String(repeating: "𝄞", count: 4096), String(repeating: "𝄞", count: 4095)),
        ]
    )
    func everyByte(password: String, other: String) throws {
        let stored = try hashed(password)
        #expect(verify(password, stored) == .right(renewed: nil))
        #expect(verify(other, stored) == .wrong)
    }

    @Test("an empty password is never right")
    func empty() throws {
        #expect(verify("", try hashed("")) == .wrong)
        let imported = ImportedHashing(algorithm: .sha256)
        let stored = StoredPassword(
            importedHash: Base64.decode("47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU") ?? [],
            salt: [],
            hashingID: imported.id
        )
        #expect(verify("", stored, imported) == .wrong)
    }

    @Test("are made anew once more is asked for, and only then")
    func renewal() throws {
        let stored = try hashed("tea")
        let dearer = [
            PasswordCost(memoryKiB: 16 << 10, passes: 1),
            PasswordCost(memoryKiB: 8 << 10, passes: 2),
        ]
        for cost in dearer {
            guard case .right(let renewed?) = verify("tea", stored, nil, cost) else {
                Issue.record("not renewed at \(cost)")
                continue
            }
            #expect(verify("tea", renewed, nil, cost) == .right(renewed: nil))
            // Less is asked for again: what is better than that stays.
            #expect(verify("tea", renewed) == .right(renewed: nil))
            #expect(verify("Tea", stored, nil, cost) == .wrong)
        }
    }

    @Test(
        "that are damaged, or ask for more than is allowed, are never right",
        arguments: [
            "", "$", "$$$$$", "tea", "$argon2id$v=19$m=8192,t=1,p=1$c29tZXNhbHQ", "\u{0}",
            "$argon2id$v=19$m=8192,t=1,p=1$c29tZXNhbHQ$",
            "$argon2id$v=19$m=8192,t=1,p=1$$CTFhFdXPJO1aFaMaO6Mm5c8y7cI",
            "$argon2id$v=19$m=8192,t=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cI",
            "$argon2id$v=19$m=8192,p=1,t=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cI",
            "$argon2id$v=19$m=8192,t=1,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7c!",
            "$argon2id$v=19$m=8192,t=1,p=1$c29t$CTFhFdXPJO1aFaMaO6Mm5c8y7cI",
            "$argon2id$v=19$m=8192,t=1,p=1$c29tZXNhbHQ$Zm9v",
            "$argon2id$v=18$m=8192,t=1,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cI",
            "$argon2d$v=19$m=8192,t=1,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cI",
            // 4 TiB, four thousand million passes, lanes that are threads, negative numbers, more than 64 bits.
            "$argon2id$v=19$m=4294967295,t=1,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cI",
            "$argon2id$v=19$m=8192,t=4294967295,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cI",
            "$argon2id$v=19$m=8192,t=1,p=16777215$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cI",
            "$argon2id$v=19$m=-8192,t=-1,p=-1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cI",
            "$argon2id$v=19$m=99999999999999999999,t=1,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cI",
            "$argon2id$v=19$m=0,t=0,p=0$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cI",
            "$import$$$", "$import$x$$", "$import$x$c29t$c29t", "$import$x$c29t", "$import$x$!$!$!",
        ]
    )
    func damaged(text: String) {
        let stored = StoredPassword(text)
        #expect(!stored.isWellFormed)
        for hashing in [nil, ImportedHashing(algorithm: .sha256, rounds: 1)] {
            #expect(verify("tea", stored, hashing) == .wrong)
            #expect(verify("", stored, hashing) == .wrong)
        }
    }

    @Test("a hash that lost any one character is not that of its password")
    func oneCharacterLess() throws {
        let text = try hashed("tea").text
        for index in text.indices {
            var damaged = text
            damaged.remove(at: index)
            // One less of a number can be a number again, whose hash is another one.
            #expect(verify("tea", StoredPassword(damaged)) == .wrong, "without character \(index)")
        }
    }

    @Test("cannot be made without memory")
    func noMemory() {
        let argon2 = Argon2(memoryKiB: 8 << 10, passes: 1)
        let salt = [UInt8](repeating: 1, count: 16)
        let hash = argon2.hash(bytes("tea"), salt: salt, byteCount: 32) { memory, _ in
            memory?.pointee = nil
            return ARGON2_MEMORY_ALLOCATION_ERROR.rawValue
        }
        #expect(hash == nil)
    }
}

@Suite("the work of a sign-in")
struct EffortTests {
    private func effort(
        _ password: String,
        _ stored: StoredPassword?,
        _ hashing: ImportedHashing? = nil
    ) -> [PasswordEffort.Step] {
        var effort = PasswordEffort()
        let work = PasswordWork.verify(password: bytes(password), stored, hashing, cost)
        _ = PasswordHasher.perform(work, &effort)
        return effort.steps
    }

    @Test("is the same for a right password, a wrong one, an unknown account, and damage")
    func equalWork() throws {
        let stored = try hashed("tea")
        let expected = [PasswordEffort.Step.argon2(memoryKiB: 8 << 10, passes: 1)]
        #expect(effort("tea", stored) == expected)
        #expect(effort("Tea", stored) == expected)
        #expect(effort("tea", nil) == expected)
        #expect(effort("", stored) == expected)
        #expect(effort("tea", StoredPassword("$argon2id$v=19$m=99999999,t=1,p=1$$")) == expected)
    }

    @Test("is the same for all in a realm with imported hashes")
    func equalWorkBesideImports() throws {
        let hashing = ImportedHashing(algorithm: .pbkdf2SHA256, rounds: 1000)
        let imported = StoredPassword(
            importedHash: [UInt8](repeating: 7, count: 32),
            salt: bytes("NaCl"),
            hashingID: hashing.id
        )
        let expected: [PasswordEffort.Step] = [
            .imported(.pbkdf2SHA256), .argon2(memoryKiB: 8 << 10, passes: 1),
        ]
        #expect(effort("tea", imported, hashing) == expected)
        #expect(effort("tea", try hashed("tea"), hashing) == expected)
        #expect(effort("tea", nil, hashing) == expected)
    }
}

extension ImportedHashing {
    /// Any name does where nothing is looked up.
    fileprivate var id: String { "x" }
}
