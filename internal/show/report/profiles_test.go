package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/lab/profile"
	"github.com/millicore/millicore/internal/show/narrative"
	"github.com/millicore/millicore/test/sample"
)

func TestWhatIsNoProfileIsNotShown(t *testing.T) {
	for name, given := range map[string]*profile.Profile{"none": nil, "an empty one": {}} {
		d := sample.Search()
		d.Summary.Cells[0].Profile = given
		if got := profileOf(&d.Summary.Cells[0]); got != nil {
			t.Errorf("%s: shown as %+v", name, got)
		}
		if got := New(d.Summary).Profiles; got != nil {
			t.Errorf("%s: shown as %+v", name, got)
		}
	}
}

func TestFunctionsArePartedAfterTheirPackagesPath(t *testing.T) {
	for name, want := range map[string][2]string{
		"main.work":                            {"", "main.work"},
		"net/http.(*conn).serve":               {"net/", "http.(*conn).serve"},
		"github.com/x/y.F":                     {"github.com/x/", "y.F"},
		"slices.SortFunc[go.shape.[]a/b.T]":    {"", "slices.SortFunc[go.shape.[]a/b.T]"},
		"(anonymous) file:///srv/app/index.js": {"", "(anonymous) file:///srv/app/index.js"},
		"":                                     {"", ""},
	} {
		if path, rest := functionParts(name); path != want[0] || rest != want[1] {
			t.Errorf("%q is parted into %q and %q, want %q", name, path, rest, want)
		}
	}
}

func TestFilesSayHowTheyAreOpened(t *testing.T) {
	c := &summary.Cell{Cell: 12, Profile: sample.GoProfile()}
	want := []ProfileFile{
		{Path: "profiles/cell-012/cpu.pprof", Command: "go tool pprof -http=: profiles/cell-012/cpu.pprof"},
	}
	if diff := cmp.Diff(want, profileFiles(c, profileOf(c))); diff != "" {
		t.Errorf("Go (-want +got):\n%s", diff)
	}
	sample.WithNodeProfile(c)
	want = []ProfileFile{{Path: "profiles/cell-012/CPU.4711.cpuprofile", With: "Chrome's DevTools, or VS Code"}}
	if diff := cmp.Diff(want, profileFiles(c, profileOf(c))); diff != "" {
		t.Errorf("Node.js (-want +got):\n%s", diff)
	}
	hostile := profileFiles(c, &profile.Profile{Files: []string{"../../../x; rm -rf /\n"}})[0]
	if hostile.Command != "" || strings.Contains(hostile.Path, "..") || strings.Contains(hostile.Path, "\n") {
		t.Errorf("a name from elsewhere is shown as %+v", hostile)
	}
}

func TestFunctionsThatUsedNoCPUAreNotDrawn(t *testing.T) {
	s := sample.WithProfiles(sample.Search()).Summary
	got := newProfiles(s, narrative.CellNames(s))
	if len(got) != 2 || got[0].Cell != 0 || got[1].Cell != 2 {
		t.Fatalf("profiles of %+v, want those of the cells 0 and 2", got)
	}
	if n := len(got[0].Functions); n != 6 {
		t.Errorf("%d functions are drawn, want the six that used CPU themselves", n)
	}
}

func TestManyProfilesAreShortInText(t *testing.T) {
	s := sample.Search().Summary
	for range 2 {
		s.Cells = append(s.Cells, s.Cells[0])
	}
	for i := range s.Cells {
		s.Cells[i].Profile = sample.GoProfile()
	}
	hottest := 0
	for _, b := range New(s).Whole() {
		if facts, ok := b.(Facts); ok {
			for _, f := range facts.Facts {
				if strings.Contains(f.Text, "isPrime (") {
					hottest++
				}
				if strings.Contains(f.Text, "asyncPreempt") {
					t.Errorf("of many profiles a text shows %q", f.Text)
				}
			}
		}
	}
	if hottest != len(s.Cells) {
		t.Errorf("%d cells have their hottest function, want %d", hottest, len(s.Cells))
	}
}

func TestAProfileSaysUnderWhichLoad(t *testing.T) {
	d := sample.Procs()
	sample.WithNodeProfile(&d.Summary.Cells[0])
	if got := New(d.Summary).Profiles[0].At; got != "under the same load" {
		t.Errorf("without a search: %q", got)
	}
	if got := New(sample.WithProfiles(sample.Search()).Summary).Profiles[0].At; got != "at the breaking point" {
		t.Errorf("of a search: %q", got)
	}
}
