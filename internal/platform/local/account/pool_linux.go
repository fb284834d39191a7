package account

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// The range of systemd's dynamic users (systemd.exec(5), DynamicUser=), which no package
// and no administrator assigns.
const (
	lowest  = 61184
	highest = 65519
)

// Pool gives unused users to one run. Several runs share the file of a pool: each locks
// the byte whose offset is the UID. The kernel releases the locks when the process ends
// in any way.
type Pool struct {
	file          *os.File
	lowest, count int
	inUse         func() (map[int]bool, error) // users of all processes

	mu    sync.Mutex
	taken map[int]bool
}

// OpenPool opens the pool with a file of locks, in a folder of the caller's own. The file
// remains.
func OpenPool(file string) (*Pool, error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the locks of dynamic users: %w", err)
	}
	return &Pool{file: f, lowest: lowest, count: highest - lowest + 1, inUse: processUsers, taken: map[int]bool{}}, nil
}

// Close gives back all users of the run. Their processes must have ended.
func (p *Pool) Close() error { return p.file.Close() }

// Take returns a user that has no entry in the user database, no process, and no lock of
// another run or of systemd.
func (p *Pool) Take() (Account, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	first := rand.IntN(p.count)
	for i := range p.count {
		uid := p.lowest + (first+i)%p.count
		if p.taken[uid] || p.lock(uid, unix.F_WRLCK) != nil {
			continue
		}
		free, err := p.unused(uid)
		if err != nil {
			return Account{}, err
		}
		if free {
			p.taken[uid] = true
			return Account{UID: uid, GID: uid}, nil
		}
		if err := p.lock(uid, unix.F_UNLCK); err != nil {
			return Account{}, err
		}
	}
	return Account{}, fmt.Errorf("all users from %d to %d are in use; end what uses them, or state a user", p.lowest, p.lowest+p.count-1)
}

// lock locks or unlocks a user. A lock of an open file description does not conflict
// with the other locks of this pool, which taken covers (fcntl(2), F_OFD_SETLK).
func (p *Pool) lock(uid int, kind int16) error {
	return unix.FcntlFlock(p.file.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: kind, Whence: io.SeekStart, Start: int64(uid), Len: 1})
}

// unused reports whether nobody but the holder of the lock uses a user and its group.
func (p *Pool) unused(uid int) (bool, error) {
	number := strconv.Itoa(uid)
	if _, err := user.LookupId(number); err == nil {
		return false, nil
	}
	if _, err := user.LookupGroupId(number); err == nil {
		return false, nil
	}
	if _, err := os.Lstat(filepath.Join("/run/systemd/dynamic-uid", number)); err == nil {
		return false, nil
	}
	busy, err := p.inUse()
	if err != nil {
		return false, fmt.Errorf("look for processes of user %d: %w", uid, err)
	}
	return !busy[uid], nil
}

// processUsers are the users of all processes: real, effective, saved and of the file
// system (proc_pid_status(5), "Uid").
func processUsers() (map[int]bool, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	all := map[int]bool{}
	for _, e := range entries {
		if !isNumber(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join("/proc", e.Name(), "status"))
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ESRCH) {
			continue // it has ended
		}
		if err != nil {
			return nil, err
		}
		for line := range bytes.Lines(text) {
			if ids, ok := strings.CutPrefix(string(line), "Uid:"); ok {
				for _, id := range strings.Fields(ids) {
					uid, err := strconv.Atoi(id)
					if err != nil {
						return nil, fmt.Errorf("/proc/%s/status: %w", e.Name(), err)
					}
					all[uid] = true
				}
			}
		}
	}
	return all, nil
}

func isNumber(name string) bool {
	return !slices.ContainsFunc([]byte(name), func(c byte) bool { return c < '0' || c > '9' })
}
