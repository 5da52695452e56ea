import Glibc
import HTTPClient

/// How a file is imported.
package struct ImportChoice: Sendable {
    /// Whether data at the target is replaced unasked.
    package var isForced = false
    /// Whether values are written one by one into what is there, which stays otherwise.
    package var merges = false
    /// The part of the file that is wanted.
    package var filter = DatabasePath("/")
    /// Bytes of one request; a single longer text makes a longer one.
    package var partByteLimit = 1024 * 1024
    /// Requests at a time.
    package var concurrency = 5
    package var disablesTriggers = true

    package init() {}
}

extension RemoteDatabase {
    /// Writes the JSON of a file of any size to `path`, in parts.
    ///
    /// Not atomic: others see what is there so far. An import that was stopped, by whatever, goes on when it is asked
    /// for again: a record beside the file says how far it came.
    ///
    /// - Throws: `CommandError` when the file cannot be read or cut, the target has data that nobody wants replaced, or
    ///   the server refuses a part.
    package func importFile(
        _ file: String,
        to path: DatabasePath,
        _ choice: ImportChoice,
    ) throws(CommandError) {
        let source = try ImportSource(file)
        var run = try ImportRun(self, source, path, choice)
        if try !run.resume() {
            try prepareTarget(path, choice) { () throws(CommandError) in try run.begin() }
        }
        Interruption.end(exitCode: 130) { [console] in
            console.say("\nstopped; the same command goes on where this one was")
        }
        try run.perform()
    }

    /// Sees to it that nothing is lost that nobody wants to lose.
    ///
    /// - Parameters:
    ///   - path: What is imported to.
    ///   - choice: What the user wants.
    ///   - begin: Notes that the import has begun; called before the first change.
    /// - Throws: `CommandError` when nothing may be done.
    private func prepareTarget(
        _ path: DatabasePath,
        _ choice: ImportChoice,
        begin: () throws(CommandError) -> Void,
    ) throws(CommandError) {
        if choice.merges { return try begin() }
        if try isEmpty(path) { return try begin() }
        try console.confirm(
            "There is data at \(address.describe(path)), which the import replaces"
                + " (--merge writes into it instead)",
            isForced: choice.isForced
        )
        try begin()
        try perform(request(.delete, path, [("print", "silent")]))
    }

    /// Whether there is no data at `path`.
    func isEmpty(_ path: DatabasePath) throws(CommandError) -> Bool {
        struct Enough: Error {}
        var start: [UInt8] = []
        let request = request(.get, path, [("shallow", "true"), ("limitToFirst", "1")])
        do {
            let response = try client.perform(request) { bytes in
                start += bytes.prefix(16)
                // A server that takes no notice of the limit would send every key.
                if start.count >= 16 { throw Enough() }
            }
            guard response.isSuccess else { throw refusal(request, response) }
        } catch is Enough {
            return false
        } catch let error as CommandError {
            throw error
        } catch {
            throw .failed("\(error)")
        }
        let text = String(decoding: start, as: UTF8.self).filter { !$0.isWhitespace }
        return ["null", "{}", "[]"].contains(text)
    }
}
