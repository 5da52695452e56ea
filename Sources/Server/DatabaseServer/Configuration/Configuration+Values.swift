import DatabaseCore
import FileRecords
import IdentityToolkit
import JSONTree
import Logging
import Passwords

/// One setting as it is in force.
struct SettingInForce: Sendable, Equatable {
    let setting: Setting
    /// As it was written, or what is built in; one text, several of a list, or none.
    let texts: [String]
    let origin: SettingOrigin

    /// Where it came from: `--port`, `HEARTH_PORT`, `hearth.json:3:9`, `default`.
    var place: String {
        if case .builtIn = origin { return "default" }
        return origin.description
    }

    /// For programs: `{"name":"port","value":"9001","place":"hearth.json:3:13"}`. `value` is a list for settings that may be
    /// given several times, and null for one that is not set.
    var json: JSONValue {
        let list = texts.map { JSONValue.string($0) }
        return [
            "name": .string(setting.rawValue),
            "value": setting.kind == .list ? .list(list) : list.first ?? .null,
            "place": .string(place),
        ]
    }
}

extension Configuration {
    /// Every setting that is shown to people, in the order of `hearth serve --help`'s groups.
    ///
    /// None of them is a secret: secrets stand in files, and of the webhook's address only the origin is shown,
    /// since many services put a secret behind it.
    var settingsInForce: [SettingInForce] {
        Setting.allCases.map { setting in
            let value = written[setting]
            let texts = value?.texts ?? builtInTexts(of: setting)
            return SettingInForce(
                setting: setting,
                texts: setting == .accountsWebhook ? texts.map(Self.shortened) : texts,
                origin: value?.origin ?? .builtIn(setting)
            )
        }
    }

    /// The scheme and authority of an address, and that there is more.
    static func shortened(_ address: String) -> String {
        guard let mark = address.firstRange(of: "://") else { return "..." }
        let rest = address[mark.upperBound...]
        let authority = rest.prefix { !"/?#".contains($0) }
        let shown = "\(address[..<mark.upperBound])\(authority.split(separator: "@").last ?? "")"
        return authority.endIndex == address.endIndex ? shown : shown + "/..."
    }

    /// What a setting is while it is not set, which depends on the others.
    private func builtInTexts(of setting: Setting) -> [String] {
        let policy = accounts.policy
        return switch setting {
        case .host: [host]
        case .port: ["\(port)"]
        case .dev, .devExposed, .memory, .stopAtEof, .samples: ["false"]
        case .console: ["true"]
        case .dataDir: storage == .memory ? [] : ["hearth-data"]
        case .durability: [durability.description]
        case .defaultNs: [selection.standard.text]
        case .database: databases.map(\.name.text)
        case .adminSecretFile: adminSecretPosition
        case .listenRecheck: [listenRecheck.rawValue]
        case .inspect: ["\(inspection.rawValue)"]
        case .logFormat: [logFormat.rawValue]
        case .logLevel: [logLevel.rawValue]
        case .maxConnections, .maxAddressConnections, .maxConnectionRate, .queueLimit, .maxMessage,
            .maxBody, .maxResponse, .headerTimeout,
            .bodyTimeout, .idleTimeout, .pingInterval, .keepAliveInterval, .pollHold,
            .pollSilence, .drainTimeout:
            builtInLimit(setting).map { [$0] } ?? []
        case .project: [policy.project]
        case .filesBucket: files.buckets.map(\.name.text)
        case .filesClientLimit: [Self.text(ofBytes: files.clientByteLimit)]
        case .filesLimit: [Self.text(ofBytes: files.byteLimit)]
        case .filesQuota: files.quotas.map { Self.text(ofBytes: $0.byteLimit) }
        case .filesS3Region: files.s3.map { [$0.region] } ?? []
        case .accountsIssuer: [policy.issuer]
        case .accountsAudience: [policy.audience]
        case .signIn: policy.methods.map(\.rawValue).sorted()
        case .signUp: [policy.isSignUpOpen ? "open" : "admin"]
        case .emailGuard: ["\(policy.guardsEmails)"]
        case .passwordLength: ["\(policy.passwords.lengths.lowerBound)"]
        case .passwordMemory: [Self.text(ofBytes: policy.cost.memoryKiB << 10)]
        case .passwordPasses: ["\(policy.cost.passes)"]
        case .signingKeyLifetime: [Self.text(of: accounts.signingKeyLifetime)]
        case .rules, .domain, .mapHost, .alias, .allowHost, .allowOrigin, .tlsCert, .tlsKey,
            .jwks, .tokenIssuer, .tokenAudience, .hs256SecretFile, .accountsPort, .consolePort,
            .accountsWebhook, .accountsWebhookSecretFile, .publicURL, .passwordRequires,
            .trustedProxy, .hubPort, .filesRules, .filesS3, .filesS3Bucket, .filesS3KeyFile,
            .filesS3CAFile, .import, .exportOnExit, .clusterNode, .clusterBrokers,
            .clusterMonitors, .clusterBrokerUserFile, .clusterCAFile, .clusterSecretFile,
            .clusterAdvertise:
            []
        }
    }

    private var adminSecretPosition: [String] {
        guard case .folder(let folder) = storage else { return [] }
        return ["\(folder)/\(AdminSecret.fileName)"]
    }

    private func builtInLimit(_ setting: Setting) -> String? {
        if let size = ServerLimits.sizes.first(where: { $0.0 == setting }) {
            return Self.text(ofBytes: limits[keyPath: size.1])
        }
        if let count = ServerLimits.counts.first(where: { $0.0 == setting }) {
            return "\(limits[keyPath: count.1])"
        }
        let time = ServerLimits.times.first { $0.0 == setting }
        return time.map { Self.text(of: limits[keyPath: $0.1]) }
    }

    private static func text(ofBytes count: Int) -> String {
        for (suffix, factor) in [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)]
        where count >= factor && count % factor == 0 {
            return "\(count / factor)\(suffix)"
        }
        return "\(count)"
    }

    private static func text(of duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        guard attoseconds == 0 else {
            return "\(seconds * 1_000 + attoseconds / 1_000_000_000_000_000)ms"
        }
        return seconds >= 3600 && seconds % 3600 == 0 ? "\(seconds / 3600)h" : "\(seconds)s"
    }
}
