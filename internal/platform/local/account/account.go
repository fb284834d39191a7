// Package account finds the users of this machine that services run as: those with an
// entry in the user database, and numbers. It starts no process and changes no file.
package account

import (
	"errors"
	"fmt"
	"os/user"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/base/safefile"
)

// Account is a user of this machine.
type Account struct {
	Name     string // "" of a number without an entry in the user database
	Home     string // likewise
	UID, GID int
	Groups   []int // supplementary ones, of an Invoker only
}

// String is the name or, without one, the number.
func (a Account) String() string {
	if a.Name != "" {
		return a.Name
	}
	return strconv.Itoa(a.UID)
}

// Lookup finds a user by its name, or by UID[:GID]. A name has the GID of the user
// database. A number needs no entry there; without a GID and without an entry, the GID is
// the UID.
func Lookup(text string) (Account, error) {
	first, group, hasGroup := strings.Cut(text, ":")
	uid, err := strconv.Atoi(first)
	if err != nil {
		return named(text)
	}
	a := Account{UID: uid, GID: uid}
	if entry, err := user.LookupId(first); err == nil {
		if a, err = of(entry); err != nil {
			return Account{}, err
		}
	}
	if hasGroup {
		if a.GID, err = strconv.Atoi(group); err != nil {
			return Account{}, fmt.Errorf("user %q: %q is no number of a group", text, group)
		}
	}
	return a, nil
}

// Invoker is the user who ran the program as root with sudo, with the groups that it has
// without sudo; false: there is none, or it is not in the user database.
func Invoker() (Account, bool) {
	uid, gid, ok := safefile.Invoker()
	if !ok {
		return Account{}, false
	}
	entry, err := user.LookupId(strconv.Itoa(uid))
	if err != nil {
		return Account{}, false
	}
	a, err := of(entry)
	if err != nil {
		return Account{}, false
	}
	a.GID, a.Groups = gid, groupsOf(entry)
	return a, true
}

// groupsOf are the groups of a user, as far as they are known: without them it can do less.
func groupsOf(entry *user.User) (all []int) {
	ids, _ := entry.GroupIds()
	for _, id := range ids {
		if n, err := strconv.Atoi(id); err == nil {
			all = append(all, n)
		}
	}
	return all
}

func named(name string) (Account, error) {
	entry, err := user.Lookup(name)
	if unknown := user.UnknownUserError(""); errors.As(err, &unknown) {
		return Account{}, fmt.Errorf("this machine has no user %q; add it (useradd), or state another: a name, UID[:GID] or caller", name)
	}
	if err != nil {
		return Account{}, fmt.Errorf("look for user %q: %w", name, err)
	}
	return of(entry)
}

// of converts an entry of the user database.
func of(entry *user.User) (Account, error) {
	uid, uidErr := strconv.Atoi(entry.Uid)
	gid, gidErr := strconv.Atoi(entry.Gid)
	if err := errors.Join(uidErr, gidErr); err != nil {
		return Account{}, fmt.Errorf("user %q: %w", entry.Username, err)
	}
	return Account{Name: entry.Username, Home: entry.HomeDir, UID: uid, GID: gid}, nil
}
