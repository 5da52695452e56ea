import Files
import Glibc
import Transport

extension Configuration {
    /// The configuration of this process, checked: command line before environment before settings file before what is
    /// built in. Throws every fault of the file, or every fault of the settings.
    ///
    /// `file` is that of `--config`; nil reads `HEARTH_CONFIG`'s, else `hearth.json` if it is there. An empty name reads
    /// none.
    package static func load(
        commandLine: SettingLayer,
        file: String?,
        environment: [String: String],
    ) throws(ConfigurationFaults) -> Configuration {
        let (variables, warnings) = Setting.layer(environment: environment)
        let named = file ?? environment[ConfigurationFile.variable]
        var layers = [commandLine, variables]
        if let path = named ?? existing(ConfigurationFile.standardPath), !path.isEmpty {
            layers.append(try ConfigurationFile.layer(try bytes(of: path), path: path))
        }
        var configuration = try read(layers, warnings: warnings)
        configuration.settingsFile =
            layers.count > 2 ? named ?? ConfigurationFile.standardPath : nil
        return configuration
    }

    /// What is wrong with the files that the configuration names: each has to be readable.
    package func fileFaults() -> [ConfigurationFault] {
        var files: [(Setting, String?)] = [
            (.rules, rulesFile), (.tlsCert, tls?.certificate), (.tlsKey, tls?.key),
            (.adminSecretFile, adminSecretFile), (.jwks, tokens.jwksFile),
            (.hs256SecretFile, tokens.hs256SecretFile),
            (.accountsWebhookSecretFile, accounts.webhookSecretFile),
        ]
        files += databases.map { (.database, $0.rulesFile) }
        files.append((.filesRules, self.files.rulesFile))
        files += self.files.buckets.map { (.filesBucket, $0.rulesFile) }
        files.append((.filesS3KeyFile, self.files.s3?.keyFile))
        files.append((.filesS3CAFile, self.files.s3?.caFile))
        return files.compactMap { setting, path in
            guard let path, access(path, R_OK) != 0 else { return nil }
            let reason = String(cString: strerror(errno))
            return ConfigurationFault(
                "--\(setting.rawValue)",
                "cannot read \(path) (\(reason))",
                "Name a file that exists."
            )
        }
    }

    private static func existing(_ path: String) -> String? {
        FileStamp.isMissing(path) ? nil : path
    }

    private static func bytes(of path: String) throws(ConfigurationFaults) -> [UInt8] {
        do {
            return try SmallFile.read(path, byteLimit: ConfigurationFile.byteLimit).bytes
        } catch {
            throw ConfigurationFaults([
                ConfigurationFault("the settings file", "\(error)", "Name another with --config.")
            ])
        }
    }
}
