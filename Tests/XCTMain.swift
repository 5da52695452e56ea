import Testing

/// Where the program of all tests begins. With a file of this name SwiftPM looks for no tests of XCTest, for which it
/// would need an index of every module, a tenth of the time of their compile.
@main
struct Runner {
    static func main() async {
        await Testing.__swiftPMEntryPoint() as Never
    }
}
