// Gives a fuzz target inputs that reach new code: libFuzzer as a library, with its own options.
//
//     FUZZ_TARGET=json fuzz [options and folders of libFuzzer]
//     fuzz --list
import FuzzTargets
import Glibc

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

if CommandLine.arguments.dropFirst() == ["--list"] {
    for target in FuzzTarget.all { print(target.name) }
    exit(0)
}

/// The target of this process; a C function captures nothing. Processes that libFuzzer starts have it too.
private let target: FuzzTarget = {
    let name = getenv("FUZZ_TARGET").map { String(cString: $0) }
    guard let target = FuzzTarget.all.first(where: { $0.name == name }) else {
        print("FUZZ_TARGET must name one of the targets that --list shows")
        exit(2)
    }
    return target
}()

private func test(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    do {
        try target.run(Array(UnsafeBufferPointer(start: start, count: count)))
    } catch {
        let fault = "\(target.name): \(error)\n"
        _ = write(STDERR_FILENO, fault, fault.utf8.count)
        abort()
    }
    return 0
}

var count = CommandLine.argc
var arguments = CommandLine.unsafeArgv
exit(
    withUnsafeMutablePointer(to: &arguments) { pointer in
        pointer.withMemoryRebound(
            to: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.self,
            capacity: 1
        ) { runDriver(&count, $0, test) }
    }
)
