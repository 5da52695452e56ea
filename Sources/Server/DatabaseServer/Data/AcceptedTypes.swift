/// The media types that a client takes, by its `Accept` headers.
///
///     Accept: text/html;q=0.8, text/event-stream, */*;q=0.1
struct AcceptedTypes {
    /// In lower case, without parameters; those with a weight of nought are left out.
    private var names: Set<String> = []

    /// Reads header values. What is no media type matches nothing.
    init(_ headers: [String]) {
        for header in headers {
            for range in header.split(separator: ",") {
                let parts = range.split(separator: ";").map {
                    String($0.filter { !$0.isWhitespace })
                }
                guard let name = parts.first else { continue }
                let weight = parts.dropFirst().first { $0.lowercased().hasPrefix("q=") }
                if let weight, Double(weight.dropFirst(2)) == 0 { continue }
                names.insert(name.lowercased())
            }
        }
    }

    /// Whether a type is taken that is written in lower case. Ranges such as `*/*` name no type.
    func contains(_ type: String) -> Bool { names.contains(type) }
}
