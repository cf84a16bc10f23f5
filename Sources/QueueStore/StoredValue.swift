/// A number in the database that no word of the program stands for: written by a newer binary, or by hand.
package struct UnknownStoredValue: Error, CustomStringConvertible {
    package let column: String
    package let value: Int16

    package var description: String { "\(column) is \(value) in the database, which this binary does not know" }
}

/// The word that a stored number stands for.
func stored<Word: RawRepresentable<Int16>>(
    _ value: Int16, _ column: StaticString, as _: Word.Type = Word.self
) throws(UnknownStoredValue) -> Word {
    guard let word = Word(rawValue: value) else { throw UnknownStoredValue(column: "\(column)", value: value) }
    return word
}
