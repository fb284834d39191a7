package profile

import (
	_ "embed"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/millicore/millicore/internal/base/safefile"
)

//go:embed preload.cjs
var preload []byte

// preloadFile is the script's name in the profile's folder.
const preloadFile = "millicore-profile.cjs"

// PrepareNode writes the profiling script into a folder, which must exist, and returns
// the service's new NODE_OPTIONS, given the present value. Each process of the service
// then writes a file that matches NodeFiles into the folder when it receives SIGTERM or
// SIGINT, or exits by itself; a process that is killed writes none. The service must be
// able to write there, so this is for services on this machine.
func PrepareNode(dir, nodeOptions string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("profile Node.js: find the folder %s: %w", dir, err)
	}
	script := filepath.Join(dir, preloadFile)
	if err := safefile.WriteFile(script, preload, 0o600); err != nil {
		return "", fmt.Errorf("profile Node.js: write the script: %w", err)
	}
	return strings.TrimSpace(nodeOptions + " --require " + quoteOption(script)), nil
}

// quoteOption quotes a value for NODE_OPTIONS, with double quotes and \ as the escape
// character.
func quoteOption(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}
