import CTransport

/// Memory that the process has freed and still holds.
package enum FreedMemory {
    /// Bounds what is held of large blocks. Once, at the start.
    package static func bound() { hearth_bound_free_memory() }

    /// Gives it back to the system. From any thread but the loop's: 100 MiB take some 10 ms.
    package static func giveBack() { hearth_return_memory() }
}
