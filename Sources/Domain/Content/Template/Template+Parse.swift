extension Template {
    /// Reads `{{name}}` and `{{name|fallback}}` (grammar: content model D-9). The first `}}` ends a placeholder; white
    /// space around names and fallbacks is blank and tab only.
    /// - Returns: nil where `{{` is not followed by a valid placeholder.
    package static func parse(_ text: String) -> Template? {
        var scanner = TemplateScanner(text)
        return scanner.scan()
    }

    /// The text as an author would write it; `parse` of it gives this template again.
    package var source: String {
        segments.map { segment in
            switch segment {
            case .literal(let text): text
            case .placeholder(let name, nil): "{{\(name)}}"
            case .placeholder(let name, let fallback?): "{{\(name)|\(fallback)}}"
            }
        }.joined()
    }

    package var hasPlaceholders: Bool {
        segments.contains { if case .placeholder = $0 { true } else { false } }
    }
}

/// One pass over a template's UTF-8.
private struct TemplateScanner {
    private let bytes: [UInt8]
    private var position = 0
    private var literalStart = 0
    private var segments: [Template.Segment] = []

    init(_ text: String) { bytes = Array(text.utf8) }

    mutating func scan() -> Template? {
        while position < bytes.count {
            guard isPair(UInt8(ascii: "{"), at: position) else {
                position += 1
                continue
            }
            closeLiteral()
            position += 2
            guard let placeholder = placeholder() else { return nil }
            segments.append(placeholder)
            literalStart = position
        }
        closeLiteral()
        return Template(segments: segments)
    }

    private mutating func closeLiteral() {
        guard literalStart < position else { return }
        segments.append(.literal(text(literalStart..<position)))
    }

    /// After `{{`; leaves `position` behind `}}`.
    private mutating func placeholder() -> Template.Segment? {
        skipBlanks()
        guard let name = name() else { return nil }
        skipBlanks()
        if isPair(UInt8(ascii: "}"), at: position) {
            position += 2
            return .placeholder(name: name, fallback: nil)
        }
        guard position < bytes.count, bytes[position] == UInt8(ascii: "|") else { return nil }
        position += 1
        let start = position
        while position < bytes.count, !isPair(UInt8(ascii: "}"), at: position) { position += 1 }
        guard position < bytes.count else { return nil }
        let fallback = trimmed(start..<position)
        position += 2
        return .placeholder(name: name, fallback: text(fallback))
    }

    /// `( ALPHA / "_" ) *63( ALPHA / DIGIT / "_" / "." / "-" )`
    private mutating func name() -> String? {
        let start = position
        while position < bytes.count, isNameByte(bytes[position], first: position == start) { position += 1 }
        return (1...64).contains(position - start) ? text(start..<position) : nil
    }

    private func isNameByte(_ byte: UInt8, first: Bool) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"): !first
        default: false
        }
    }

    private mutating func skipBlanks() {
        while position < bytes.count, isBlank(bytes[position]) { position += 1 }
    }

    private func trimmed(_ range: Range<Int>) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end, isBlank(bytes[start]) { start += 1 }
        while start < end, isBlank(bytes[end - 1]) { end -= 1 }
        return start..<end
    }

    private func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private func isPair(_ brace: UInt8, at index: Int) -> Bool {
        index + 1 < bytes.count && bytes[index] == brace && bytes[index + 1] == brace
    }

    /// Cut at ASCII bytes, so always whole scalars.
    private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
}
