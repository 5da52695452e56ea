#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What the standard library has no functions for.
enum Mathematics {
    static func power(_ base: Double, _ exponent: Double) -> Double { pow(base, exponent) }

    /// Metres on a sphere of 6,371,010 m between two points, each latitude and longitude in degrees (haversine).
    static func distance(_ a: (Double, Double), _ b: (Double, Double)) -> Double {
        let radians = Double.pi / 180
        let latitude = sin((b.0 - a.0) * radians / 2)
        let longitude = sin((b.1 - a.1) * radians / 2)
        let chord =
            latitude * latitude + cos(a.0 * radians) * cos(b.0 * radians) * longitude * longitude
        return 2 * 6_371_010 * asin(min(1, chord.squareRoot()))
    }
}
