package cgroup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWatchFixtures(t *testing.T) {
	for _, tt := range []struct {
		fixture string
		c       Controller
	}{
		{"nested-limits", CPU},
		{"v2-systemd", Memory},
		{"v1-split", CPU},
		{"v1-split", Memory},
	} {
		t.Run(tt.fixture+" "+tt.c.String(), func(t *testing.T) {
			root, _ := extract(t, filepath.Join("testdata", tt.fixture+".txtar"))
			g, err := NewFS(root).Self()
			if err != nil {
				t.Fatal(err)
			}
			w := g.Watch(tt.c)
			defer w.Close()
			p, _ := g.Place(tt.c).Get()
			var files []string
			for _, dir := range p.dirs() {
				for _, name := range limitFiles(tt.c, p.Version) {
					if name := filepath.Join(root, dir, name); exists(name) == nil {
						files = append(files, name)
					}
				}
			}
			if len(files) == 0 || w.Files() != len(files) {
				t.Fatalf("it watches %d files, want %v", w.Files(), files)
			}
			if w.Changed() {
				t.Error("nothing has changed")
			}
			if n := testing.AllocsPerRun(100, func() { w.Changed() }); n != 0 {
				t.Errorf("it allocates %v times", n)
			}
			for _, name := range files {
				was, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				for _, text := range []string{"12345 100000\n", "", strings.Repeat("1", 1000)} {
					if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
						t.Fatal(err)
					}
					if !w.Changed() {
						t.Errorf("%s is %.20q now", name, text)
					}
				}
				if err := os.WriteFile(name, was, 0o644); err != nil {
					t.Fatal(err)
				}
				if w.Changed() {
					t.Errorf("%s is as it was", name)
				}
			}
			w.Close()
			if w.Changed() || w.Files() != 0 {
				t.Error("it watches after the end")
			}
		})
	}
	if (Group{}).Watch(CPU).Changed() {
		t.Error("a group that was not located has changed")
	}
}
