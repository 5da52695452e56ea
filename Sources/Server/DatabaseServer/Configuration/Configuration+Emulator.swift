/// The settings of a server in place of an emulator; only with `--dev`.
struct EmulatorSettings: Equatable, Sendable {
    /// A port of its own for the hub, which is on the server's port in any case.
    var hubPort: Int?
    /// The project whose locator file is written.
    var project: String?
    /// What the databases begin with: export folders, or `[NAME=]FILE`.
    var imports: [String] = []
    /// The folder that takes an export when the server ends.
    var exportFolder: String?
}

extension Configuration {
    /// Reads what makes the server an emulator, and how it ends.
    mutating func readEmulator(_ reader: inout SettingReader) {
        stopsAtEndOfInput = reader.toggle(.stopAtEof)
        emulator.hubPort = reader.integer(.hubPort, in: 0...65535)
        emulator.imports = reader.list(.import, "Write a folder, FILE or NAME=FILE.") {
            $0.isEmpty ? nil : $0
        }
        emulator.exportFolder = reader.text(.exportOnExit)
        guard mode == .production else { return }
        for setting in [Setting.hubPort, .import, .exportOnExit]
        where reader.isSet(setting) {
            reader.fault(setting, "means nothing without --dev", "Leave it out, or add --dev.")
        }
    }
}
