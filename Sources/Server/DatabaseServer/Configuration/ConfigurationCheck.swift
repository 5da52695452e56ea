import DatabaseCore
import Files
import Glibc
import JSONTree
import RulesTools
import SecurityRules
import StateRecovery
import Tokens
import Transport
import Webhooks
import WriteAheadLog

/// Everything that can be said of a configuration without starting a server or changing a file.
struct ConfigurationCheck: Sendable {
    /// What is as it should be, worth a line: which rules load, until when a certificate counts.
    private(set) var facts: [String] = []
    /// What works and is probably not meant.
    private(set) var warnings: [String]
    /// What keeps a server from starting, beside the faults of the settings themselves.
    private(set) var faults: [ConfigurationFault]

    private let configuration: Configuration

    /// Days before a certificate's end from which on it is warned of.
    private static let certificateWarningDays: Int64 = 21

    /// Looks at all files that the configuration names, and (`readsLog`) into the data folder.
    init(_ configuration: Configuration, readsLog: Bool = true) {
        self.configuration = configuration
        warnings = configuration.warnings
        faults = configuration.fileFaults()
        let unreadable = Set(faults.map(\.place))
        func isReadable(_ setting: Setting) -> Bool {
            !unreadable.contains("--\(setting.rawValue)")
        }
        facts.append(
            configuration.settingsFile.map { "\($0): settings are read" } ?? "no settings file"
        )
        lookAtRules()
        if isReadable(.tlsCert), isReadable(.tlsKey) { lookAtCertificate() }
        if isReadable(.jwks), isReadable(.hs256SecretFile) { lookAtTokenKeys() }
        lookAtSecrets()
        lookAtFolder()
        if readsLog { lookAtRulesInForce() }
    }

    /// The warnings that files alone give rise to, for the log of a server that starts; which reads its
    /// data folder itself.
    static func warningsOfFiles(_ configuration: Configuration) -> [String] {
        var quiet = configuration
        quiet.warnings = []
        return ConfigurationCheck(quiet, readsLog: false).warnings
    }

    private mutating func fault(_ setting: Setting, _ problem: String, _ advice: String) {
        let origin = configuration.written[setting]?.origin ?? .builtIn(setting)
        faults.append(ConfigurationFault(origin, problem, advice))
    }

    // MARK: - Rules

    private mutating func lookAtRules() {
        if let path = configuration.rulesFile { lookAtRules(path, .rules) }
        for database in configuration.databases {
            if let path = database.rulesFile { lookAtRules(path, .database) }
        }
        if let path = configuration.files.rulesFile { lookAtFileRules(path, .filesRules) }
        for bucket in configuration.files.buckets {
            if let path = bucket.rulesFile { lookAtFileRules(path, .filesBucket) }
        }
        let samples = configuration.sampleDatabases.map(\.rawValue)
        if !samples.isEmpty {
            facts.append("databases with the sample rules: \(samples.joined(separator: ", "))")
        }
    }

    private mutating func lookAtFileRules(_ path: String, _ setting: Setting) {
        guard access(path, R_OK) == 0 else { return }
        do {
            _ = try FileRulesStore.load(path)
            facts.append("\(path): rules for files load")
        } catch {
            for line in "\(error)".split(separator: "\n") {
                fault(setting, "\(line)", "See: hearth rules check \(path)")
            }
        }
    }

    private mutating func lookAtRules(_ path: String, _ setting: Setting) {
        guard access(path, R_OK) == 0 else { return }
        let rules: Ruleset
        do {
            rules = try RulesFile.load(path)
        } catch {
            for line in "\(error)".split(separator: "\n") {
                fault(setting, "\(line)", "See: hearth rules check \(path)")
            }
            return
        }
        let found = rules.lint()
        facts.append("\(path): rules load")
        let open = found.filter { $0.code == .openRoot }
        let count = found.count - open.count
        if count > 0 {
            warnings.append(
                "\(path): \(count == 1 ? "1 rule means" : "\(count) rules mean") more than they seem to; "
                    + "'hearth rules check \(path)' says which"
            )
        }
        guard configuration.mode == .production else { return }
        for lint in open {
            warnings.append("\(path):\(lint.line):\(lint.column): \(lint.message)")
        }
    }

    /// Says for each database which rules are in force and why, and which file is therefore not used.
    private mutating func lookAtRulesInForce() {
        guard let found = ownRulesInFolder() else { return }
        var own = Dictionary(uniqueKeysWithValues: found.map { ($0.database, $0.version) })
        for reserved in [DatabaseID.accounts, .files] { own[reserved] = nil }
        let named = configuration.databases.map { DatabaseID($0.name.text) }
        let samples = configuration.sampleDatabases.map { DatabaseID($0.rawValue) }
        let databases = Set(own.keys).union(named).union(samples).sorted()
        for database in databases.prefix(RulesFallback.shownDatabaseLimit) {
            let inForce = RulesInForce(
                database: database,
                own: own[database] ?? nil,
                fallback: configuration.rulesFallback(of: database)
            )
            facts.append("database \(database): rules in force: \(inForce.text)")
            if let text = inForce.unusedFileText { warnings.append(text) }
        }
        if databases.count > RulesFallback.shownDatabaseLimit {
            let more = databases.count - RulesFallback.shownDatabaseLimit
            facts.append("\(more) more databases; 'hearth rules history' tells")
        }
        guard configuration.mode == .development else { return }
        let fallback = configuration.rulesFallback
        facts.append("databases that are yet to be made: rules in force: \(fallback.text)")
    }

    /// What the data folder says of its databases; nil when it cannot be read, which is said.
    private mutating func ownRulesInFolder() -> [(database: DatabaseID, version: RulesVersion?)]? {
        guard case .folder(let path) = configuration.storage else { return [] }
        let look = FolderLook(path)
        // Without the permission there is a fault already.
        guard look.presence == .folder else { return [] }
        guard look.accessFailure == 0 else { return nil }
        do throws(LogError) {
            return try RulesReader.read(FileLogStorage(path: path))
        } catch .notADataFolder {
            return []
        } catch {
            if case .held = look.lock {
                warnings.append(
                    "\(path): the rules in force cannot be read while a server writes to it: \(error); "
                        + "try again, or ask it: hearth rules history"
                )
            } else {
                fault(.dataDir, "\(path): \(error)", "See: hearth log verify \(path)")
            }
            return nil
        }
    }

    // MARK: - TLS

    private mutating func lookAtCertificate() {
        guard let tls = configuration.tls else { return }
        let host = publicHost
        let facts: CertificateFacts
        do throws(TransportError) {
            facts = try CertificateFacts(tls, host: host)
        } catch {
            fault(.tlsCert, "\(error)", "Name a PEM certificate chain and its key.")
            return
        }
        let seconds = Clock.now().milliseconds / 1_000
        let end = ISO8601.text(of: facts.validity.upperBound * 1_000)
        self.facts.append("\(tls.certificate): fits its key, and counts until \(end)")
        if seconds < facts.validity.lowerBound {
            let begin = ISO8601.text(of: facts.validity.lowerBound * 1_000)
            warnings.append(
                "\(tls.certificate): counts from \(begin) on, which is later than this machine's clock"
            )
        } else if seconds > facts.validity.upperBound {
            warnings.append("\(tls.certificate): has expired, on \(end)")
        } else if facts.validity.upperBound - seconds < Self.certificateWarningDays * 86_400 {
            warnings.append("\(tls.certificate): expires soon, on \(end)")
        }
        if let host, !facts.isForHost {
            warnings.append("\(tls.certificate): is not for \(host), which --public-url names")
        }
        if let permissions = permissions(of: tls.key), permissions & 0o007 != 0 {
            warnings.append("\(tls.key): everybody on this machine may use the key; chmod 640 it")
        }
    }

    /// The host of `--public-url`, without brackets, when it is TLS of this server that clients meet there.
    private var publicHost: String? {
        guard let url = configuration.accounts.publicURL, url.hasPrefix("https://"),
            configuration.trustedProxies.isEmpty
        else { return nil }
        return Authority.bareHost(of: url.dropFirst("https://".count))
    }

    // MARK: - Keys and secrets

    private mutating func lookAtTokenKeys() {
        let tokens = configuration.tokens
        guard tokens.jwksFile != nil || tokens.hs256SecretFile != nil else { return }
        do {
            _ = try OutsideTokens(tokens, configuration.mode)
        } catch {
            fault(
                tokens.jwksFile == nil ? .hs256SecretFile : .jwks,
                "\(error)",
                "Name another file."
            )
            return
        }
        if let path = tokens.jwksFile { facts.append("\(path): keys of outside tokens load") }
        if let path = tokens.hs256SecretFile { facts.append("\(path): the HS256 secret loads") }
    }

    private mutating func lookAtSecrets() {
        var path = configuration.adminSecretFile
        if path == nil, case .folder(let folder) = configuration.storage {
            let own = "\(folder)/\(AdminSecret.fileName)"
            path = FileStamp.of(own) == nil ? nil : own
            if path == nil { facts.append("\(own): is made at the first start") }
        }
        // A user who may not read it cannot see what is wrong with it.
        if let path, access(path, R_OK) == 0 {
            do throws(AdminSecretError) {
                _ = try AdminSecret.load(path)
                facts.append("\(path): the admin secret loads")
            } catch {
                fault(.adminSecretFile, "\(error)", "A server does not start with such a secret.")
            }
        }
        if let path = configuration.accounts.webhookSecretFile, access(path, R_OK) == 0 {
            do throws(WebhookSecretError) {
                _ = try WebhookSecret.load(path)
                facts.append("\(path): the webhook's secret loads")
            } catch {
                fault(.accountsWebhookSecretFile, "\(error)", "Name another file.")
            }
        }
        if let path = configuration.tokens.hs256SecretFile,
            let permissions = permissions(of: path), permissions & 0o077 != 0
        {
            warnings.append("\(path): others may read this secret; run: chmod 600 \(path)")
        }
    }

    private func permissions(of path: String) -> UInt32? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : nil
    }

    // MARK: - The data folder

    private mutating func lookAtFolder() {
        guard case .folder(let path) = configuration.storage else {
            facts.append("nothing is kept on disk")
            return
        }
        let look = FolderLook(path)
        switch look.presence {
        case .missing(canBeMade: true): facts.append("\(path): is made at the first start")
        case .missing(canBeMade: false):
            fault(
                .dataDir,
                "there is no \(path), and it cannot be made",
                "Make the folder above it."
            )
            return
        case .other:
            fault(.dataDir, "\(path) is no folder", "Name another.")
            return
        case .folder: lookInside(path, look)
        }
        let free = look.freeByteCount
        let reserve = LogOptions(diskByteCount: look.diskByteCount).reserveByteCount
        facts.append(
            "\(path): \(free >> 20) MiB are free; writes are refused below \(reserve >> 20) MiB"
        )
        // Time is left to do something about it.
        let least = look.diskByteCount > 0 ? min(1 << 30, look.diskByteCount / 4) : 1 << 30
        if free < least {
            warnings.append(
                "\(path): less than \(least >> 20) MiB are free; writes are refused below \(reserve >> 20) MiB"
            )
        }
    }

    private mutating func lookInside(_ path: String, _ look: FolderLook) {
        if look.accessFailure != 0 {
            let reason = String(cString: strerror(look.accessFailure))
            fault(.dataDir, "this user may not write in \(path) (\(reason))", "Run as its owner.")
        }
        if look.permissions & 0o077 != 0 {
            warnings.append("\(path): others may look into the data folder; run: chmod 700 \(path)")
        }
        if let permissions = permissions(of: "\(path)/keys"), permissions & 0o077 != 0 {
            fault(.dataDir, "others may look into \(path)/keys", "Run: chmod -R go= \(path)/keys")
        }
        switch look.lock {
        case .free: facts.append("\(path): no server has it open")
        case .held(let process):
            facts.append("\(path): is in use" + (process.map { " by process \($0)" } ?? ""))
        }
    }
}
