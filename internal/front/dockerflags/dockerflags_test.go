package dockerflags

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPortsAsOfDockerRun(t *testing.T) {
	for _, c := range []struct {
		text  string
		image bool
		want  int // 0: refused
	}{
		{"80", false, 80}, {"80", true, 80}, {"8080:80", true, 80}, {"127.0.0.1:8080:80/tcp", true, 80}, {"[::1]:8080:80", true, 80},
		{"8080:80", false, 0}, {"0", true, 0}, {"65536", true, 0}, {"8080:", true, 0}, {"80/udp", true, 0}, {"", true, 0}, {"http", false, 0}, {"80-90:80-90", true, 0},
	} {
		got, err := Port(c.text, c.image)
		if got != c.want || (err == nil) != (c.want != 0) {
			t.Errorf("%q of an image %v: %d, %v", c.text, c.image, got, err)
		}
	}
}

func TestVolumesAsOfDockerRun(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Volumes([]string{"./data:/data:ro", "..:/up", "/srv:/srv", "named:/n", "/cache"})
	if d := cmp.Diff([]string{here + "/data:/data:ro", filepath.Dir(here) + ":/up", "/srv:/srv", "named:/n", "/cache"}, got); d != "" || err != nil {
		t.Errorf("%v %s", err, d)
	}
	for text, want := range map[string]string{
		"": "is not a volume", "data": "must begin with /", "./a:b": "must begin with /", "./a:/": "whole file system", "a/b:/c": "neither a path",
		"./a:/b:fast": `unknown option "fast"`, "./a:/b:": "is not a volume", ":/b": "is not a volume", "a:/b:ro:rw": "is not a volume",
	} {
		if _, err := Volumes([]string{text}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
