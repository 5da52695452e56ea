import HTTPClient

/// The body of an answer that has to be one whole JSON value, checked as it arrives.
///
/// Without a length, a connection that is lost looks like the end of the answer; and what stands between
/// us and a server may answer 200 with a page of its own.
struct JSONAnswer {
    private let origin: String
    private var validator = JSONValidator()

    /// Settings may be JSON with comments: of those it is known only whether anything came.
    private let isChecked: Bool
    private var isEmpty = true

    init(_ address: ServerAddress, _ path: DatabasePath) {
        origin = address.origin
        isChecked = path.keys.first != ".settings"
    }

    /// Looks at the next bytes, before anybody else gets them.
    ///
    /// - Throws: `CommandError` when no JSON is like this.
    mutating func check(_ bytes: UnsafeRawBufferPointer) throws(CommandError) {
        isEmpty = isEmpty && bytes.isEmpty
        guard !isChecked || validator.read(bytes) else {
            throw .failed("what \(origin) answers is no JSON: it is no database")
        }
    }

    /// To be called at the end of the answer.
    ///
    /// - Throws: `CommandError` when something is missing.
    func finish() throws(CommandError) {
        guard !isEmpty else { throw .failed("\(origin) answers without any JSON") }
        guard !isChecked || validator.isWhole else {
            throw .failed("the answer of \(origin) is cut short: its JSON does not end")
        }
    }
}
