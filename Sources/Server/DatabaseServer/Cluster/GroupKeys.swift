import JSONTree
import Tokens

/// The keys that make one node take the tokens of another: those of the group's first owner.
///
/// They stand in the log, at `AccountDirectory.groupKeysPath`, sealed with the group's secret, and each node keeps a copy in
/// its data folder, for a start that is alone:
///
///     "hgk1_" base64url( SealedBox: {"refreshKey":...,"signingKeys":...,"adminSecret":...} )
///
/// `signingKeys` and `adminSecret` are missing where the owner has none of its own.
struct GroupKeys: Sendable {
    /// The key of `RefreshSeal`.
    let sealKey: [UInt8]
    /// The keys that sign ID tokens; in development there may be none.
    let signing: SigningKeys
    /// What makes an administrator, unless a setting says so.
    let adminSecret: AdminSecret?

    /// Those of a node; `secretFolder` is the data folder whose admin secret counts, nil when a setting names another one.
    init(_ folder: KeyFolder, _ signing: SigningKeys, secretFolder: String?) throws {
        sealKey = try folder.sealKey(orElse: Randomness.bytes)
        self.signing = signing
        adminSecret = try secretFolder.map(AdminSecret.inFolder)
    }

    /// Puts them in place of those of a node.
    func write(to folder: KeyFolder, secretFolder: String?) throws {
        try folder.write(sealKey: sealKey)
        if !signing.entries.isEmpty { try folder.write(signing) }
        if let secretFolder { try adminSecret?.write(toFolder: secretFolder) }
    }
}

extension GroupKeys {
    /// nil when OpenSSL is out of memory.
    var text: [UInt8]? {
        guard let signingText = SigningKeyText.write(signing) else { return nil }
        let text: JSONValue = [
            "refreshKey": .string(Base64.encode(sealKey, .url)),
            "signingKeys": signing.entries.isEmpty
                ? nil : .string(String(decoding: signingText, as: UTF8.self)),
            "adminSecret": adminSecret.map { .string(String(decoding: $0.bytes, as: UTF8.self)) },
        ]
        return text.text
    }

    /// - Throws: for what this version does not write.
    init(text: [UInt8], lifetime: Int64) throws {
        let node = try Node.readingAnyJSON(text)
        guard let key = Base64.decodeURL((node.member("refreshKey").string ?? "").utf8),
            key.count == TokenLimits.sealKeyByteCount
        else { throw SigningKeyText.Fault.unknownForm }
        sealKey = key
        let entries = try node.member("signingKeys").string.map {
            try SigningKeyText.read(Array($0.utf8))
        }
        signing = SigningKeys(entries ?? [], lifetime: lifetime)
        adminSecret = try node.member("adminSecret").string.map { try AdminSecret(Array($0.utf8)) }
    }
}
