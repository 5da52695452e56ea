import DatabaseCore
import Logging
import Transport

extension Configuration {
    /// The configuration that `layers` ask for, from the strongest to the weakest: command line, environment, file.
    ///
    /// - Throws: Every fault at once.
    static func read(
        _ layers: [SettingLayer],
        warnings: [String] = [],
    ) throws(ConfigurationFaults) -> Configuration {
        var reader = SettingReader(layers)
        var configuration = Configuration()
        configuration.warnings = warnings
        configuration.readAddress(&reader)
        configuration.readStorage(&reader)
        configuration.readDatabases(&reader)
        configuration.readOrigins(&reader)
        configuration.readCredentials(&reader)
        configuration.readLimits(&reader)
        configuration.readEmulator(&reader)
        configuration.readFiles(&reader)
        configuration.readAccounts(&reader)
        configuration.readConsole(&reader)
        configuration.readCluster(&reader)
        configuration.checkPorts(&reader)
        configuration.warnOfUnsafeSettings(&reader)
        configuration.written = reader.values
        configuration.listenRecheck = reader.word(.listenRecheck) ?? .data
        configuration.inspection =
            reader.word(.inspect) ?? (configuration.mode == .development ? .all : .off)
        configuration.logFormat = reader.word(.logFormat) ?? .text
        configuration.logLevel = reader.word(.logLevel) ?? .info
        guard reader.faults.isEmpty else { throw ConfigurationFaults(reader.faults) }
        return configuration
    }

    private mutating func readAddress(_ reader: inout SettingReader) {
        mode = reader.toggle(.dev) ? .development : .production
        let isExposed = reader.toggle(.devExposed)
        if isExposed, mode == .production {
            reader.fault(.devExposed, "means nothing without --dev", "Leave it out, or add --dev.")
        }
        port = reader.integer(.port, in: 0...65535) ?? port
        if let text = reader.text(.host) {
            if let address = Self.bindAddress(text) {
                host = address
            } else {
                reader.fault(
                    .host,
                    "'\(text)' is no address to listen on",
                    "Write an IPv4 or IPv6 address of this machine, 0.0.0.0 for all, or localhost."
                )
            }
        }
        if mode == .development, bindIsLoopback, isExposed {
            warnings.append(
                "--dev-exposed has no effect: the server listens on \(host), which no other machine reaches; "
                    + "for all of this network add --host 0.0.0.0"
            )
        }
        if mode == .development, !bindIsLoopback, !isExposed {
            reader.fault(
                .host,
                "'\(host)' would let other machines at a --dev server, which trusts everybody",
                "Listen on 127.0.0.1, leave --dev out, or add --dev-exposed if this network is yours."
            )
        }
        readTLS(&reader)
    }

    private mutating func readConsole(_ reader: inout SettingReader) {
        servesConsole = reader.isSet(.console) ? reader.toggle(.console) : true
        consolePort = reader.integer(.consolePort, in: 0...65535)
        if !servesConsole, consolePort != nil {
            reader.fault(
                .consolePort,
                "means nothing with --no-console",
                "Leave out one of the two."
            )
        }
    }

    /// No two listeners have one port, unless the system chooses it.
    private func checkPorts(_ reader: inout SettingReader) {
        var taken: [Int: Setting] = port == 0 ? [:] : [port: .port]
        for (setting, port) in [
            (Setting.hubPort, emulator.hubPort), (.accountsPort, accounts.port),
            (.consolePort, consolePort),
        ] {
            guard let port, port != 0 else { continue }
            if let other = taken.updateValue(setting, forKey: port) {
                reader.fault(
                    setting,
                    "\(port) is the port of --\(other.rawValue)",
                    "Name another; without --\(setting.rawValue) all of it is on --port."
                )
            }
        }
    }

    private mutating func readTLS(_ reader: inout SettingReader) {
        switch (reader.text(.tlsCert), reader.text(.tlsKey)) {
        case (let certificate?, let key?): tls = TLSFiles(certificate: certificate, key: key)
        case (.some, nil):
            reader.fault(.tlsCert, "is given without --tls-key", "Give both or none.")
        case (nil, .some):
            reader.fault(.tlsKey, "is given without --tls-cert", "Give both or none.")
        case (nil, nil): break
        }
    }

    private mutating func readStorage(_ reader: inout SettingReader) {
        if let folder = reader.text(.dataDir) { storage = .folder(folder) }
        if reader.toggle(.memory) {
            storage = .memory
            if mode == .production {
                reader.fault(
                    .memory,
                    "keeps nothing on disk, which only a --dev server may",
                    "Leave it out, or add --dev."
                )
            }
        }
        guard let text = reader.text(.durability) else { return }
        guard let durability = Durability(text) else {
            reader.fault(
                .durability,
                "'\(text)' is not known",
                "Write always, interval=MS with 1 to 60000 milliseconds, or memory."
            )
            return
        }
        self.durability = durability
    }

    private mutating func readOrigins(_ reader: inout SettingReader) {
        allowedHosts = Set(
            reader.list(.allowHost, "Write a host without a port, such as db.example.com.") {
                Authority.Host($0)
            }
        )
        allowedOrigins = Set(
            reader.list(
                .allowOrigin,
                "Write scheme and host, such as https://app.example.com."
            ) { WebOrigin($0) }
        )
    }

    private mutating func readCredentials(_ reader: inout SettingReader) {
        adminSecretFile = reader.text(.adminSecretFile)
        tokens = TokenSettings(
            jwksFile: reader.text(.jwks),
            issuer: reader.text(.tokenIssuer),
            audience: reader.text(.tokenAudience),
            hs256SecretFile: reader.text(.hs256SecretFile),
        )
        guard tokens.jwksFile == nil else { return }
        for setting in [Setting.tokenIssuer, .tokenAudience]
        where reader.isSet(setting) && !reader.isSet(.hs256SecretFile) && mode == .production {
            reader.fault(
                setting,
                "means nothing without --jwks or --hs256-secret-file",
                "Leave it out, or name the keys; of accounts here see --accounts-issuer."
            )
        }
    }

    private mutating func readLimits(_ reader: inout SettingReader) {
        for (setting, limit, range) in ServerLimits.sizes {
            limits[keyPath: limit] =
                reader.byteCount(setting, in: range) ?? limits[keyPath: limit]
        }
        if mode == .development {
            limits.addressConnectionCount = 0
            limits.connectionRate = 0
        }
        for (setting, limit, range) in ServerLimits.counts {
            limits[keyPath: limit] = reader.integer(setting, in: range) ?? limits[keyPath: limit]
        }
        for (setting, limit) in ServerLimits.times {
            limits[keyPath: limit] =
                reader.duration(setting, inSeconds: 1...3600) ?? limits[keyPath: limit]
        }
    }

    /// The address to listen on that `text` means; nil for what the system cannot listen on.
    private static func bindAddress(_ text: String) -> String? {
        if text.lowercased() == "localhost" { return "127.0.0.1" }
        let bracketed = text.contains(":") && !text.hasPrefix("[") ? "[\(text)]" : text
        switch Authority.Host(bracketed) {
        case .ipv4: return text
        case .ipv6: return String(bracketed.dropFirst().dropLast())
        case .name, nil: return nil
        }
    }
}

extension Configuration.Durability {
    /// Reads `always`, `interval=MS` or `memory`.
    init?(_ text: String) {
        switch text {
        case "always": self = .always
        case "memory": self = .memory
        default:
            guard text.hasPrefix("interval="),
                let milliseconds = Int(text.dropFirst("interval=".count)),
                (1...60_000).contains(milliseconds)
            else { return nil }
            self = .interval(milliseconds: milliseconds)
        }
    }
}
