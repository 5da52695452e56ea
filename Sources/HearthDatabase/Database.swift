public import Dispatch
public import Foundation
import ClientTransport
public import HearthCore
import JSONTree
import SyncCore
import Locks

/// One database, of which an app has one object.
///
/// Nothing is connected until the first call that reads or writes. Callbacks come on `callbackQueue`, the
/// main queue unless another is set.
public final class Database: NSObject, Sendable {
    let sync: SyncQueue
    /// What is wrong with the address it was asked for; all references then say so.
    let fault: DatabaseError?
    private let owner: HearthApp

    /// Databases in use, for `DatabaseReference.goOffline()`.
    private static let open = Mutex<[ObjectIdentifier: Database]>([:])

    /// Databases in use.
    static var all: [Database] {
        open.withLock { Array($0.values) }.sorted { $0.address.name < $1.address.name }
    }

    init(
        app: HearthApp,
        at place: Result<DatabaseAddress, DatabaseError>,
        transport: (any ClientTransport)? = nil,
    ) {
        owner = app
        let settings = app.settings
        let address: DatabaseAddress
        switch place {
        case .success(let found):
            address = found
            fault = nil
        case .failure(let error):
            address = DatabaseAddress(host: "localhost", isSecure: false, name: "default")
            fault = error
        }
        let setup = DatabaseSetup(
            address,
            agent: "sdk.swift.\(SDKVersion.text.replacing(".", with: "-"))",
            userAgent: settings.agent,
            authorityFile: settings.authorityFile,
            folder: settings.folder,
        )
        sync = SyncQueue(
            setup,
            transport: transport ?? makeClientTransport(),
            credentials: app.credentials,
        )
        super.init()
    }

    /// The address that an app's options, or a text, name.
    static func place(
        _ app: HearthApp,
        _ text: String?,
    ) -> Result<DatabaseAddress, DatabaseError> {
        let settings = app.settings
        do throws(DatabaseError) {
            let url = try DatabaseURL(text ?? settings.databaseURL)
            guard url.path.allSatisfy({ $0 == "/" }) else {
                throw .invalidURL(
                    text ?? settings.databaseURL,
                    why: "it names a place in a database: use reference(fromURL:)"
                )
            }
            var address = url.address(defaultName: settings.databaseName)
            if text == nil { address.name = settings.databaseName }
            return .success(address)
        } catch {
            return .failure(error)
        }
    }

    /// The one object of an app for a database.
    private static func instance(_ app: HearthApp, _ url: String?) -> Database {
        let place = place(app, url)
        let key =
            switch place {
            case .success(let address): "\(address.url)?ns=\(address.name)"
            case .failure: url ?? ""
            }
        let (database, isNew) = app.service(key) { Database(app: app, at: place) }
        guard isNew else { return database }
        if let fault = database.fault {
            HearthConfiguration.shared.log(
                .error,
                "a database cannot be used: \(fault.localizedDescription)"
            )
        }
        let id = ObjectIdentifier(database)
        open.withLock { $0[id] = database }
        app.onDelete {
            open.withLock { $0[id] = nil }
            database.sync.close()
        }
        return database
    }

    /// The owner of references that were made from nothing; closed, so that it connects nowhere whatever is asked of it.
    static let nowhere: Database = {
        let database = Database(app: .unconfigured, at: .failure(fromNothing))
        database.sync.close()
        return database
    }()

    /// What is wrong with such references.
    static let fromNothing = DatabaseError.invalidQuery(
        why: "it was made from nothing: ask a Database for a reference"
    )

    /// Where it is.
    var address: DatabaseAddress { sync.setup.choice.address }

    /// Tells the developer of a mistake.
    func warn(_ text: String) { HearthConfiguration.shared.log(.warning, text) }
}

// MARK: Getting one

extension Database {
    /// The database of the default app.
    public static func database() -> Database { instance(HearthApp.defaultApp(), nil) }

    /// The database of the default app at an address: `http://localhost:9000?ns=demo`.
    ///
    /// Of an address that cannot be read all references say so to whoever uses them.
    public static func database(url: String) -> Database {
        instance(HearthApp.defaultApp(), url)
    }

    /// The database of an app.
    public static func database(app: HearthApp) -> Database { instance(app, nil) }

    /// The database of an app at an address.
    public static func database(app: HearthApp, url: String) -> Database { instance(app, url) }

    /// The app it belongs to.
    public var app: HearthApp? { owner }

    /// The version of this SDK.
    public static func sdkVersion() -> String { SDKVersion.text }

    /// Whether the SDK tells what goes on, beside what is wrong.
    public static func setLoggingEnabled(_ enabled: Bool) {
        HearthConfiguration.shared.setLoggerLevel(enabled ? .debug : .notice)
    }
}

// MARK: References

extension Database {
    /// The root.
    public func reference() -> DatabaseReference {
        if let fault { return DatabaseReference(self, .failure(fault)) }
        return DatabaseReference(self, .success(QueryPlace(.root)))
    }

    /// The place at a path.
    public func reference(withPath path: String) -> DatabaseReference { reference().child(path) }

    /// The place at a path.
    ///
    /// - Throws: `DatabaseError.invalidPath` for a path that cannot be.
    public func reference(validating path: String) throws -> DatabaseReference {
        try reference().child(validating: path)
    }

    /// The place that an address names; it must be one of this database.
    public func reference(fromURL databaseUrl: String) -> DatabaseReference {
        do throws(DatabaseError) {
            let url = try DatabaseURL(databaseUrl)
            guard url.host == address.host, url.name == nil || url.name == address.name else {
                throw .invalidURL(databaseUrl, why: "it is one of another database")
            }
            return try reference().checkedChild(url.path)
        } catch {
            warn("a reference cannot be used: \(error.localizedDescription)")
            return DatabaseReference(self, .failure(error))
        }
    }
}

// MARK: Setting up

extension Database {
    /// Uses the server on this host and port, without TLS; to be called before the database is first used.
    public func useEmulator(withHost host: String, port: Int) {
        sync.setup.choose("useEmulator") { $0.address = $0.address.behind(host: host, port: port) }
    }

    /// Whether data and pending writes are kept on disk; to be set before the database is first used.
    public var isPersistenceEnabled: Bool {
        get { sync.setup.choice.isPersistent }
        set { sync.setup.choose("isPersistenceEnabled") { $0.isPersistent = newValue } }
    }

    /// Bytes that data on disk takes at most, from 1 MiB to 100 MiB; to be set before the first use.
    public var persistenceCacheSizeBytes: UInt {
        get { sync.setup.choice.cacheByteCount }
        set {
            let limits: ClosedRange<UInt> = 1_048_576...104_857_600
            guard limits.contains(newValue) else {
                return warn("persistenceCacheSizeBytes is from 1 MiB to 100 MiB, not \(newValue)")
            }
            sync.setup.choose("persistenceCacheSizeBytes") { $0.cacheByteCount = newValue }
        }
    }

    /// Sets how many milliseconds `getData` waits for a connection, before anything else is asked of the database.
    ///
    /// 3,000 unless set, as Firebase's SDKs do, which have no setting for it: too few where hundreds of clients share a
    /// processor, as in tests.
    package func setReadTimeout(milliseconds: Int64) {
        sync.setup.choose("readTimeout") { $0.readTimeout = milliseconds }
    }

    /// Where callbacks come; the main queue unless another is set. It must be a serial queue.
    public var callbackQueue: DispatchQueue {
        get { sync.setup.callbackQueue }
        set { sync.setup.callbackQueue = newValue }
    }
}

// MARK: Connection

extension Database {
    /// Closes the connection and opens none until `goOnline`. Reads show what is known, writes wait.
    public func goOffline() { sync.call(.goOffline) }

    /// Undoes `goOffline`.
    public func goOnline() { sync.call(.goOnline) }

    /// Gives up all writes that the server has not acknowledged; their completions get an error.
    public func purgeOutstandingWrites() { sync.call(.purgeOutstandingWrites) }
}
