package local

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/local/account"
)

// notes collects what a platform notes.
type notes struct {
	mu  sync.Mutex
	all []string
}

func (n *notes) add(note string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, note)
}

func (n *notes) text() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Join(n.all, "\n")
}

// asInvoker acts as root does, with the variables that sudo sets for a user.
func asInvoker(t *testing.T, uid int) {
	t.Helper()
	asRoot(t)
	t.Setenv("SUDO_UID", strconv.Itoa(uid))
	t.Setenv("SUDO_GID", strconv.Itoa(uid))
}

// enterable is a folder of root's that every user can read.
func enterable(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "millicore-enterable-") // only root can enter TempDir
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// With sudo a service runs as the user who called it, unless that user may certainly not
// do what the service does. A line reports each of the two, once for all trials.
func TestWithSudoServicesRunAsTheUserWhoCalledIt(t *testing.T) {
	const nowhere = 4000123 // in no user database
	asRoot(t)
	shut := filepath.Join(t.TempDir(), "shut")
	if err := os.Mkdir(shut, 0o700); err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(t.TempDir(), "secret.yaml")
	if err := os.WriteFile(secret, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name    string
		invoker int
		change  func(*platform.UnitSpec)
		want    int
		note    string // a part of the only note; "": none
	}{
		{"nothing is stated", nobody.UID, func(*platform.UnitSpec) {}, nobody.UID, "exe runs as nobody, who called sudo, and not as root; user: caller"},
		{"the caller is stated", nobody.UID, func(u *platform.UnitSpec) { u.RunAs = experiment.Caller }, 0, ""},
		{"another user is stated", nobody.UID, func(u *platform.UnitSpec) { u.RunAs = "12345" }, 12345, ""},
		{"a user that does not exist", nowhere, func(*platform.UnitSpec) {}, 0, ""},
		{"root called sudo", 0, func(*platform.UnitSpec) {}, 0, ""},
		{"a folder that it cannot enter", nobody.UID, func(u *platform.UnitSpec) { u.Dir = shut }, 0, "exe runs as root, and not as nobody, who called sudo: nobody may not enter " + shut},
		{"a file that it cannot read", nobody.UID, func(u *platform.UnitSpec) { u.Command = append(u.Command, "--config="+secret) }, 0, "nobody may not read " + secret},
	} {
		t.Run(test.name, func(t *testing.T) {
			asInvoker(t, test.invoker)
			var n notes
			p := open(t, Options{Note: n.add})
			for trial := range 2 {
				u := server(t.TempDir())
				u.Trial = trial
				test.change(&u)
				if uid := ids(t, start(t, p, u).Replicas()[0], "Uid"); uid != test.want {
					t.Errorf("trial %d: it runs as %d, want %d", trial, uid, test.want)
				}
			}
			if len(n.all) != 0 && test.note == "" || len(n.all) != 1 && test.note != "" || !strings.Contains(n.text(), test.note) {
				t.Errorf("notes %q, want one with %q", n.all, test.note)
			}
		})
	}
}

// What the user who called sudo would lack is found before the start.
func TestWhatNeedsRoot(t *testing.T) {
	asRoot(t)
	dir := enterable(t)
	file := func(name string, mode os.FileMode) string {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, nil, mode); err != nil {
			t.Fatal(err)
		}
		return name
	}
	program, mine, grouped := file("program", 0o755), file("mine", 0o744), file("grouped", 0o750)
	if err := os.Chown(grouped, 0, 777); err != nil {
		t.Fatal(err)
	}
	config := file("config", 0o600)
	user := account.Account{Name: "someone", UID: 12345, GID: 12345, Groups: []int{777}}
	for _, test := range []struct {
		name, program string
		args          []string
		port          int
		want          string
	}{
		{"nothing", program, nil, 8080, ""},
		{"port 80", program, nil, 80, "only root can listen on port 80"},
		{"a program of root's alone", mine, nil, 0, "someone may not run " + mine},
		{"a program of its second group", grouped, nil, 0, ""},
		{"a file", program, []string{config}, 0, "someone may not read " + config},
		{"a file in its folder", program, []string{"-c", "config"}, 0, "someone may not read " + config},
		{"a file in a flag", program, []string{"--file=" + config}, 0, "someone may not read " + config},
		{"a file that does not exist", program, []string{"none", "${port}", ""}, 0, ""},
		{"a device", program, []string{"/dev/kmsg"}, 0, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := needsMore(platform.UnitSpec{Dir: dir, Port: test.port}, test.program, append([]string{test.program}, test.args...), user)
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	user.Groups = nil
	if got := needsMore(platform.UnitSpec{Dir: dir}, grouped, []string{grouped}, user); got != "someone may not read "+grouped {
		t.Errorf("without its group: %q", got)
	}
}

// A service that starts with the rights of that user and fails may need root: the error
// names the way back.
func TestAFailureNamesTheUserWhoCalledSudo(t *testing.T) {
	asInvoker(t, nobody.UID)
	p := open(t, Options{})
	u := doing(t, "write", filepath.Join(enterable(t), "new"))
	if _, err := p.Start(t.Context(), u); err == nil || !strings.Contains(err.Error(), "it ran as nobody, who called sudo: if it needs root's rights, state user: caller") {
		t.Errorf("error %v, want one with the user and the way back", err)
	}
	u = doing(t, "dying")
	u.RunAs = experiment.Caller
	if _, err := p.Start(t.Context(), u); err == nil || strings.Contains(err.Error(), "sudo") {
		t.Errorf("error %v, want none about sudo", err)
	}
}

// The user has the groups that it has without sudo, and its own session.
func TestTheUserWhoCalledSudoHasItsGroups(t *testing.T) {
	asRoot(t)
	p := open(t, Options{})
	r, err := p.runnerOf(account.Account{Name: "someone", UID: 12345, GID: 12345, Groups: []int{777, 778}})
	if err != nil {
		t.Fatal(err)
	}
	u := server(t.TempDir())
	p.runners = map[[2]string]*runner{{u.Name, "12345"}: r}
	u.RunAs = "12345"
	one := start(t, p, u).Replicas()[0]
	groups := strings.Fields(mustGet(t, one, "/status?Groups"))
	slices.Sort(groups)
	if want := []string{"12345", "777", "778"}; !slices.Equal(groups, want) {
		t.Errorf("groups %v, want %v", groups, want)
	}
	if name := variable(t, one, "USER"); name != "someone" {
		t.Errorf("USER=%s", name)
	}
}
