package commandline

import "testing"

func TestStarted(t *testing.T) {
	for want, command := range map[string][]string{
		"/app/api --port 80": {"/app/api", "--port", "80"},
		"nginx -c /etc/n":    {"nginx: master process nginx -c /etc/n"},
		"":                   {"nginx: worker process"},
	} {
		if got := Quoted(StartedBy(command)); got != want {
			t.Errorf("%q: got %q, want %q", command, got, want)
		}
	}
	if StartedBy(nil) != nil {
		t.Error("no command is no command")
	}
}

// A port is replaced where it is a number of its own, and what means something to a shell is
// quoted.
func TestForAShell(t *testing.T) {
	for word, want := range map[string]string{"80": "${port}", "127.0.0.1:80": "127.0.0.1:${port}", "8080": "8080", "80:80": "${port}:${port}"} {
		if got := WithPort(word, "80"); got != want {
			t.Errorf("%s: %s, want %s", word, got, want)
		}
	}
	if got, want := Quoted([]string{"a", "it's", "${port}", ""}), `a 'it'\''s' '${port}' ''`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := Assignments(map[string]string{"B": "x y", "A": "1"}), "A=1 and 'B=x y'"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
