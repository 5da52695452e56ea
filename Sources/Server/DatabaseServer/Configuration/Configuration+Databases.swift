extension Configuration {
    /// Reads which databases there are and how requests name them.
    mutating func readDatabases(_ reader: inout SettingReader) {
        rulesFile = reader.text(.rules)
        let named = readNamedDatabases(&reader)
        let only = named.count == 1 ? named[0].name : .standard
        selection.standard = reader.name(.defaultNs) ?? only
        databases = named.isEmpty ? [Database(name: selection.standard, rulesFile: nil)] : named
        readSamples(&reader)
        readDomain(&reader)
        readHostMap(&reader)
        readAliases(&reader)
        guard mode == .production else { return }
        checkAllExist(&reader)
    }

    private func readNamedDatabases(_ reader: inout SettingReader) -> [Database] {
        let databases = reader.list(.database, "Write NAME or NAME=RULES-FILE.") {
            text -> Database? in
            let (name, rules) = Self.pair(text)
            guard rules != "" else { return nil }
            return Database(name: try DatabaseName(name), rulesFile: rules)
        }
        let names = databases.map(\.name)
        for name in Set(names).sorted() where names.count(where: { $0 == name }) > 1 {
            reader.fault(.database, "names '\(name)' more than once", "Name each database once.")
        }
        return databases
    }

    private mutating func readDomain(_ reader: inout SettingReader) {
        guard let text = reader.text(.domain) else { return }
        let bare = text.hasPrefix(".") ? String(text.dropFirst()) : text
        guard case .name(let name) = Authority.Host(bare) else {
            reader.fault(
                .domain,
                "'\(text)' is no domain",
                "Write a domain such as db.example.com."
            )
            return
        }
        selection.domain = name
    }

    private mutating func readHostMap(_ reader: inout SettingReader) {
        let entries = reader.list(.mapHost, "Write HOST=NAME, the host without a port.") {
            text -> (Authority.Host, DatabaseName)? in
            let (host, name) = Self.pair(text)
            guard let name, let host = Authority.Host(host) else { return nil }
            return (host, try DatabaseName(name))
        }
        for (host, name) in entries where selection.hosts.updateValue(name, forKey: host) != nil {
            reader.fault(
                .mapHost,
                "gives one host twice, the second time for '\(name)'",
                "Name each host once."
            )
        }
    }

    private mutating func readAliases(_ reader: inout SettingReader) {
        let entries = reader.list(.alias, "Write OTHER-NAME=NAME.") {
            text -> (DatabaseName, DatabaseName)? in
            let (alias, name) = Self.pair(text)
            guard let name else { return nil }
            return (try DatabaseName(alias), try DatabaseName(name))
        }
        for (alias, name) in entries {
            if databases.contains(where: { $0.name == alias }) {
                reader.fault(
                    .alias,
                    "'\(alias)' is a database of its own",
                    "Take another word for the alias."
                )
            }
            if selection.aliases.updateValue(name, forKey: alias) != nil {
                reader.fault(.alias, "gives '\(alias)' twice", "Give each alias once.")
            }
        }
    }

    /// In production no database comes into being by being named in a request.
    private func checkAllExist(_ reader: inout SettingReader) {
        let known = Set(databases.map(\.name))
        func check(_ setting: Setting, _ name: DatabaseName) {
            guard !known.contains(selection.aliases[name] ?? name) else { return }
            reader.fault(
                setting,
                "there is no database '\(name)'",
                "Add --database \(name), or name another."
            )
        }
        if reader.isSet(.defaultNs) { check(.defaultNs, selection.standard) }
        for name in Set(selection.hosts.values).sorted() { check(.mapHost, name) }
        for name in Set(selection.aliases.values).sorted() { check(.alias, name) }
    }

    /// The text before the first `=` and the text after it; nil when there is no `=`.
    private static func pair(_ text: String) -> (String, String?) {
        guard let equals = text.firstIndex(of: "=") else { return (text, nil) }
        return (String(text[..<equals]), String(text[text.index(after: equals)...]))
    }
}
