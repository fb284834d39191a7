package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/millicore/millicore/internal/front/try"
	"github.com/millicore/millicore/internal/host/runtimes"
)

func TestFlagsOfTryThatContradict(t *testing.T) {
	for _, c := range []struct {
		args string
		want string // "": nothing is wrong
	}{
		{"--repeats 6 --start-rate 20 --env A=b", ""},
		{"--attach 4242 --p99 50ms --get /x", ""},
		{"--repeats 0", "--repeats 0: want 1 or more"},
		{"--start-rate 0", "requests per second above 0"},
		{"--start-rate NaN", "requests per second above 0"},
		{"--start-rate 5 --users", "begins with one user"},
		{"--attach 4242 --cpu 1", "--cpu is about a server that try starts"},
		{"--attach 4242 --env A=b", "--env is about a server that try starts"},
		{"--user 4711", ""},
		{"--pids 100", ""},
		{"--pids 0", "--pids 0: want 1 or more"},
		{"--attach 4242 --pids 100", "--pids is about a server that try starts"},
		{"--attach 4242 --user shop", "--user is about a server that try starts"},
		{"--yes", "--yes needs --attach"},
		{"--image nginx -v ./a:/a -e A=b -u 1000 --network host", ""},
		{"--image nginx --attach 4242", "--image is about a server that try starts"},
		{"--image=", "--image is empty"},
		{"--image nginx --network own2", "want host"},
		{"--compose a.yaml --compose b.yaml --service web --cpu 1 -e A=b --against web:1", ""},
		{"--compose a.yaml --image nginx", "--compose names the image"},
		{"--compose a.yaml --network host", "--compose names the image"},
		{"--compose a.yaml --save b.yaml", ""},
		{"--compose a.yaml --attach 4242", "--compose is about a server that try starts"},
		{"--service web", "--service needs --compose"},
		{"-v ./a:/a", "name its image with --image"},
		{"--network host", "name its image with --image"},
	} {
		t.Run(c.args, func(t *testing.T) {
			var f tryFlags
			command := tryCommandOf(&f)
			if err := command.ParseFlags(strings.Fields(c.args)); err != nil {
				t.Fatal(err)
			}
			err := f.Check(command.Flags().Changed)
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// A body implies POST, and @FILE is a file with it, as with `millicore load`.
func TestBodiesOfTry(t *testing.T) {
	file := filepath.Join(t.TempDir(), "body.json")
	if err := os.WriteFile(file, []byte("{{raw}}"), 0o644); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"":                               "GET / %",
		"--body text":                    "POST / text%",
		"--body @" + file:                "POST / %{{raw}}",
		"--body @" + file + " --post /p": "POST /p %{{raw}}",
		"--get /g --body text":           "GET /g text%",
		"--post /p":                      "POST /p %",
	} {
		var f tryFlags
		c := tryCommandOf(&f)
		if err := c.ParseFlags(strings.Fields(line)); err != nil {
			t.Fatal(err)
		}
		f.Ask.Command, f.Out = []string{"./server"}, filepath.Join(t.TempDir(), "out")
		if err := f.Fill(c.Flags().Changed); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		e, err := f.build(try.AsItIs(&f.Ask))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		r := &e.Cells[0].Load.Request
		if got := r.Method + " " + r.Path + " " + r.Body + "%" + string(r.Inputs.Body); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

// A search that ended before there was a record has one error.
func TestASearchWithoutARecord(t *testing.T) {
	var f tryFlags
	f.Out = filepath.Join(t.TempDir(), "none")
	failed := errors.New("millicore-agent is missing")
	if err := f.answer(&cobra.Command{}, runtimes.Info{}, nil, failed); err != failed {
		t.Errorf("got %v, want %v", err, failed)
	}
}
