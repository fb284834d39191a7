package inspect

import (
	"io/fs"
	"syscall"
)

// identityOf identifies a file.
func identityOf(file fs.FileInfo) (identity, bool) {
	st, ok := file.Sys().(*syscall.Stat_t)
	if !ok {
		return identity{}, false
	}
	return identity{owner: st.Uid, inode: st.Ino, size: file.Size(), mtime: file.ModTime().UnixNano()}, true
}
