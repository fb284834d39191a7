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
	return identity{inode: st.Ino, size: file.Size(), mtime: file.ModTime().UnixNano()}, true
}

// ownerOf is the user to whom a file belongs; -1: not known.
func ownerOf(file fs.FileInfo) int {
	if st, ok := file.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid)
	}
	return -1
}
