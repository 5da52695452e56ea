// Names from before Swift 3, which the hosted service's SDK had for its types. Compilers offer the new ones.

/// The name of the type before Swift 3.
@available(*, deprecated, renamed: "FirebaseApp")
public typealias FIRApp = FirebaseApp

/// The name of the type before Swift 3.
@available(*, deprecated, renamed: "FirebaseOptions")
public typealias FIROptions = FirebaseOptions

/// The name of the type before Swift 3.
@available(*, deprecated, renamed: "FirebaseConfiguration")
public typealias FIRConfiguration = FirebaseConfiguration

/// The name of the type before Swift 3.
@available(*, deprecated, renamed: "FirebaseLoggerLevel")
public typealias FIRLoggerLevel = FirebaseLoggerLevel
