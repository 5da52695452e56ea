/// The version of the SDK, which is that of the server in the same package.
package enum SDKVersion {
    /// The text of the git tag of a release.
    package static let text = "0.1.0"
}

/// The version of the SDK, under the name that the hosted service's SDK has for it.
public func FirebaseVersion() -> String { SDKVersion.text }
