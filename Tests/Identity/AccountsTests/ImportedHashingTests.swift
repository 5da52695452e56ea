import JSONTree
import Testing

@testable import Accounts
@testable import Passwords

@Suite("how imported passwords are hashed")
struct ImportedHashingTests {
    private static let firebase = ImportedHashing(
        algorithm: .scrypt,
        signerKey: Array(0..<64),
        saltSeparator: [7],
        rounds: 8,
        memoryCost: 14
    )

    @Test(
        "is stored whole",
        arguments: [
            firebase, ImportedHashing(algorithm: .md5),
            ImportedHashing(algorithm: .hmacSHA256, signerKey: [0, 255], order: .saltFirst),
            ImportedHashing(
                algorithm: .standardScrypt,
                memoryCost: 1024,
                parallelization: 16,
                blockSize: 8,
                derivedKeyLength: 64
            ),
            ImportedHashing(
                algorithm: .argon2,
                rounds: 2,
                memoryCost: 65_536,
                parallelization: 1,
                variant: .i,
                isVersion13: false,
                associatedData: [1]
            ),
        ]
    )
    func roundTrip(hashing: ImportedHashing) {
        #expect(ImportedHashing(record: hashing.record) == hashing)
        #expect(hashing.id.utf8.count == 22)
    }

    @Test(
        "is kept once for equal parameters, and found by its name and by the passwords that name it"
    )
    func shared() {
        var other = Self.firebase
        other.rounds = 7
        #expect(other.id != Self.firebase.id)
        let none = AccountDirectory(root: .absent)
        let stored = StoredPassword(
            importedHash: [1],
            salt: [2],
            hashingID: Self.firebase.id
        )
        #expect(none.hashing(for: stored) == nil)
        #expect(none.hashing(for: nil) == nil)
        let changes = none.changes(keeping: Self.firebase)
        let directory = AccountDirectory(root: changes.applied(to: .absent))
        #expect(directory.changes(keeping: Self.firebase).isEmpty)
        #expect(!directory.changes(keeping: other).isEmpty)
        #expect(directory.hashing(Self.firebase.id) == Self.firebase)
        #expect(directory.hashing("no such") == nil)
        #expect(directory.hashing(for: stored) == Self.firebase)
        // For anybody else it is the work that counts.
        #expect(directory.hashing(for: nil) == Self.firebase)
        #expect(directory.hashing(for: StoredPassword("$argon2id$x")) == Self.firebase)
    }

    @Test("that is damaged is none")
    func damaged() throws {
        for text in [#"{"algorithm":"BCRYPT"}"#, #"{"rounds":8}"#, #""SCRYPT""#, "7"] {
            #expect(ImportedHashing(record: try Node(json: Array(text.utf8))) == nil)
        }
        let odd = try Node(
            json: Array(#"{"algorithm":"SCRYPT","signerKey":"!","rounds":"8"}"#.utf8)
        )
        #expect(ImportedHashing(record: odd)?.fault != nil)
    }
}
