package secret

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestVariablesThatAreSecrets(t *testing.T) {
	for _, name := range []string{"TOKEN", "API_TOKEN", "DB_PASSWORD", "PGPASSWORD", "MYSQL_PWD", "DB_PASS", "CLIENT_SECRET", "AWS_SECRET_ACCESS_KEY",
		"AWS_ACCESS_KEY_ID", "SSH_KEY", "STRIPE_APIKEY", "SENTRY_DSN", "CREDENTIAL", "GOOGLE_CREDENTIALS", "REDISCLI_AUTH", "dbPassword", "token"} {
		if !Variable(name) {
			t.Errorf("%s is a secret", name)
		}
	}
	for _, name := range []string{"", "PATH", "GOMAXPROCS", "MONKEY", "MAX_TOKENS", "KEYS", "PASSWORD_FILE", "TOKEN_URL", "SECRET_NAME", "TOKEN_TTL",
		"AUTHOR", "COMPASS", "BYPASS", "DATABASE_URL", "AUTH_MODE"} {
		if Variable(name) {
			t.Errorf("%s is no secret", name)
		}
	}
}

func TestHeadersThatAreSecrets(t *testing.T) {
	for name, want := range map[string]bool{"Authorization": true, "cookie": true, "Set-Cookie": true, "Proxy-Authorization": true, "X-Api-Key": true,
		"X-Auth-Token": true, "X-CSRFToken": true, "Accept": false, "Host": false, "X-Key": false, "Idempotency-Key": false} {
		if got := Header(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestTextWithoutSecrets(t *testing.T) {
	for text, want := range map[string]string{
		"postgres://app:s3cret@db:5432/shop?sslmode=disable": "postgres://app:(redacted)@db:5432/shop?sslmode=disable",
		"mongodb://u:p@ss@h1,h2/x":                           "mongodb://u:(redacted)@h1,h2/x",
		"redis://:s3cret@cache:6379/0":                       "redis://:(redacted)@cache:6379/0",
		"postgres://u:with/slash@db/x":                       "postgres://u:(redacted)@db/x",
		"see http://u:p@h/ and http://v:q@h/":                "see http://u:(redacted)@h/ and http://v:(redacted)@h/",
		"http://127.0.0.1:8080/mail?to=a@b.example":          "http://127.0.0.1:8080/mail?to=a@b.example",
		"http://127.0.0.1:${port}/a@b":                       "http://127.0.0.1:${port}/a@b",
		"http://user@host/":                                  "http://user@host/",
		"/items?access_token=abc&page=2":                     "/items?access_token=(redacted)&page=2",
		"/rows?key=5":                                        "/rows?key=5",
		"/x?api_key=abc#a":                                   "/x?api_key=(redacted)",
		"host=db user=app password=s3cret dbname=shop":       "host=db user=app password=(redacted) dbname=shop",
		"Server=db;Uid=app;Pwd=s3cret;":                      "Server=db;Uid=app;Pwd=(redacted);",
		`{"user": "a", "password": "b", "n": 1}`:             `{"user": "a", "password": "(redacted)", "n": 1}`,
		"token=${token}":                                     "token=${token}",
		"postgres://app:${pw}@db/":                           "postgres://app:${pw}@db/",
		"--token=(redacted)":                                 "--token=(redacted)",
		"go procs=2, and nothing else":                       "go procs=2, and nothing else",
		"":                                                   "",
	} {
		got := Text(text)
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
		if again := Text(got); again != got {
			t.Errorf("hidden twice: %s", again)
		}
	}
}

// The placeholder of a captured value hides nothing; a text in braces does.
func TestPlaceholdersAreNoSecrets(t *testing.T) {
	for value, hides := range map[string]bool{
		"{{token}}": false, "Bearer {{token}}": false, "{{rand 1 9}}": false, "{{uuid}}": false,
		`{{"s3cret"}}`: true, "Bearer s3cret-{{seq}}": true, "a b {{token}}": true, "{{a}}{{b}}": true,
	} {
		if Hides(value) != hides {
			t.Errorf("%s hides something: %v", value, !hides)
		}
	}
	if got := Text("csrf_token={{csrf}}&password=pw"); got != "csrf_token={{csrf}}&password=(redacted)" {
		t.Error(got)
	}
}

func TestWordsOfCommands(t *testing.T) {
	got := Words([]string{"env", "TOKEN=a b", "PROCS=2", "SSH_KEY=k", "./server", "--password", "s3cret", "--db-password=s3", "--key", "5", "-v", "--token", "--port=80", "postgres://u:p@h/"})
	want := []string{"env", "TOKEN=(redacted)", "PROCS=2", "SSH_KEY=(redacted)", "./server", "--password", "(redacted)", "--db-password=(redacted)", "--key", "5", "-v", "--token", "--port=80", "postgres://u:(redacted)@h/"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestScrubLeavesCommonWords(t *testing.T) {
	scrub := Scrub([]string{"postgres", "1", "s3cret-value", "s3cret-value-longer", "${token}", "", "(redacted)"})
	got := scrub(`postgres said: s3cret-value-longer, s3cret-value, 1, ${token}`)
	if want := "postgres said: (redacted), (redacted), 1, ${token}"; got != want {
		t.Errorf("%s", got)
	}
}

func TestHashesCompareWithinOneKey(t *testing.T) {
	a, b := NewKey(), NewKey()
	h := a.Hash("TOKEN", "s3cret")
	if strings.Contains(h, "s3cret") || h != a.Hash("TOKEN", "s3cret") {
		t.Error(h)
	}
	if h == a.Hash("OTHER", "s3cret") || a.Hash("AB", "C") == a.Hash("A", "BC") {
		t.Error("the name of the variable is not a part of the hash")
	}
	for other, want := range map[string][2]bool{h: {true, true}, a.Hash("TOKEN", "other"): {false, true}, b.Hash("TOKEN", "s3cret"): {false, false}, "": {false, false}} {
		if same, known := Compare(h, other); same != want[0] || known != want[1] {
			t.Errorf("%s and %s: %v, %v", h, other, same, known)
		}
	}
}

func TestKeyIsMadeOnceAndForItsOwnerOnly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	keys := make([]Key, 8)
	var all sync.WaitGroup
	for i := range keys {
		all.Go(func() {
			var err error
			if keys[i], err = OpenKey(dir); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, k := range keys {
		if len(k) != keySize || !bytes.Equal(k, keys[0]) {
			t.Errorf("%x and %x", k, keys[0])
		}
	}
	path := filepath.Join(dir, keyFile)
	if info, err := os.Lstat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
	if err := os.WriteFile(path, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenKey(dir); err == nil || !strings.Contains(err.Error(), "remove it") {
		t.Errorf("a broken key: %v", err)
	}
	other := filepath.Join(t.TempDir(), "other")
	if err := errors.Join(os.Remove(path), os.WriteFile(other, bytes.Repeat([]byte("x"), keySize), 0o600), os.Symlink(other, path)); err != nil {
		t.Fatal(err)
	}
	if k, err := OpenKey(dir); err == nil {
		t.Errorf("the key was read through a link: %x", k)
	}
}

func TestSecretsOfJSONAndOfTokens(t *testing.T) {
	const token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3jVmNHl0w5N"
	for text, want := range map[string]string{
		`{"user": "bob", "password" : "a\"b", "client_secret":"x"}`: `{"user": "bob", "password" : "(redacted)", "client_secret":"(redacted)"}`,
		`{"token": "", "token_type": "bearer", "password": null}`:   `{"token": "", "token_type": "bearer", "password": null}`,
		"/reset/" + token + "/now":                                  "/reset/(redacted)/now",
		"/s3?X-Amz-Signature=abc&X-Amz-Date=1&sig=d%3D":             "/s3?X-Amz-Signature=(redacted)&X-Amz-Date=1&sig=(redacted)",
		"/design/eyJ.css": "/design/eyJ.css",
	} {
		if got := Text(text); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}
