import CLibPQ

/// What libpq makes of a connection string and the standard variables.
struct ConnectionParameters {
    private let values: [String: String]

    /// Reads the string as libpq does, without connecting. The message of a failure quotes no value.
    static func read(_ connectionString: String) -> Result<ConnectionParameters, PostgresError> {
        var values = take(PQconndefaults())
        if !connectionString.isEmpty {
            guard isConnectionString(connectionString) else {
                // libpq takes text of neither form as the name of a database.
                values["dbname"] = connectionString
                return .success(ConnectionParameters(values: values))
            }
            var message: UnsafeMutablePointer<CChar>?
            guard let options = PQconninfoParse(connectionString, &message) else {
                let text = message.map { String(cString: $0) } ?? ""
                PQfreemem(message)
                return .failure(unreadable(text))
            }
            values.merge(take(options)) { $1 }
        }
        // An unescaped @ in a password ends it early, and its rest would be printed as the host.
        if values["host"]?.contains("@") == true {
            return .failure(unreadable("a @ in the password must be written as %40"))
        }
        return .success(ConnectionParameters(values: values))
    }

    private init(values: [String: String]) { self.values = values }

    subscript(key: String) -> String? { values[key].flatMap { $0.isEmpty ? nil : $0 } }

    /// Each host of a list, with its port and address, to be tried in this order; one for libpq's default.
    var hosts: [(host: String?, address: String?, port: String?)] {
        let hosts = list("host")
        let addresses = list("hostaddr")
        let ports = list("port")
        let count = max(hosts.count, addresses.count, 1)
        guard count > 1 else { return [(self["host"], self["hostaddr"], self["port"])] }
        return (0..<count).map { index in
            (element(index, of: hosts), element(index, of: addresses), element(ports.count == 1 ? 0 : index, of: ports))
        }
    }

    /// `connect_timeout`, of each host; nil for none.
    var connectTimeout: Duration? {
        // libpq rounds 1 up to 2 (PostgreSQL manual 34.1.2): less cuts off a slow but sound connect.
        self["connect_timeout"].flatMap { Int($0) }.flatMap { $0 > 0 ? .seconds(max($0, 2)) : nil }
    }

    var description: String {
        let places = hosts.map { place in
            let host = place.host ?? place.address ?? "localhost"
            return "\(host):\(place.port ?? "5432")"
        }
        let user = self["user"].map { $0 + "@" } ?? ""
        return "\(user)\(places.joined(separator: ","))/\(self["dbname"] ?? self["user"] ?? "")"
    }

    private func list(_ key: String) -> [String] {
        self[key].map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) } ?? []
    }

    private func element(_ index: Int, of list: [String]) -> String? {
        index < list.count && !list[index].isEmpty ? list[index] : nil
    }

    private static func isConnectionString(_ text: String) -> Bool {
        text.hasPrefix("postgresql://") || text.hasPrefix("postgres://") || text.contains("=")
    }

    /// libpq's message is kept only where it names an option: it may quote any part of the string, the password too.
    private static func unreadable(_ message: String) -> PostgresError {
        let isSafe = ["invalid connection option", "invalid URI query parameter", "a @ in"].contains {
            message.hasPrefix($0)
        }
        let hint = "expected postgresql://user:password@host:port/database or key=value pairs"
        let cause = isSafe ? message.filter { $0 != "\n" } : hint
        return PostgresError(.invalidValue, "the PostgreSQL connection string cannot be read: \(cause)")
    }

    /// Copies the options that have a value, and frees them.
    private static func take(_ options: UnsafeMutablePointer<PQconninfoOption>?) -> [String: String] {
        guard let options else { return [:] }
        defer { PQconninfoFree(options) }
        var values: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { values[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        return values
    }
}
