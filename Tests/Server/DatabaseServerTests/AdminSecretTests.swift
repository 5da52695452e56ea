import TestSupport
import Files
import Glibc
import JSONTree
import Testing
import Tokens

@testable import DatabaseServer

@Suite("the admin secret")
struct AdminSecretTests {
    @Test("of a data folder is generated once, for its owner alone")
    func generated() throws {
        let folder = try TemporaryFolder()
        let one = try AdminSecret.inFolder(folder.path)
        let content = try SmallFile.read(folder.path + "/admin-secret", byteLimit: 100)
        #expect(content.permissions == 0o600)
        let text = String(decoding: content.bytes.dropLast(), as: UTF8.self)
        #expect(text.utf8.count == 43)
        #expect(content.bytes.last == UInt8(ascii: "\n"))
        #expect(one.matches(text))
        #expect(try AdminSecret.inFolder(folder.path).matches(text))
        #expect(folder.names() == ["admin-secret"])
        let other = try TemporaryFolder()
        #expect(try !AdminSecret.inFolder(other.path).matches(text))
    }

    @Test("matches itself alone")
    func matching() throws {
        let secret = try AdminSecret(Array("0123456789abcdef".utf8))
        #expect(secret.matches("0123456789abcdef"))
        for other in [
            "", "0123456789abcde", "0123456789abcdef0", "0123456789abcdeF", "0123456789abcdef\n",
        ] {
            #expect(!secret.matches(other))
        }
    }

    @Test("of a file is taken without the white space around it")
    func configured() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("s", " 0123456789abcdef\r\n")
        #expect(try AdminSecret.load(path).matches("0123456789abcdef"))
    }

    @Test(
        "is refused when it is short, long, or cannot stand in a header",
        arguments: [
            ("", AdminSecretError.length(byteCount: 0)),
            ("0123456789abcde", .length(byteCount: 15)),
            ("0123456789 abcdef", .forbiddenCharacter), ("0123456789abcdéf", .forbiddenCharacter),
            ("0123456789\u{0}abcdef", .forbiddenCharacter),
        ]
    )
    func bad(text: String, error: AdminSecretError) throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("s", text)
        #expect(throws: error) { try AdminSecret.load(path) }
    }

    @Test(
        "is refused when others may read its file",
        arguments: [0o644, 0o640, 0o604, 0o620] as [mode_t]
    )
    func readable(permissions: mode_t) throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("s", "0123456789abcdef", permissions: permissions)
        let error = FileError.readableByOthers(path: path, what: "this secret", mode: "600")
        #expect(throws: AdminSecretError.file(error)) { try AdminSecret.load(path) }
    }

    @Test("is refused when its file is missing")
    func missing() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/none"
        let error = FileError.system(call: "open", path: path, code: ENOENT)
        #expect(throws: AdminSecretError.file(error)) { try AdminSecret.load(path) }
    }
}

@Suite("a credential")
struct CredentialCheckTests {
    @Test(
        "is decided by its form and the mode",
        arguments: [
            ("0123456789abcdef", .admin, .admin),
            ("owner", .admin, .refused),
            ("Owner", .refused, .refused), ("owner ", .refused, .refused),
            ("", .refused, .refused), ("x", .refused, .refused),
            ("0123456789abcdeg", .refused, .refused),
            ("a.b.c", .verify, .verify), ("a.b.", .verify, .verify), ("..", .verify, .verify),
            ("a.b", .refused, .refused), ("a.b.c.d", .refused, .refused),
        ] as [(String, CredentialCheck.Outcome, CredentialCheck.Outcome)]
    )
    func table(
        credential: String,
        development: CredentialCheck.Outcome,
        production: CredentialCheck.Outcome
    ) throws {
        let secret = try AdminSecret(Array("0123456789abcdef".utf8))
        let inDevelopment = CredentialCheck(adminSecret: secret, mode: .development)
        #expect(inDevelopment.check(credential) == development)
        let inProduction = CredentialCheck(adminSecret: secret, mode: .production)
        #expect(inProduction.check(credential) == production)
    }

    @Test("is never the administrator's where there is no secret")
    func withoutSecret() {
        let check = CredentialCheck(adminSecret: nil, mode: .production)
        #expect(check.check("") == .refused)
        #expect(check.check("owner") == .refused)
    }

    @Test("that is a bad token has one of two texts for its client")
    func texts() {
        #expect(TokenError.expired(at: .init(milliseconds: 0)).wireText == "Auth token is expired")
        #expect(TokenError.badSignature.wireText == "Could not parse auth token.")
    }
}
