/// The folder of the project, for tests that hold its files against what the code says.
package enum Checkout {
    /// Its path, which ends in no slash.
    package static let path = #filePath.split(separator: "/", omittingEmptySubsequences: false)
        .dropLast(4).joined(separator: "/")
}
