// Package workloads holds the sample services in JavaScript as they ship: their
// scripts, and the lists of what they need from npm. It only carries them;
// internal/workload puts them where a runtime can run them.
package workloads

import "embed"

// Packages are package.json and package-lock.json: what npm installs, by version
// and hash.
//
//go:embed package.json package-lock.json
var Packages embed.FS

// Scripts are the services, node/main.js and bun/main.js, and in javascript/
// what they share. They find the packages in a node_modules of a folder above
// them.
//
//go:embed javascript/*.js node/*.js bun/*.js
var Scripts embed.FS
