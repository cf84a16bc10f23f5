// swift-tools-version:6.2
import PackageDescription

/// What every target of ours is held to.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

/// Outside the wrappers a pointer does not build.
let safe = settings + [.strictMemorySafety()]

/// A wrapper around a C library, the only kind of target that may touch pointers.
func wrapper(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

func module(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource]? = nil) -> Target {
    .target(name: name, dependencies: dependencies, resources: resources, swiftSettings: safe)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource]? = nil) -> Target {
    .testTarget(name: name, dependencies: dependencies, resources: resources, swiftSettings: settings)
}

// Imports point down this list only; Scripts/build makes a wrong one an error.
let package = Package(
    name: "pushfleet",
    products: [
        .executable(name: "pushfleet", targets: ["Pushfleet"]),
        .executable(name: "pushfleet-simulator", targets: ["Simulator"]),
    ],
    targets: [
        // C libraries, as Debian packages them.
        .systemLibrary(name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CNghttp2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CMicrohttpd", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
        .systemLibrary(name: "CLinux"),

        // Stand-ins with the names and call sites of the upstream packages, and the primitives that they share.
        wrapper("Threading", ["CLinux"]),
        wrapper("Logging", ["Threading"]),
        wrapper("ServiceLifecycle", ["Threading", "Logging"]),
        module("ArgumentParser", ["Threading", "Logging"]),
        module("Prometheus", ["Threading"]),
        module("Loops", ["Logging", "ServiceLifecycle"]),

        // Wrappers: they know no word of the domain.
        wrapper("Crypto", ["COpenSSL"]),
        wrapper("PlainHTTP", ["CCurl", "Threading", "Logging"]),
        wrapper("PlainHTTPServer", ["CMicrohttpd", "Threading", "Logging", "ServiceLifecycle"]),
        wrapper("HTTP2", ["CNghttp2", "COpenSSL", "CLinux", "Threading", "Logging"]),
        wrapper("Postgres", ["CLibPQ", "CLinux", "Threading", "Logging", "ServiceLifecycle"]),

        // The domain and what is built on it.
        module("Domain", []),
        module("Transports", ["Domain", "HTTP2", "PlainHTTP", "Crypto", "Threading", "Logging"]),
        .target(
            name: "Schema", dependencies: ["Postgres", "Logging"], exclude: ["Migrations"], swiftSettings: safe,
            plugins: ["EmbedMigrations"]),
        .plugin(name: "EmbedMigrations", capability: .buildTool(), path: "Sources/EmbedMigrations"),
        module("QueueStore", ["Domain", "Postgres", "Logging"]),
        module("Housekeeping", ["Domain", "Loops", "Logging", "ServiceLifecycle"]),
        module("Delivery", ["Domain", "Threading", "Logging", "ServiceLifecycle"]),
        module("Scheduling", ["Domain", "Loops", "Logging", "ServiceLifecycle"]),

        .executableTarget(
            name: "Simulator",
            dependencies: ["HTTP2", "Crypto", "Threading", "Logging", "ServiceLifecycle", "ArgumentParser"],
            swiftSettings: safe),
        .executableTarget(
            name: "Pushfleet",
            dependencies: [
                "Scheduling", "Delivery", "Housekeeping", "QueueStore", "Schema", "Transports", "Domain", "Postgres",
                "HTTP2", "PlainHTTP", "PlainHTTPServer", "Crypto", "Prometheus", "Loops", "Threading", "Logging",
                "ServiceLifecycle", "ArgumentParser",
            ],
            swiftSettings: safe),

        .executableTarget(
            name: "Bench",
            dependencies: [
                "Delivery", "QueueStore", "Transports", "Domain", "Postgres", "HTTP2", "Crypto", "Threading", "Logging",
                "ServiceLifecycle", "ArgumentParser",
            ],
            swiftSettings: safe),

        // Tests. Each module's own, then whole processes.
        .target(
            name: "TestSupport",
            dependencies: ["Domain", "Postgres", "Schema", "QueueStore", "HTTP2", "Crypto", "Threading", "Logging"],
            path: "Tests/TestSupport", swiftSettings: settings),
        tests("FoundationTests", ["Threading", "Logging", "ServiceLifecycle", "ArgumentParser", "Prometheus"]),
        tests(
            "PlainHTTPServerTests",
            ["PlainHTTPServer", "PlainHTTP", "Threading", "Logging", "ServiceLifecycle", "TestSupport"]),
        tests("CryptoTests", ["Crypto", "PlainHTTP", "HTTP2", "TestSupport"], resources: [.copy("Fixtures")]),
        tests("HTTP2Tests", ["HTTP2", "Crypto", "Threading", "Logging", "TestSupport"]),
        tests("PostgresTests", ["Postgres", "Threading", "Logging", "ServiceLifecycle", "TestSupport"]),
        tests("SchemaTests", ["Schema", "Postgres", "TestSupport"]),
        tests("ModelTests", []),
        tests("DomainTests", ["Domain"], resources: [.copy("Fixtures")]),
        tests(
            "TransportsTests", ["Transports", "Domain", "HTTP2", "Crypto", "PlainHTTP", "Threading", "TestSupport"],
            resources: [.copy("Fixtures")]),
        tests(
            "SimulatorTests", ["Simulator", "HTTP2", "PlainHTTP", "Crypto", "Threading", "Logging", "TestSupport"],
            resources: [.copy("Fixtures")]),
        tests("ContentTests", ["Simulator", "Transports", "Domain", "Crypto"]),
        tests("QueueStoreTests", ["QueueStore", "Domain", "Postgres", "Schema", "Threading", "TestSupport"]),
        tests(
            "DeliveryTests",
            [
                "Delivery", "Scheduling", "Housekeeping", "Domain", "Threading", "Logging", "ServiceLifecycle",
                "TestSupport",
            ]),
        tests(
            "PushfleetTests",
            [
                "Pushfleet", "QueueStore", "Schema", "Domain", "Postgres", "Crypto", "PlainHTTPServer", "Prometheus",
                "ServiceLifecycle", "Logging", "Threading", "TestSupport",
            ]),
        tests(
            "EndToEndTests",
            [
                "Pushfleet", "Simulator", "QueueStore", "Schema", "Domain", "Postgres", "PlainHTTP", "Logging",
                "Threading", "TestSupport",
            ]),
    ],
    swiftLanguageModes: [.v6]
)
