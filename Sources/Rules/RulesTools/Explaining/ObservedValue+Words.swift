import SecurityRules

extension ObservedValue {
    /// The value for people, on one line: `"ann"`, `5`, `null`; of a snapshot also where it points,
    /// `"ann" at /posts/p1/owner`, with `(new)` in the tree after the write.
    package var words: String {
        guard case .snapshot(let path, let isNew, _) = self else {
            return ExplanationText.words(self)
        }
        let location = path.map(ExplanationText.path) ?? "a location that no data can have"
        return "\(ExplanationText.words(self)) at \(location)\(isNew ? " (new)" : "")"
    }
}
