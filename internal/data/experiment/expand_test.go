package experiment_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/file"
)

func TestExpand(t *testing.T) {
	vars := map[string]string{"port": "8080", "db.port": "5432", "empty": "", "dollar": "${port}"}
	for _, c := range []struct{ name, text, want string }{
		{"no name", "plain", "plain"},
		{"nothing", "", ""},
		{"a name alone", "${port}", "8080"},
		{"names among letters", ":${port}-${db.port}.", ":8080-5432."},
		{"an empty value", "a${empty}b", "ab"},
		{"a value is not expanded again", "${dollar}", "${port}"},
		{"escaped", "$${port}", "${port}"},
		{"escaped beside a name", "$${port}${port}", "${port}8080"},
		{"dollars that mean nothing", "$port $5 $$ $", "$port $5 $$ $"},
		{"a dollar before an escape", "$$${port}", "$${port}"},
		{"templates of requests", "/{{uuid}}/${port}/{{ randInt 1 5 }}", "/{{uuid}}/8080/{{ randInt 1 5 }}"},
		{"braces alone", "{port} }{", "{port} }{"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := experiment.Expand(c.text, vars)
			if err != nil || got != c.want {
				t.Errorf("Expand(%q) = %q, %v, want %q", c.text, got, err, c.want)
			}
		})
	}
}

func TestExpandRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"an unknown name", ":${prot}", `":${prot}": unknown name ${prot}; did you mean "port"?`},
		{"an unknown name like no other", "${x}", `"${x}": unknown name ${x}; known names: db.port, port`},
		{"a name without its end", "a${port", `"a${port": ${ has no }; write $${ for the letters ${`},
		{"what is no name", "${port:-80}", `"${port:-80}": ${port:-80} is not a valid name; write $${ for the letters ${`},
		{"nothing as a name", "${}", `"${}": ${} is not a valid name; write $${ for the letters ${`},
		{"a name in a name", "${a${port}}", `"${a${port}}": ${a${port} is not a valid name; write $${ for the letters ${`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := experiment.Expand(c.text, map[string]string{"port": "1", "db.port": "2"})
			if err == nil || err.Error() != c.want {
				t.Errorf("Expand(%q) = %q, %v\nwant the error %s", c.text, got, err, c.want)
			}
		})
	}
}

func TestExpandGivesBackWhatWasEscaped(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("$${}ab."))).Draw(t, "text")
		escaped := strings.ReplaceAll(text, "${", "$${")
		if got, err := experiment.Expand(escaped, nil); err != nil || got != text {
			t.Fatalf("Expand(%q) = %q, %v, want %q", escaped, got, err, text)
		}
	})
}

// What Parse replaces and what the platform replaces later must come out as if
// all had been replaced at once.
func TestVariedTextExpandsAsIfAtOnce(t *testing.T) {
	piece := rapid.SampledFrom([]string{"$", "{", "}", "a", "$${", "${v}", "${port}"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 1, 8).Draw(t, "pieces"), "")
		value := rapid.SampledFrom([]string{"x", "{", "}", "{port}", "$a", "$$b", ""}).Draw(t, "value")
		want, err := experiment.Expand(text, map[string]string{"v": value, "port": "80"})
		if err != nil {
			t.Skip("no text that Parse would take")
		}
		e, err := file.Parse("x.yaml", []byte(`
name: x
services: {s: {command: [./s, '${v}', '`+text+`']}}
vary: {v: ['`+value+`']}
load: {request: {path: /}, users: 1}
`), nil)
		if err != nil {
			t.Fatal(err)
		}
		late := e.Cells[0].Service.Command[2]
		got, err := experiment.Expand(late, map[string]string{"port": "80"})
		if err != nil || got != want {
			t.Fatalf("%q with v=%q became %q, and then %q, %v; want %q", text, value, late, got, err, want)
		}
	})
}

func FuzzExpand(f *testing.F) {
	f.Add("${port}", "port", "80")
	f.Add("$${port} {{uuid}} ${db.port}", "db.port", "5432")
	f.Fuzz(func(t *testing.T, text, name, value string) {
		got, err := experiment.Expand(text, map[string]string{name: value})
		if err == nil && !strings.Contains(text, "${") && got != text {
			t.Errorf("Expand(%q) = %q", text, got)
		}
	})
}
