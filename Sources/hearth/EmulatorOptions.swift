import ArgumentParser
import DatabaseServer

/// What a `--dev` server does in the place of an emulator, and how it ends.
struct EmulatorOptions: ParsableArguments {
    @Option(help: "Port of its own for the hub, which is on the server's port anyway.")
    var hubPort: String?

    @Option(
        help: ArgumentHelp(
            "What a database begins with: a folder of an export, or a JSON file; may be repeated.",
            valueName: "folder|[name=]file"
        )
    )
    var `import`: [String] = []

    @Option(help: ArgumentHelp("Export to a folder when the server ends.", valueName: "folder"))
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

    var flags: Flags {
        [
            .hubPort: hubPort.texts, .import: `import`, .exportOnExit: exportOnExit.texts,
            .stopAtEof: stopAtEof.texts, .samples: samples.texts,
        ]
    }
}
