package try

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/file"
	"github.com/millicore/millicore/internal/host/runtimes"
	"github.com/millicore/millicore/internal/platform"
)

// imageAsk asks for an image that was opened.
func imageAsk(t *testing.T, i *Image, says platform.ImageInfo) *Ask {
	t.Helper()
	a := testAsk()
	a.Image, i.Info = i, says
	var err error
	if a.Command, err = i.command(); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAnImageIsAnExperimentThatCanBeRead(t *testing.T) {
	i := &Image{Name: "registry.example.com:5000/shop/api:1.4", Volumes: []string{"/srv/data:/data:ro"}}
	a := imageAsk(t, i, platform.ImageInfo{Entrypoint: []string{"/entry.sh"}, Args: []string{"gunicorn", "-w", "4", "app:app"}, Ports: []int{8000}, User: "app"})
	first, err := file.Build(a.Name(), a.Settings(AsItIs(a)), nil)
	if err != nil {
		t.Fatal(err)
	}
	s := first.Cells[0].Service
	if a.Name() != "try-api" || s.Image != i.Name || !s.FindPort || s.Args != nil || s.Command != nil || s.Dir != "" {
		t.Errorf("%s: %+v", a.Name(), s)
	}
	i.Port = 8000
	info := runtimes.Info{Runtime: runtimes.Python, Version: "3.11", Server: "gunicorn", Workers: 4, Flags: []string{"-w", "4"}}
	variants := Variants(a, experiment.Limits{CPUMillis: 500}, Seen{Info: info, Listens: 8000, Port: 8000}, runtimes.Machine{Online: 4})
	e, err := file.Build(a.Name(), a.Settings(variants), nil)
	if err != nil {
		t.Fatal(err)
	}
	args := map[string][]string{}
	for i := range e.Cells {
		s := &e.Cells[i].Service
		args[s.Name] = s.Args
		if s.Port != 8000 || s.FindPort || s.Image != a.Image.Name || len(s.Volumes) != 1 {
			t.Errorf("%+v", s)
		}
	}
	want := map[string][]string{"as-is": nil, "gunicorn-w-1": {"gunicorn", "-w", "1", "app:app"}, "no-limit": nil}
	if d := cmp.Diff(want, args); d != "" {
		t.Error(d)
	}
	if got, want := a.Images()[0], "Image registry.example.com:5000/shop/api:1.4 runs /entry.sh gunicorn -w 4 app:app as user app and listens on port 8000 (EXPOSE)."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Arguments follow an ENTRYPOINT, and cannot change it.
func TestASettingInTheEntrypointIsNotTried(t *testing.T) {
	a := imageAsk(t, &Image{Name: "api"}, platform.ImageInfo{Entrypoint: []string{"gunicorn", "-w", "4"}, Args: []string{"app:app"}})
	info := runtimes.Info{Runtime: runtimes.Python, Version: "3.11", Server: "gunicorn", Workers: 4, Flags: []string{"-w", "4"}}
	for _, v := range Variants(a, experiment.Limits{CPUMillis: 500}, Seen{Info: info}, runtimes.Machine{Online: 4}) {
		if v.Command != nil {
			t.Errorf("%+v", v)
		}
	}
}

// Replicas of an image have addresses of their own, whatever their port.
func TestReplicasOfAnImage(t *testing.T) {
	a := imageAsk(t, &Image{Name: "api", Port: 3000}, platform.ImageInfo{Entrypoint: []string{"node", "app.js"}})
	a.Port = 3000
	seen := Seen{Info: runtimes.Info{Runtime: runtimes.Node}, Listens: 3000}
	variants := Variants(a, experiment.Limits{CPUMillis: 1500}, seen, runtimes.Machine{Online: 4})
	e, err := file.Build(a.Name(), a.Settings(variants), nil)
	if err != nil {
		t.Fatal(err)
	}
	if c := e.Cells[1]; c.Service.Name != "replicas-2" || c.Limits.Replicas != 2 || c.Service.Port != 3000 {
		t.Errorf("%+v", c)
	}
}

func TestNamesOfImages(t *testing.T) {
	for name, want := range map[string]string{
		"nginx": "nginx", "nginx:1.27": "nginx", "registry.example.com:5000/shop/api:1.4": "api",
		"api@sha256:0123": "api", "localhost:5000/api": "api", "sha256:0123": "sha256",
	} {
		if got := (&Image{Name: name}).short(); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestAnImageThatRunsNothing(t *testing.T) {
	i := &Image{Name: "base"}
	if _, err := i.command(); err == nil || !strings.Contains(err.Error(), "neither an ENTRYPOINT nor a CMD") {
		t.Error(err)
	}
	i.Args, i.Info.Args = []string{"./server"}, []string{"sh"}
	if command, err := i.command(); err != nil || !cmp.Equal(command, []string{"./server"}) {
		t.Errorf("%v, %q", err, command)
	}
}

// An image is held against an older one, which has its own entrypoint, port and arguments.
func TestAnImageAgainstAnother(t *testing.T) {
	a := imageAsk(t, &Image{Name: "shop/api:2", Port: 9000}, platform.ImageInfo{Entrypoint: []string{"./api"}})
	a.CPUs = []string{"500m"}
	if err := a.HoldAgainst("shop/api:1 --fast"); err != nil {
		t.Fatal(err)
	}
	a.Old.Info, a.Old.Port = platform.ImageInfo{Entrypoint: []string{"./old"}, Args: []string{"--slow"}}, 8000
	var err error
	if a.Against, err = a.Old.command(); err != nil || !cmp.Equal(a.Against, []string{"./old", "--fast"}) {
		t.Fatalf("%v, %q", err, a.Against)
	}
	e, err := file.Build(a.Name(), a.Settings(oldAndNew(a)), nil)
	if err != nil {
		t.Fatal(err)
	}
	old, now := &e.Cells[1].Service, &e.Cells[0].Service
	if old.Image != "shop/api:1" || !cmp.Equal(old.Args, []string{"--fast"}) || old.Port != 8000 || now.Image != "shop/api:2" || now.Args != nil || now.Port != 9000 {
		t.Errorf("old %+v\nnew %+v", old, now)
	}
	if want := "What changes from shop/api:1 --fast to shop/api:2"; e.About != want {
		t.Errorf("%q, want %q", e.About, want)
	}
}
