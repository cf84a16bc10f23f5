extension Logger {
    /// One value of metadata. A literal or an interpolation makes a string; numbers stay numbers in JSON when given as
    /// `.stringConvertible(number)`.
    package enum MetadataValue: Sendable {
        case string(String)
        case stringConvertible(any CustomStringConvertible & Sendable)
        case dictionary(Metadata)
        case array([MetadataValue])
    }
}

extension Logger.MetadataValue: ExpressibleByStringInterpolation {
    package init(stringLiteral value: String) { self = .string(value) }
}

extension Logger.MetadataValue: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, Logger.MetadataValue)...) {
        self = .dictionary(Logger.Metadata(elements) { _, later in later })
    }
}

extension Logger.MetadataValue: ExpressibleByArrayLiteral {
    package init(arrayLiteral elements: Logger.MetadataValue...) { self = .array(elements) }
}

extension Logger.MetadataValue: CustomStringConvertible {
    package var description: String {
        switch self {
        case .string(let text): text
        case .stringConvertible(let value): value.description
        case .dictionary(let values): values.sorted { $0.key < $1.key }.description
        case .array(let values): values.description
        }
    }
}

extension Logger.MetadataValue: Equatable {
    package static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.string(let left), .string(let right)): left == right
        case (.stringConvertible(let left), .stringConvertible(let right)): left.description == right.description
        case (.dictionary(let left), .dictionary(let right)): left == right
        case (.array(let left), .array(let right)): left == right
        default: false
        }
    }
}
