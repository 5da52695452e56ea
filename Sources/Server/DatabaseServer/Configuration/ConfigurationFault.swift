/// One thing wrong with a configuration: where, what, and what to do.
package struct ConfigurationFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The flag, the variable, or the position in `hearth.json`.
    package let place: String
    /// What is wrong, as it follows that.
    package let problem: String
    /// What to do, a whole sentence.
    package let advice: String

    package init(_ place: String, _ problem: String, _ advice: String) {
        self.place = place
        self.problem = problem
        self.advice = advice
    }

    package init(_ origin: SettingOrigin, _ problem: String, _ advice: String) {
        self.init(origin.description, problem, advice)
    }

    package var description: String { "\(place): \(problem). \(advice)" }
}

/// Everything wrong with a configuration, at least one thing, in the order of the settings.
package struct ConfigurationFaults: Error, Equatable, Sendable, CustomStringConvertible {
    package let faults: [ConfigurationFault]

    package init(_ faults: [ConfigurationFault]) {
        precondition(!faults.isEmpty, "faults are thrown only when there are some")
        self.faults = faults
    }

    /// One line for each fault.
    package var description: String { faults.map(\.description).joined(separator: "\n") }
}
