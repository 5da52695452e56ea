import Glibc

/// Prints what one bench measures, a line of JSON per figure.
struct Figures {
    let bench: String

    /// Prints one figure.
    func report(_ figure: String, _ value: Double, _ unit: String) {
        let rounded = value >= 100 ? value.rounded() : (value * 100).rounded() / 100
        print(
            #"{"bench":"\#(bench)","figure":"\#(figure)","value":\#(rounded),"unit":"\#(unit)"}"#
        )
        // A program that reads the figures sees each one as it comes.
        fflush(nil)
    }

    /// Runs `body`, which does something `count` times, and prints the processor time of one.
    ///
    /// Time of this thread alone, so that a busy machine disturbs the figure less.
    func measure(_ figure: String, count: Int, _ body: () -> Void) {
        let start = Figures.threadTime()
        body()
        report(figure, (Figures.threadTime() - start) / Double(count), "ns")
    }

    /// Nanoseconds that this thread has run.
    static func threadTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }

    /// Bytes of this process that are in memory.
    static func residentByteCount() -> Int {
        var text = [UInt8](repeating: 0, count: 128)
        let file = open("/proc/self/statm", O_RDONLY)
        let count = read(file, &text, text.count)
        close(file)
        let fields = String(decoding: text[..<max(0, count)], as: UTF8.self).split(separator: " ")
        return (fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * sysconf(Int32(_SC_PAGESIZE))
    }
}
