import Foundation
import PackagePlugin

/// Puts the files of `Migrations/` into the target that uses it, as Swift source.
///
/// SwiftPM's own `.embedInCode` makes one constant per file, whose names somebody would have to list. The target holds a
/// symbolic link to the folder: that is how the build notices that a file was added, which it looks for in targets only.
@main struct EmbedMigrations: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let package = context.package.directoryURL
        let files = try FileManager.default
            .contentsOfDirectory(at: package.appending(path: "Migrations"), includingPropertiesForKeys: nil)
            .filter { $0.path.hasSuffix(".up.sql") || $0.path.hasSuffix(".down.sql") }
            .sorted { $0.path < $1.path }
        let script = package.appending(path: "Scripts/lib/embed-migrations")
        let output = context.pluginWorkDirectoryURL.appending(path: "EmbeddedMigrationFiles.swift")
        return [
            .buildCommand(
                displayName: "Embedding migrations", executable: URL(filePath: "/bin/bash"),
                arguments: [script.path, output.path] + files.map(\.path), inputFiles: [script] + files,
                outputFiles: [output])
        ]
    }
}
