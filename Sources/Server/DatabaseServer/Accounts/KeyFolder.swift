import Files
import Glibc
import JSONTree
import Tokens

/// The folder `keys` of a data folder: what must never be copied about with the data, so no backup has it.
///
///     keys/                   mode 0700
///     keys/refresh-key        mode 0600: 32 bytes, base64url; seals refresh tokens
///     keys/signing-keys.json  mode 0600: {"version":1,"keys":[
///                               {"kid":...,"created":N,"signsFrom":N,"key":"-----BEGIN PRIVATE KEY-----..."},...]}
///
/// Times are seconds since 1970. Of a key that signs no more only the public half is kept
/// (`-----BEGIN PUBLIC KEY-----`). Both files are written whole under another name and then renamed. A file that is
/// missing is made anew; one that is damaged, or that others may read, stops the server before it serves.
struct KeyFolder: Sendable {
    let path: String

    /// What errors call the content.
    private static let content = "these keys"
    /// Bytes of the file of signing keys: `SigningKeys.keyCount` of them.
    private static let byteLimit = 4 << 20

    private var sealPath: String { "\(path)/refresh-key" }
    private var signingPath: String { "\(path)/signing-keys.json" }

    /// The folder of a data folder, made when it is missing.
    static func open(inDataFolder dataFolder: String) throws(KeyFolderError) -> KeyFolder {
        let path = "\(dataFolder)/keys"
        if mkdir(path, 0o700) == 0 {
            do { try SmallFile.syncFolder(of: path) } catch { throw .file(error) }
        } else if errno != EEXIST {
            throw .file(.system(call: "create folder", path: path, code: errno))
        }
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw .file(.system(call: "stat", path: path, code: errno))
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw .file(.system(call: "open folder", path: path, code: ENOTDIR))
        }
        guard status.st_mode & 0o077 == 0 else {
            throw .file(.readableByOthers(path: path, what: Self.content, mode: "700"))
        }
        return KeyFolder(path: path)
    }

    /// The key that seals refresh tokens, made of `random` bytes when there is none.
    func sealKey(orElse random: (Int) -> [UInt8]) throws(KeyFolderError) -> [UInt8] {
        if FileStamp.of(sealPath) == nil {
            let text = Base64.encode(random(TokenLimits.sealKeyByteCount), .url) + "\n"
            do {
                _ = try SmallFile.createPrivate(sealPath, Array(text.utf8))
            } catch {
                throw .file(error)
            }
        }
        let text = try read(sealPath)
        guard text.last == UInt8(ascii: "\n"), let key = Base64.decodeURL(text.dropLast()),
            key.count == TokenLimits.sealKeyByteCount
        else {
            throw .damaged(path: sealPath, "it is not one line of 43 base64url characters")
        }
        return key
    }

    /// Puts another key in place of the one that seals refresh tokens.
    func write(sealKey key: [UInt8]) throws(KeyFolderError) {
        try write(Array("\(Base64.encode(key, .url))\n".utf8), to: sealPath)
    }

    /// The keys that sign ID tokens; none when the file is missing.
    func signingKeys(lifetime: Int64) throws(KeyFolderError) -> SigningKeys {
        let bytes: [UInt8]
        do throws(KeyFolderError) {
            bytes = try read(signingPath)
        } catch .file(let error) where error.errorNumber == ENOENT {
            // A file that only cannot be read holds keys, which new ones must not replace.
            return SigningKeys(lifetime: lifetime)
        }
        do throws(SigningKeyText.Fault) {
            return SigningKeys(try SigningKeyText.read(bytes), lifetime: lifetime)
        } catch {
            throw .damaged(path: signingPath, error.text)
        }
    }

    /// Writes the keys that sign ID tokens.
    func write(_ keys: SigningKeys) throws(KeyFolderError) {
        guard let text = SigningKeyText.write(keys) else { throw .noRandomness }
        try write(text, to: signingPath)
    }

    private func write(_ text: [UInt8], to path: String) throws(KeyFolderError) {
        do throws(FileError) {
            let draft = try FileDraft(path, permissions: 0o600)
            try draft.write(text)
            try draft.commit()
        } catch {
            throw .file(error)
        }
    }

    private func read(_ path: String) throws(KeyFolderError) -> [UInt8] {
        do throws(FileError) {
            return try SmallFile.readPrivate(path, Self.content, byteLimit: Self.byteLimit)
        } catch {
            throw .file(error)
        }
    }
}

/// Why the keys of a data folder cannot be used.
enum KeyFolderError: Error, Equatable, Sendable, CustomStringConvertible {
    case file(FileError)
    case damaged(path: String, String)
    /// OpenSSL could not make a key.
    case noRandomness
    /// There are `SigningKeys.keyCount` signing keys.
    case full

    var description: String {
        switch self {
        case .file(let error): "\(error)"
        case .damaged(let path, let reason):
            "\(path): \(reason); bring it back from a copy, or remove it: then new keys are made, "
                + "and everybody has to sign in again"
        case .full: "there are \(SigningKeys.keyCount) signing keys, and no more can be"
        case .noRandomness: "the system cannot make a signing key"
        }
    }
}
