import HTTPClient

/// The body of an answer that has to be one whole JSON value, checked as it arrives.
///
/// Without a length, a lost connection looks like the end of the answer; and a proxy on the way may answer 200 with
/// its own page.
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

    /// Checks, before they are passed on, that the next bytes go on as JSON does.
    mutating func check(_ bytes: UnsafeRawBufferPointer) throws(CommandError) {
        isEmpty = isEmpty && bytes.isEmpty
        guard !isChecked || validator.read(bytes) else {
            throw .failed("the answer of \(origin) is not JSON: this is not a database")
        }
    }

    /// Checks, at the end of the answer, that nothing is missing.
    func finish() throws(CommandError) {
        guard !isEmpty else { throw .failed("\(origin) answers without any JSON") }
        guard !isChecked || validator.isWhole else {
            throw .failed("the answer of \(origin) is cut short: its JSON does not end")
        }
    }
}
