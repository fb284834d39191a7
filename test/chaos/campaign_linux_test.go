package chaos

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/platform/database"
	"github.com/millicore/millicore/test/dockerd"
	"github.com/millicore/millicore/test/testkit"
)

var (
	platform = flag.String("platform", "local", "where the runs of the campaign take place: local, docker, or vm in the machine of package vm")
	programs = flag.String("programs", "", "with -platform vm: the folder with the programs")
)

var bench = dockerd.Bench{Root: filepath.Join("..", ".."), Build: []string{"./cmd/..."}, Changes: []string{`CMD ["--contained"]`}}

func TestMain(m *testing.M) {
	Helper()
	os.Exit(bench.Run(m))
}

func TestCampaign(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to limit processes and to mount file systems")
	}
	n, first := Size(t, 4, 58)
	switch dir := *programs; *platform {
	case "docker":
		bench.Need(t)
		Run(t, Docker{bench.Daemon()}, bench.Programs(), n, first)
	case "local":
		dir = built(t)
		if err := database.Check("postgres"); err != nil {
			testkit.Missing(t, err)
		}
		Run(t, Local{Server: filepath.Join(dir, "server"), Postgres: true}, dir, n, first)
	case "vm":
		go alive(t)
		Run(t, Local{Server: filepath.Join(dir, "server"), Emulated: true}, dir, n, first)
	default:
		t.Fatalf("-platform %s: want local, docker or vm", *platform)
	}
}

// In a campaign Docker has its turn too.
func TestCampaignOnDocker(t *testing.T) {
	if !testkit.Campaign() || *runs > 0 {
		t.Skip("long: a campaign; -platform docker or MILLICORE_SAMPLES=full runs it")
	}
	bench.Need(t)
	Run(t, Docker{bench.Daemon()}, bench.Programs(), 29, *seed)
}

// alive logs that the machine lives until the test ends: it is ended if its console is
// silent.
func alive(t *testing.T) {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		select {
		case <-t.Context().Done():
			return
		case <-tick.C:
			t.Log("it lives")
		}
	}
}

// built is a folder with the programs.
func built(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	build := exec.Command("go", "build", "-o", dir+"/", "./cmd/millicore", "./cmd/millicore-agent", "./test/server")
	build.Dir = filepath.Join("..", "..")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the programs: %v\n%s", err, out)
	}
	return dir
}
