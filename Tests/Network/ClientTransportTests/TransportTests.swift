import Testing

/// One test at a time: some look at the threads, descriptors and environment of the process.
@Suite("client transport", .serialized)
struct TransportTests {}
