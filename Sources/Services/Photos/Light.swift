import Glibc

/// The light that a number in an sRGB picture represents. Source: IEC 61966-2-1.
enum Light {
    /// Of each of the 256 numbers, 0 to 65535.
    static let ofSample: [UInt16] = (0..<256).map { sample in
        let part = Double(sample) / 255
        let light = part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
        return UInt16((light * 65_535).rounded())
    }

    /// The number whose light is nearest.
    static func sample(of light: UInt16) -> UInt8 {
        var low = 0
        var high = 255
        while high - low > 1 {
            let middle = (low + high) / 2
            if ofSample[middle] <= light { low = middle } else { high = middle }
        }
        return UInt8(
            Int(light) - Int(ofSample[low]) < Int(ofSample[high]) - Int(light) ? low : high
        )
    }
}
