import Foundation
import HearthAuth
import HearthDatabase
import TestSupport
import Testing

/// The ways in which apps catch errors. With typed throws in the public functions the compiler (6.3) ends on some of
/// these in an error of its own, when a function that throws has a closure before them.
@Suite("errors")
struct CaughtErrorTests {
    private func written(_ reference: DatabaseReference) async throws -> [String] {
        var caught = [1].map { "\($0)" }
        do {
            try await reference.setValue(1)
        } catch let error as NSError where error.code == 11 {
            caught.append("NSError \(error.domain) \(error.localizedDescription.prefix(6))")
            caught.append("back again \(error as? DatabaseError != nil)")
        }
        do {
            try await reference.setValue(1)
        } catch {
            caught.append("by as? \(((error as Any) as? NSError)?.code ?? 0)")
        }
        do {
            try await reference.setValue(1)
        } catch DatabaseError.invalidPath {
            caught.append("pattern")
        }
        do {
            try await reference.getData()
        } catch let error as DatabaseError where error.code == "INVALID_PATH" {
            caught.append("DatabaseError")
        }
        return caught
    }

    private func signedOut(_ auth: Auth) throws -> [String] {
        var caught = [1].map { "\($0)" }
        do {
            try auth.signOut()
        } catch let error as NSError {
            caught.append(error.domain)
        }
        return caught
    }

    private func refused(_ auth: Auth) async throws -> [String] {
        var caught = [1].map { "\($0)" }
        do {
            try await auth.signIn(withEmail: "ann@example.com", password: "secret1")
        } catch AuthErrorCode.missingEmail {
            caught.append("another code")
        } catch AuthErrorCode.invalidEmail, AuthErrorCode.networkError {
            caught.append("pattern")
        }
        do {
            try await auth.signIn(withEmail: "ann@example.com", password: "secret1")
        } catch let error as AuthErrorCode where error == .networkError {
            caught.append("code \(error.code.rawValue)")
        }
        do {
            try await auth.signIn(withEmail: "ann@example.com", password: "secret1")
        } catch let error as NSError {
            caught.append("NSError \(error.domain) \(error.code)")
            caught.append("\(AuthErrorCode(_nsError: error).code)")
            caught.append("\(AuthErrorCode.Code(rawValue: error.code) == .networkError)")
            caught.append("\((error as? AuthErrorCode)?.localizedDescription.isEmpty == false)")
        }
        return caught
    }

    @Test("of accounts are caught by their codes as well")
    func codes() async throws {
        let mine = try TestApp("http://127.0.0.1:1")
        #expect(
            try await refused(mine.auth) == [
                "1", "pattern", "code 17020", "NSError FIRAuthErrorDomain 17020", "networkError",
                "true", "true",
            ]
        )
        let other = NSError(domain: "other", code: AuthErrorCode.networkError.rawValue)
        #expect(other as? AuthErrorCode == nil)
        #expect(AuthErrorCode(_nsError: other) == .internalError)
        #expect((AuthErrorCode.userDisabled as any Error as NSError).code == 17005)
    }

    @Test("are caught by a pattern, by a cast and as NSError")
    func caught() async throws {
        let folder = try TemporaryFolder()
        var options = HearthOptions(databaseURL: "http://127.0.0.1:1")
        options.cacheFolder = folder.path
        let app = try HearthApp.make(name: "caught \(folder.path.suffix(60))", options: options)
        let reference = Database.database(app: app).reference(withPath: "a.b")
        #expect(
            try await written(reference) == [
                "1", "NSError com.firebase \"a.b\" ", "back again true", "by as? 11", "pattern",
                "DatabaseError",
            ]
        )
        #expect(try signedOut(Auth.auth(app: app)) == ["1"])
        await app.delete()
    }
}
