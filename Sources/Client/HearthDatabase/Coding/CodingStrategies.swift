public import Foundation

extension DatabaseEncoder {
    /// How dates are written.
    public enum DateEncodingStrategy {
        /// As `Date` itself does: seconds since 2001.
        case deferredToDate
        /// Seconds since 1970.
        case secondsSince1970
        /// Milliseconds since 1970, as the server's times are.
        case millisecondsSince1970
        /// A text: `2026-11-21T18:00:00Z`.
        case iso8601
        /// A text that the formatter makes.
        case formatted(DateFormatter)
        /// By a function.
        case custom((Date, any Swift.Encoder) throws -> Void)
    }

    /// How `Data` is written.
    public enum DataEncodingStrategy {
        /// As `Data` itself does: a list of bytes.
        case deferredToData
        /// A text in base64.
        case base64
        /// By a function.
        case custom((Data, any Swift.Encoder) throws -> Void)
    }

    /// How infinities and NaN are written.
    public enum NonConformingFloatEncodingStrategy {
        /// They cannot be.
        case `throw`
        /// As these texts.
        case convertToString(positiveInfinity: String, negativeInfinity: String, nan: String)
    }

    /// How keys are written.
    public enum KeyEncodingStrategy {
        /// As they are.
        case useDefaultKeys
        /// `lastName` as `last_name`.
        case convertToSnakeCase
        /// By a function of all keys on the way.
        case custom(([any CodingKey]) -> any CodingKey)
    }
}

extension DatabaseDecoder {
    /// How dates are read.
    public enum DateDecodingStrategy {
        /// As `Date` itself does: seconds since 2001.
        case deferredToDate
        /// Seconds since 1970.
        case secondsSince1970
        /// Milliseconds since 1970, as the server's times are.
        case millisecondsSince1970
        /// A text: `2026-11-21T18:00:00Z`.
        case iso8601
        /// A text that the formatter reads.
        case formatted(DateFormatter)
        /// By a function.
        case custom((any Swift.Decoder) throws -> Date)
    }

    /// How `Data` is read.
    public enum DataDecodingStrategy {
        /// As `Data` itself does: a list of bytes.
        case deferredToData
        /// A text in base64.
        case base64
        /// By a function.
        case custom((any Swift.Decoder) throws -> Data)
    }

    /// How infinities and NaN are read.
    public enum NonConformingFloatDecodingStrategy {
        /// They cannot be.
        case `throw`
        /// From these texts.
        case convertFromString(positiveInfinity: String, negativeInfinity: String, nan: String)
    }

    /// How keys are read.
    public enum KeyDecodingStrategy {
        /// As they are.
        case useDefaultKeys
        /// `last_name` as `lastName`.
        case convertFromSnakeCase
        /// By a function of all keys on the way.
        case custom(([any CodingKey]) -> any CodingKey)
    }
}
