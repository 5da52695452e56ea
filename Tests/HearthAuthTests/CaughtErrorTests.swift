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
            caught.append("NSError \(error.domain)")
        } catch {
            // Foundation on Linux makes no NSError of an enum in a pattern; by `as NSError` it does.
            caught.append("no NSError, but as one \((error as NSError).domain)")
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

    @Test("are caught by a pattern, by a cast and, where they are one, as NSError")
    func caught() async throws {
        let folder = try TemporaryFolder()
        var options = HearthOptions(databaseURL: "http://127.0.0.1:1")
        options.cacheFolder = folder.path
        let app = try HearthApp.make(name: "caught \(folder.path.suffix(60))", options: options)
        let reference = Database.database(app: app).reference(withPath: "a.b")
        #expect(
            try await written(reference) == [
                "1", "no NSError, but as one com.firebase", "pattern", "DatabaseError",
            ]
        )
        #expect(try signedOut(Auth.auth(app: app)) == ["1"])
        await app.delete()
    }
}
