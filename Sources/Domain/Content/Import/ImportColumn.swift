/// A column of an import, in CSV and JSON Lines alike.
package enum ImportColumn: String, CaseIterable, Sendable {
    case externalID = "external_id"
    case userID = "user_id"
    case transport
    case address
    case environment
    case p256dh
    case auth
    case language
    case timeZone = "time_zone"
    case attributes
    case tags
    case registeredAt = "registered_at"
    case vapidKey = "vapid_key"

    /// No file can do without them.
    static let required: [ImportColumn] = [.externalID, .transport, .address]

    /// Its place in `ImportRecord.fields`.
    var index: Int {
        switch self {
        case .externalID: 0
        case .userID: 1
        case .transport: 2
        case .address: 3
        case .environment: 4
        case .p256dh: 5
        case .auth: 6
        case .language: 7
        case .timeZone: 8
        case .attributes: 9
        case .tags: 10
        case .registeredAt: 11
        case .vapidKey: 12
        }
    }
}

/// One line of an import, cut into columns but not yet checked.
package struct ImportRecord: Sendable {
    var line: Int
    /// By `ImportColumn.index`; empty = nothing was given. Attributes are JSON text.
    private(set) var fields: [String]
    var tags: [String]

    init(line: Int) {
        self.line = line
        fields = [String](repeating: "", count: ImportColumn.allCases.count)
        tags = []
    }

    subscript(column: ImportColumn) -> String {
        get { fields[column.index] }
        set { fields[column.index] = newValue }
    }
}
