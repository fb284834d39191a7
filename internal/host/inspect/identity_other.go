//go:build !linux

package inspect

import "io/fs"

// identityOf is not supported: there is no /proc.
func identityOf(fs.FileInfo) (identity, bool) { return identity{}, false }
