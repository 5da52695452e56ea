import ArgumentParser

/// Files: buckets, rules and sizes.
struct FileOptions: ParsableArguments {
    @Option(help: "Rules for files of every bucket that has none of its own.")
    var filesRules: String?

    @Option(
        help: .value(
            "name[=rules]",
            "A bucket for files, with its rules file; may be repeated. With --dev others come into being."
        )
    )
    var filesBucket: [String] = []

    @Option(help: "Bytes of a file that a client stores (default: 256MiB).")
    var filesClientLimit: String?

    @Option(help: "Bytes of a file that an administrator stores (default: 5GiB).")
    var filesLimit: String?
}
