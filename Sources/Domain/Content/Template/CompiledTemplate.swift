/// Which rules a template's values follow.
package enum TemplateField: Sendable {
    /// Title and body: values as they are.
    case text
    /// `url`, also a button's: values percent-encoded, unless one placeholder is the whole field (D-12).
    case url
}

/// A template made ready for the hot path: literals and fallbacks already escaped, names turned into indices. Compile
/// once per content version, language and place in the payload; render once per job.
package struct CompiledTemplate: Sendable {
    private enum Segment: Sendable {
        case literal([UInt8])
        case slot(index: Int, fallback: [UInt8], fallbackIsBlank: Bool)
    }

    private let segments: [Segment]
    private let field: TemplateField
    private let escaping: ByteEscaping
    /// A URL that is one placeholder and nothing else: its value is inserted as it is, then checked.
    private let isWholeField: Bool
    /// Escaping changes nothing but values of whole fields, so that a URL can be checked where it was written.
    private let isWrittenPlain: Bool
    /// Some literal is not blank, so the text cannot come out empty.
    private let isNeverBlank: Bool

    /// - Parameters:
    ///   - names: the content version's `placeholderNames`; must hold every name in the template.
    ///   - escaping: what the place in the payload demands.
    package init(_ template: Template, field: TemplateField, names: [String], escaping: ByteEscaping = .none) {
        self.field = field
        self.escaping = escaping
        let texts = template.segments.map(\.fixedText)
        isWholeField = field == .url && template.segments.count == 1 && template.hasPlaceholders
        isNeverBlank = template.segments.contains(where: \.isInkedLiteral)
        isWrittenPlain =
            escaping == .none
            || !isWholeField && texts.allSatisfy { JSONBytes.escaped($0, escaping) == Array($0.utf8) }
        // A URL that escaping would change is rendered unescaped, checked, and escaped then.
        let early: ByteEscaping = field == .text || isWrittenPlain ? escaping : .none
        segments = zip(template.segments, texts).map { segment, text in
            let bytes = JSONBytes.escaped(text, early)
            guard case .placeholder(let name, _) = segment else { return .literal(bytes) }
            guard let index = names.firstIndex(of: name) else {
                preconditionFailure("a template's names must be among those that it is compiled with")
            }
            return .slot(index: index, fallback: bytes, fallbackIsBlank: WhiteSpace.isBlank(text))
        }
    }

    /// Appends the text for one subscriber, in one pass. Values are never expanded again (D-11).
    /// - Parameter values: by the order of `names`; nil, empty or blank = missing.
    /// - Returns: why the job must be refused: `.renderedEmpty`, `.renderedURLInvalid`; nil = it may go out. What was
    ///   appended then is of no use.
    package func append(_ values: [String?], to bytes: inout [UInt8]) -> Reason? {
        switch field {
        case .text:
            return appendText(values, to: &bytes) || isNeverBlank ? nil : .renderedEmpty
        case .url:
            if isWrittenPlain {
                let start = bytes.count
                appendURL(values, to: &bytes)
                return URLRules.fault(ofLink: bytes.span.extracting(start...)) == nil ? nil : .renderedURLInvalid
            }
            var raw: [UInt8] = []
            appendURL(values, to: &raw)
            guard URLRules.fault(ofLink: raw.span) == nil else { return .renderedURLInvalid }
            JSONBytes.append(raw, escaping: escaping, to: &bytes)
            return nil
        }
    }

    /// - Returns: whether some value or fallback that was written is not blank.
    private func appendText(_ values: [String?], to bytes: inout [UInt8]) -> Bool {
        var hasInk = false
        for segment in segments {
            switch segment {
            case .literal(let text): bytes.append(contentsOf: text)
            case .slot(let index, let fallback, let fallbackIsBlank):
                if let value = values[index], !WhiteSpace.isBlank(value) {
                    JSONBytes.append(value, escaping: escaping, to: &bytes)
                    hasInk = true
                } else {
                    bytes.append(contentsOf: fallback)
                    if !fallbackIsBlank { hasInk = true }
                }
            }
        }
        return hasInk
    }

    private func appendURL(_ values: [String?], to bytes: inout [UInt8]) {
        for segment in segments {
            switch segment {
            case .literal(let text): bytes.append(contentsOf: text)
            case .slot(let index, let fallback, _):
                guard let value = values[index], !WhiteSpace.isBlank(value) else {
                    bytes.append(contentsOf: fallback)
                    continue
                }
                if isWholeField {
                    bytes.append(contentsOf: value.utf8)
                } else {
                    PercentEncoding.append(value, to: &bytes)
                }
            }
        }
    }
}

extension Template.Segment {
    fileprivate var isInkedLiteral: Bool {
        if case .literal(let text) = self { !WhiteSpace.isBlank(text) } else { false }
    }

    /// What is known before any subscriber is.
    fileprivate var fixedText: String {
        switch self {
        case .literal(let text): text
        case .placeholder(_, let fallback): fallback ?? ""
        }
    }
}

extension JSONBytes {
    package static func escaped(_ text: String, _ escaping: ByteEscaping) -> [UInt8] {
        var bytes: [UInt8] = []
        append(text, escaping: escaping, to: &bytes)
        return bytes
    }
}
