package database

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/platform"
)

// owner is the first of these accounts that exists on the machine; nil if the caller is
// not root and cannot change its user. Databases refuse to run as root.
func owner(names ...string) (*platform.User, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range names {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.Atoi(u.Uid)
		gid, gidErr := strconv.Atoi(u.Gid)
		if uidErr == nil && gidErr == nil && uid != 0 {
			return &platform.User{Name: name, UID: uid, GID: gid}, nil
		}
	}
	return nil, fmt.Errorf("it does not run as root, and none of the users %s exists; add one, or run millicore as another user", strings.Join(names, ", "))
}
