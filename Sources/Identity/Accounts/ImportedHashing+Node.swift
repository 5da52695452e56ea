package import JSONTree
package import Passwords
import Tokens

/// The parameters of imported hashes as they are stored, members that say nothing left out:
///
///     hashings/ID: {algorithm, signerKey, saltSeparator, rounds, memoryCost, parallelization, blockSize,
///                   derivedKeyLength, order, variant, version10, associatedData}
///
/// Bytes are in base64url without padding.
extension ImportedHashing {
    /// The parameters that a record holds; nil for none.
    package init?(record: Node) {
        guard let algorithm = record.member("algorithm").string.flatMap({ Algorithm(rawValue: $0) })
        else { return nil }
        self.init(algorithm)
        signerKey = Self.bytes(record, "signerKey")
        saltSeparator = Self.bytes(record, "saltSeparator")
        rounds = Self.number(record, "rounds")
        memoryCost = Self.number(record, "memoryCost")
        parallelization = Self.number(record, "parallelization")
        blockSize = Self.number(record, "blockSize")
        derivedKeyLength = Self.number(record, "derivedKeyLength")
        order = record.member("order").string.flatMap { Order(rawValue: $0) }
        variant = record.member("variant").string.flatMap { Argon2Variant(rawValue: $0) } ?? .id
        isVersion13 = !(record.member("version10").boolean ?? false)
        associatedData = Self.bytes(record, "associatedData")
    }

    /// The record that is stored.
    package var record: Node {
        var record = RecordBuilder()
        record.set("algorithm", algorithm.rawValue)
        record.set("signerKey", Self.text(signerKey))
        record.set("saltSeparator", Self.text(saltSeparator))
        record.set("rounds", Self.number(rounds))
        record.set("memoryCost", Self.number(memoryCost))
        record.set("parallelization", Self.number(parallelization))
        record.set("blockSize", Self.number(blockSize))
        record.set("derivedKeyLength", Self.number(derivedKeyLength))
        record.set("order", order?.rawValue)
        record.set("variant", variant == .id ? nil : variant.rawValue)
        record.set("version10", !isVersion13)
        record.set("associatedData", Self.text(associatedData))
        return record.node
    }

    /// The name that equal parameters have in common: half a SHA-256 of their record, in base64url.
    package var id: String {
        var text: [UInt8] = []
        record.appendJSON(to: &text)
        return Base64.encode(Array(SHA256Digest.of(text)[..<16]), .url)
    }

    private static func bytes(_ record: Node, _ name: String) -> [UInt8] {
        record.member(name).string.flatMap { Base64.decode($0) } ?? []
    }

    private static func number(_ record: Node, _ name: String) -> Int {
        record.member(name).integer.map { Int($0) } ?? 0
    }

    private static func text(_ bytes: [UInt8]) -> String? {
        bytes.isEmpty ? nil : Base64.encode(bytes, .url)
    }

    private static func number(_ number: Int) -> Int64? { number == 0 ? nil : Int64(number) }
}

extension AccountDirectory {
    /// How the imported passwords are hashed that name `id`.
    package func hashing(_ id: String) -> ImportedHashing? {
        guard let key = AccountKey.key(id) else { return nil }
        return ImportedHashing(record: root.descendant(at: Self.path("hashings", key)))
    }

    /// The hashing to compare a password with `stored`: for an imported hash, the one that made it.
    ///
    /// For any other hash, and for none, it is the hashing of some imported hashes, if there are any: so the work of a
    /// sign-in does not reveal who was imported. Nil in a realm without imports.
    package func hashing(for stored: StoredPassword?) -> ImportedHashing? {
        if let id = stored?.importedHashingID { return hashing(id) }
        var first: ImportedHashing?
        root.member("hashings").visitChildren { _, record in
            first = ImportedHashing(record: record)
            return first == nil
        }
        return first
    }

    /// Keeps how imported passwords are hashed; nothing when that is kept already.
    package func changes(keeping hashing: ImportedHashing) -> AccountChanges {
        let id = hashing.id
        if self.hashing(id) != nil { return AccountChanges() }
        let path = AccountKey.key(id).map { Self.path("hashings", $0) }
        return AccountChanges(hashing.record, at: path)
    }
}
