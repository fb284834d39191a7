// Package workloads embeds the sample services in JavaScript: their scripts and the lists
// of their npm packages. It contains data only; internal/platform/workload installs them.
package workloads

import "embed"

// Packages are package.json and package-lock.json, which define the npm packages by
// version and hash.
//
//go:embed package.json package-lock.json
var Packages embed.FS

// Runtime is the same for Node.js, for machines whose own is too old.
//
//go:embed runtime/package.json runtime/package-lock.json
var Runtime embed.FS

// Scripts are the services, node/main.js and bun/main.js, and their shared code in
// javascript/. They find the packages in node_modules of a parent folder.
//
//go:embed javascript/*.js node/*.js bun/*.js
var Scripts embed.FS
