/// A value that one word on the command line can stand for.
package protocol ExpressibleByArgument: Sendable {
    /// Nil if the word does not stand for one.
    init?(argument: String)

    /// How help shows a default.
    var defaultValueDescription: String { get }

    /// All words that can be given, if there are few. Help lists them.
    static var allValueStrings: [String] { get }

    /// What a refusal says is wanted: "a whole number". (Ours: upstream has no word for it.)
    static var expectation: String { get }
}

extension ExpressibleByArgument {
    package var defaultValueDescription: String { "\(self)" }
    package static var allValueStrings: [String] { [] }
    package static var expectation: String {
        allValueStrings.isEmpty ? "a valid value" : "one of " + allValueStrings.joined(separator: ", ")
    }
}

extension ExpressibleByArgument where Self: LosslessStringConvertible {
    package init?(argument: String) { self.init(argument) }
}

extension ExpressibleByArgument where Self: RawRepresentable, RawValue == String {
    package init?(argument: String) { self.init(rawValue: argument) }
    package var defaultValueDescription: String { rawValue }
}

extension ExpressibleByArgument where Self: CaseIterable & RawRepresentable, RawValue == String {
    package static var allValueStrings: [String] { allCases.map(\.rawValue) }
}

extension String: ExpressibleByArgument {}

extension Int: ExpressibleByArgument {
    package static var expectation: String { "a whole number" }
}

extension Int64: ExpressibleByArgument {
    package static var expectation: String { "a whole number" }
}

extension UInt16: ExpressibleByArgument {
    package static var expectation: String { "a whole number from 0 to 65535" }
}

extension UInt64: ExpressibleByArgument {
    package static var expectation: String { "a whole number from 0 on" }
}

extension Double: ExpressibleByArgument {
    package static var expectation: String { "a number" }
}

extension Bool: ExpressibleByArgument {
    package static var allValueStrings: [String] { ["true", "false"] }
}
