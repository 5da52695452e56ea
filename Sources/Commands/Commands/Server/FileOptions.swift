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

    @Option(
        help: .value(
            "[bucket=]size",
            "Bytes that all files of a bucket, or of each, may have; may be repeated."
        )
    )
    var filesQuota: [String] = []

    @Option(
        name: .customLong("files-s3"),
        help: .value("url", "An S3 store that keeps files, instead of the data folder.")
    )
    var filesS3: String?

    @Option(name: .customLong("files-s3-bucket"), help: .value("name", "The bucket of that store."))
    var filesS3Bucket: String?

    @Option(
        name: .customLong("files-s3-region"),
        help: .value("name", "The region that its requests are signed for (default: us-east-1).")
    )
    var filesS3Region: String?

    @Option(
        name: .customLong("files-s3-key-file"),
        help: .value("file", "Two lines: the access key of that store, and its secret.")
    )
    var filesS3KeyFile: String?

    @Option(
        name: .customLong("files-s3-ca-file"),
        help: .value("file", "Authorities that the store's certificate is checked against.")
    )
    var filesS3CAFile: String?
}
