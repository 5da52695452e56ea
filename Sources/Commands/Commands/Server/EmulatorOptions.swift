import ArgumentParser

/// How a `--dev` server replaces an emulator, and how it ends.
struct EmulatorOptions: ParsableArguments {
    @Option(help: "Port of its own for the hub, which is on the server's port anyway.")
    var hubPort: String?

    @Option(
        help: .value(
            "folder|[name=]file",
            "What a database begins with: a folder of an export, or a JSON file; may be repeated."
        )
    )
    var `import`: [String] = []

    @Option(help: .value("folder", "Export to a folder when the server ends."))
    var exportOnExit: String?

    @Flag(
        inversion: .prefixedNo,
        help: "End when standard input does: with the program that started the server."
    )
    var stopAtEof: Bool?

    @Flag(
        inversion: .prefixedNo,
        help: "Serve the chat, timeline and party pages at /.samples/; only with --dev."
    )
    var samples: Bool?
}
