import Foundation

/// One program's use of one server: the options that its database and its accounts share.
///
/// Most programs have one, the default app. A program that acts for several accounts has one of another name for each:
/// every app has its own connection, signed-in user and folder on disk.
public final class HearthApp: Sendable {
    /// Its name; the default app's is `[DEFAULT]`.
    public let name: String

    /// The options it was configured with.
    public let options: HearthOptions

    /// The options, checked, with their defaults.
    package let settings: AppSettings

    /// The signed-in user, from any source.
    package let credentials: Credentials

    private struct State {
        var isDeleted = false
        var services: [String: any AnyObject & Sendable] = [:]
        var endings: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())

    private static let apps = Mutex<[String: HearthApp]>([:])
    static let defaultName = "[DEFAULT]"

    private init(name: String, options: HearthOptions) throws(HearthAppError) {
        let isPlain = name.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        guard isPlain, (1...100).contains(name.count) else { throw .invalidName(name) }
        self.name = name
        self.options = options
        settings = try AppSettings(
            options,
            appName: name,
            environment: ProcessInfo.processInfo.environment,
        )
        credentials = Credentials(
            savedUserFile: settings.persistsUser ? settings.savedUserFile : nil
        )
    }

    // MARK: - Configuring

    /// Configures the default app by the environment: `HEARTH_URL`, else a server on this machine.
    ///
    /// Ends the program with a message when `HEARTH_URL` is invalid or the default app exists.
    public static func configure() { configure(options: HearthOptions()) }

    /// Configures the default app. Ends the program with a message when the options are invalid.
    public static func configure(options: HearthOptions) {
        configure(name: defaultName, options: options)
    }

    /// Configures an app of another name. Ends the program with a message when the options are invalid.
    public static func configure(name: String, options: HearthOptions) {
        do {
            _ = try make(name: name, options: options)
        } catch {
            preconditionFailure("\(error)")
        }
    }

    /// Configures an app with options that may be invalid, such as those that a person has typed; nil names the default
    /// app.
    ///
    /// - Throws: The fault; nothing is configured then.
    @discardableResult
    public static func make(
        name: String? = nil,
        options: HearthOptions = HearthOptions(),
    ) throws(HearthAppError) -> HearthApp {
        let app = try HearthApp(name: name ?? defaultName, options: options)
        let isNew = apps.withLock { apps in
            guard apps[app.name] == nil else { return false }
            apps[app.name] = app
            return true
        }
        guard isNew else { throw .nameInUse(app.name) }
        return app
    }

    // MARK: - Finding

    /// The default app; nil when the program has not configured it and nothing has used it yet.
    public static func app() -> HearthApp? { app(name: defaultName) }

    /// The app of this name, if it is configured.
    public static func app(name: String) -> HearthApp? { apps.withLock { $0[name] } }

    /// All apps by their names; nil when there are none.
    public static var allApps: [String: HearthApp]? { apps.withLock { $0.isEmpty ? nil : $0 } }

    /// The default app, which is configured by the environment if the program has not done so. Ends the program with a
    /// message when `HEARTH_URL` is invalid.
    package static func defaultApp() -> HearthApp {
        if let app = app() { return app }
        do {
            let app = try make()
            let isNamed = !(ProcessInfo.processInfo.environment["HEARTH_URL"] ?? "").isEmpty
            HearthConfiguration.shared.log(
                isNamed ? .debug : .notice,
                "the default app was not configured and uses \(app.settings.databaseURL); call "
                    + "HearthApp.configure() or set HEARTH_URL"
            )
            return app
        } catch .nameInUse(_) {
            // Another thread configured it first, or the app was deleted in the meantime.
            return defaultApp()
        } catch {
            preconditionFailure("\(error)")
        }
    }

    /// The app of objects that were made from nothing, such as `DatabaseReference()`: it has no name that can be asked
    /// for, connects nowhere and keeps nothing.
    package static let unconfigured: HearthApp = {
        var options = HearthOptions(databaseURL: AppSettings.defaultURL)
        options.persistsUser = false
        do {
            return try HearthApp(name: "[NONE]", options: options)
        } catch {
            preconditionFailure("\(error)")
        }
    }()

    // MARK: - Ending

    /// Ends the app: its connections are closed, its name is free again. Data on disk stays.
    ///
    /// - Parameter completion: Called once, on this thread; false when the app was deleted before.
    public func delete(_ completion: @escaping (Bool) -> Void) { completion(end()) }

    /// Ends the app: its connections are closed, its name is free again. Data on disk stays.
    ///
    /// - Returns: False when the app was deleted before.
    @discardableResult
    public func delete() async -> Bool { end() }

    private func end() -> Bool {
        let endings: [@Sendable () -> Void]? = state.withLock { state in
            guard !state.isDeleted else { return nil }
            defer { state = State(isDeleted: true) }
            return state.endings
        }
        guard let endings else { return false }
        Self.apps.withLock { apps in
            if apps[name] === self { apps[name] = nil }
        }
        for ending in endings { ending() }
        credentials.removeAll()
        return true
    }

    /// Whether `delete` was called.
    package var isDeleted: Bool { state.withLock { $0.isDeleted } }

    /// Calls `ending` when the app is deleted; at once when it is already.
    package func onDelete(_ ending: @escaping @Sendable () -> Void) {
        let isDeleted = state.withLock { state in
            if !state.isDeleted { state.endings.append(ending) }
            return state.isDeleted
        }
        if isDeleted { ending() }
    }

    // MARK: - Parts of the SDK

    /// Says who is signed in; `HearthAuth` sets itself where the program has set nothing.
    ///
    /// The database gets its tokens from it and follows its changes, also when another source is set later.
    public var tokenSource: (any TokenSource)? {
        get { credentials.source }
        set { credentials.use(newValue) }
    }

    /// The one object of a part of the SDK for this app, and whether this call made it.
    ///
    /// `key` names it among others of its type: the address of a database. `make` runs under the app's lock: it may
    /// read only `name`, `options` and `settings` of the app.
    package func service<Service: AnyObject & Sendable>(
        _ key: String,
        make: () throws -> Service,
    ) rethrows -> (service: Service, isNew: Bool) {
        let key = "\(Service.self) \(key)"
        return try state.withLock { state in
            if let service = state.services[key] as? Service { return (service, false) }
            let service = try make()
            // A deleted app keeps nothing: later callers get objects that `onDelete` ends at once.
            if !state.isDeleted { state.services[key] = service }
            return (service, true)
        }
    }
}

/// The name that the type has in the hosted service's SDK.
public typealias FirebaseApp = HearthApp
