import Files
import Tokens

/// The tokens that are taken beside those of this server's own keys: what `--jwks`, `--hs256-secret-file` and development
/// mode let in.
struct OutsideTokens: Sendable {
    /// The issuer whose keys are in the JWKS file.
    let issuer: TrustedIssuer
    let policy: TokenPolicy

    private static let keyFileByteLimit = 1 << 20

    /// What a configuration asks for, its files read now.
    ///
    /// - Throws: `FileError` or `RulesFileError`, which name the file.
    init(_ settings: Configuration.TokenSettings, _ mode: Configuration.Mode) throws {
        var keys = KeySet.empty
        if let path = settings.jwksFile {
            let bytes = try SmallFile.read(path, byteLimit: Self.keyFileByteLimit).bytes
            do { keys = try KeySet(jwks: bytes) } catch {
                throw RulesFileError(description: "\(path): \(error.text)")
            }
        }
        issuer = TrustedIssuer(
            .outside,
            keys: keys,
            issuer: settings.issuer,
            audience: settings.audience
        )
        policy = TokenPolicy(
            acceptsUnsigned: mode == .development,
            issuer: settings.issuer,
            audience: settings.audience,
            hmacSecret: try settings.hs256SecretFile.map { try Self.secret($0) },
        )
    }

    private static func secret(_ path: String) throws -> [UInt8] {
        let bytes = try SmallFile.read(path, byteLimit: keyFileByteLimit).bytes
        let text = Array(bytes.reversed().drop { $0 <= 0x20 }.reversed())
        guard TokenLimits.secretByteCount.contains(text.count) else {
            throw RulesFileError(
                description: "\(path): the HS256 secret has \(text.count) bytes; it must have "
                    + "\(TokenLimits.secretByteCount.lowerBound) to "
                    + "\(TokenLimits.secretByteCount.upperBound)"
            )
        }
        return text
    }
}
