package import ArgumentParser
import Dispatch
import Foundation
import HearthAuth
import HearthCore
import HearthDatabase
import HearthStorage

/// Which server a program is for, and as whom it speaks to it.
package struct ConnectionOptions: ParsableArguments, Sendable {
    @Option(help: "Address of the server (default: $HEARTH_URL, else http://localhost:9000).")
    package var url: String?

    @Option(
        name: [.customLong("instance"), .customLong("ns")],
        help: ArgumentHelp(
            "Name of the database (default: what the address says, else the program's own).",
            valueName: "name"
        )
    )
    package var instance: String?

    @Option(
        help: ArgumentHelp(
            "Name of the bucket of files (default: social, or party).",
            valueName: "name"
        )
    )
    package var bucket: String?

    @Option(
        help: ArgumentHelp(
            "Which of several people on this machine: each profile is signed in for itself, at one server.",
            valueName: "name"
        )
    )
    package var profile = "default"

    @Option(
        name: .customLong("ca-file"),
        help: ArgumentHelp(
            "PEM file of the authorities to trust (default: $HEARTH_CA_FILE, else the system's).",
            valueName: "file"
        ),
        completion: .file()
    )
    package var authorityFile: String?

    @Option(
        help: ArgumentHelp(
            "How long to wait for the server, in seconds, before giving up.",
            valueName: "seconds"
        )
    )
    package var deadline: Double = 10

    package init() {}

    package func validate() throws {
        guard deadline > 0, deadline <= 86_400 else {
            throw ValidationError("--deadline is more than 0 and at most 86400 seconds")
        }
    }
}

extension ConnectionOptions {
    /// The session of the profile's signed-in user, connected.
    ///
    /// - Parameters:
    ///   - database: Name of the program's database, unless an option or the address names one.
    ///   - isKept: Whether seen data is stored on disk. Then the session does not wait for a connection, and an
    ///     unreachable server is not an error; pending writes of an earlier run are dropped.
    /// - Returns: The session; the caller closes it.
    /// - Throws: `ProgramFault`: no user is signed in, the sign-in has ended, the server cannot be reached.
    package func session(database: String, isKept: Bool = false) async throws -> Session {
        let app = try app(database: database)
        do {
            guard let user = Auth.auth(app: app).currentUser else { throw signedOut(app) }
            if isKept { return try await keptSession(app, user) }
            try await checkSignIn(of: user, in: app)
            return try await connected(app, user)
        } catch {
            await app.delete()
            throw error
        }
    }

    /// Signs up, and gives the session of the new account.
    ///
    /// If the account exists and the password is right, signs in: an earlier sign-up may have been cut after this
    /// step. The caller then creates what is missing.
    ///
    /// - Returns: The session, and whether the account is new.
    package func signUp(
        email: String,
        password: String,
        database: String,
    ) async throws -> (session: Session, isNew: Bool) {
        let app = try app(database: database)
        do {
            let auth = Auth.auth(app: app)
            let (user, isNew) = try await reaching(app) {
                do {
                    let made = try await auth.createUser(withEmail: email, password: password)
                    return (made.user, true)
                } catch let error as AuthError where error.errorCode == .emailAlreadyInUse {
                    return (try await existing(auth, email, password), false)
                }
            }
            return (try await connected(app, user), isNew)
        } catch {
            await app.delete()
            throw error
        }
    }

    /// Signs in, for the next commands too.
    ///
    /// - Returns: The address of who is signed in now.
    package func signIn(email: String, password: String) async throws -> String {
        let app = try app(database: "default")
        return try await app.closing {
            let user = try await reaching(app) {
                try await Auth.auth(app: app).signIn(withEmail: email, password: password).user
            }
            return user.email ?? email
        }
    }

    /// Signs out.
    ///
    /// - Returns: The address of the user who was signed in; nil for none.
    package func signOut() async throws -> String? {
        let app = try app(database: "default")
        return try await app.closing {
            let auth = Auth.auth(app: app)
            let user = auth.currentUser
            try auth.signOut()
            return user.map { $0.email ?? $0.uid }
        }
    }

    /// Options to add to a command for the same server and user: ` --profile bea`.
    package var repeated: String {
        var words = ""
        if let url { words += " --url \(url)" }
        if let instance { words += " --instance \(instance)" }
        if profile != "default" { words += " --profile \(profile)" }
        return words
    }
}

extension ConnectionOptions {
    /// The app of this profile, whose callbacks need no main queue.
    private func app(database: String) throws(ProgramFault) -> HearthApp {
        var options = HearthOptions()
        options.databaseURL = url
        let variables = ProcessInfo.processInfo.environment
        let trusted = variables["HEARTH_CA_FILE"].flatMap { $0.isEmpty ? nil : $0 }
        options.authorityFile = authorityFile ?? trusted
        options.agent = ProgramName.current
        let environment = variables["HEARTH_URL"] ?? ""
        let isNamed = URLComponents(string: url ?? environment)?.queryItems?.contains {
            $0.name == "ns"
        }
        options.databaseName = instance ?? (isNamed == true ? nil : database)
        options.storageBucket = bucket ?? database
        do throws(HearthAppError) {
            let app = try HearthApp.make(name: profile, options: options)
            Auth.auth(app: app).callbackQueue = DispatchQueue(label: "hearth.accounts")
            Storage.storage(app: app).callbackQueue = DispatchQueue(label: "hearth.files")
            return app
        } catch {
            throw ProgramFault(error)
        }
    }

    /// Whether the server still counts the sign-in that is kept.
    private func checkSignIn(of user: User, in app: HearthApp) async throws {
        do {
            _ = try await reaching(app) { try await user.getIDToken() }
        } catch let error as AuthError {
            throw ProgramFault(
                "the sign-in at \(app.settings.accountsURL) has ended: "
                    + "\(error.localizedDescription) `\(ProgramName.current) sign-in\(repeated)`"
            )
        }
    }

    /// A session that stores seen data, and may have no connection yet.
    private func keptSession(_ app: HearthApp, _ user: User) async throws -> Session {
        let database = Database.database(app: app)
        database.callbackQueue = DispatchQueue(label: "hearth.events")
        database.isPersistenceEnabled = true
        database.purgeOutstandingWrites()
        do {
            try await checkSignIn(of: user, in: app)
        } catch let fault as ProgramFault where fault == .unreachable(app.settings.accountsURL) {
            // It is checked again with the connection.
        }
        return Session(app: app, user: user, database: database)
    }

    private func connected(_ app: HearthApp, _ user: User) async throws -> Session {
        let database = Database.database(app: app)
        database.callbackQueue = DispatchQueue(label: "hearth.events")
        guard await Self.connects(database, within: deadline) else {
            throw ProgramFault.unreachable(app.settings.accountsURL)
        }
        return Session(app: app, user: user, database: database)
    }

    /// Whether there is a connection before the deadline.
    private static func connects(_ database: Database, within seconds: Double) async -> Bool {
        let (answers, continuation) = AsyncStream<Bool>.makeStream(
            bufferingPolicy: .bufferingOldest(1)
        )
        let location = database.reference(withPath: ".info/connected")
        let handle = location.observe(.value) { snapshot in
            if snapshot.value as? Bool == true { continuation.yield(true) }
        }
        defer { location.removeObserver(withHandle: handle) }
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { continuation.yield(false) }
        for await answer in answers { return answer }
        return false
    }

    /// Runs an account operation; an unreachable server gets our own text.
    private func reaching<Value: Sendable>(
        _ app: HearthApp,
        _ operation: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await operation()
        } catch let error as AuthError where error.errorCode == .networkError {
            throw ProgramFault.unreachable(app.settings.accountsURL)
        }
    }

    /// Signs in to an account that is there already, if the password is its own.
    private func existing(
        _ auth: Auth,
        _ email: String,
        _ password: String
    ) async throws -> User {
        do {
            return try await auth.signIn(withEmail: email, password: password).user
        } catch let error as AuthError where error.errorCode != .networkError {
            throw ProgramFault(
                "\(email) has an account already, with another password: "
                    + "`\(ProgramName.current) sign-in\(repeated) \(email)`"
            )
        }
    }

    private func signedOut(_ app: HearthApp) -> ProgramFault {
        .signedOut(app.settings.accountsURL, arguments: repeated)
    }
}
