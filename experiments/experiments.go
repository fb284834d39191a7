// Package experiments holds the experiments that ship with Millicore. They are
// run by their names: millicore run quick.
package experiments

import "embed"

// Files are the experiments, each NAME.yaml with the name NAME.
//
//go:embed *.yaml
var Files embed.FS
