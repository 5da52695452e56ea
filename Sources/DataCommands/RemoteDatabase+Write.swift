import Glibc
import HTTPClient

/// What a write sends.
package enum DataSource: Sendable {
    /// JSON text.
    case text(String)
    /// A file with JSON; `-` is standard input.
    case file(String)

    /// The sources of the command line: `--data` before a file before standard input.
    package init(data: String?, file: String?) {
        self = data.map { .text($0) } ?? .file(file ?? "-")
    }

    /// Opens the source.
    func body(_ console: Console) throws(CommandError) -> HTTPBody {
        switch self {
        case .text(let text): return .bytes(Array(text.utf8))
        case .file("-"):
            let input = Descriptor.standardInput
            if input.isTerminal {
                console.say("reading JSON from standard input; Ctrl-D ends it")
            }
            return .stream(byteCount: nil) { try input.read(into: $0) }
        case .file(let path):
            let file = try Descriptor.reading(path)
            let byteCount = file.isRegularFile ? Int(file.status.st_size) : nil
            return .stream(byteCount: byteCount) { try file.read(into: $0) }
        }
    }
}

/// How a write is done.
package struct WriteChoice: Sendable {
    /// Whether nobody is asked.
    package var isForced = false
    /// Asks the server to run no functions for this write; servers without functions take no notice.
    package var disablesTriggers = false

    package init() {}

    var parameters: [(name: String, value: String)] {
        disablesTriggers ? [("disableTriggers", "true")] : []
    }
}

extension RemoteDatabase {
    /// Replaces all data at `path`.
    package func set(
        _ path: DatabasePath,
        _ source: DataSource,
        _ choice: WriteChoice,
    ) throws(CommandError) {
        try console.confirm(
            "This replaces all data at \(address.describe(path))",
            isForced: choice.isForced
        )
        try write(.put, path, source, choice)
        console.mention("set \(address.describe(path))")
    }

    /// Replaces the children of `path` that the source names; their names may be paths.
    package func update(
        _ path: DatabasePath,
        _ source: DataSource,
        _ choice: WriteChoice,
    ) throws(CommandError) {
        try console.confirm(
            "This changes data at \(address.describe(path))",
            isForced: choice.isForced
        )
        try write(.patch, path, source, choice)
        console.mention("updated \(address.describe(path))")
    }

    /// Adds a child with a new key, and prints `{"name":KEY}`.
    package func push(
        _ path: DatabasePath,
        _ source: DataSource,
        _ choice: WriteChoice,
    ) throws(CommandError) {
        let request = try request(.post, path, choice.parameters, body: source.body(console))
        let response = try perform(request)
        guard JSONValidator.accepts(response.body) else {
            throw .failed("what \(address.origin) answers is no JSON: it is no database")
        }
        let output = try OutputFile(nil)
        try output.write(response.body + [UInt8(ascii: "\n")])
        try output.finish()
    }

    /// Removes all data at `path`.
    package func remove(_ path: DatabasePath, _ choice: WriteChoice) throws(CommandError) {
        try console.confirm(
            "This removes all data at \(address.describe(path))",
            isForced: choice.isForced
        )
        try perform(request(.delete, path, choice.parameters + [("print", "silent")]))
        console.mention("removed \(address.describe(path))")
    }

    private func write(
        _ method: HTTPRequest.Method,
        _ path: DatabasePath,
        _ source: DataSource,
        _ choice: WriteChoice,
    ) throws(CommandError) {
        let parameters = choice.parameters + [("print", "silent")]
        try perform(request(method, path, parameters, body: source.body(console)))
    }
}
