package main

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/millicore/millicore/internal/data/display"
)

// everyCommand is the command line with all its commands, those of cobra too.
func everyCommand() []*cobra.Command {
	root := command()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	all := []*cobra.Command{root}
	for i := 0; i < len(all); i++ {
		all = append(all, all[i].Commands()...)
	}
	return all
}

// unbreakable is what stays whole on a line: URLs and paths.
var unbreakable = regexp.MustCompile(`https?://\S{40,}|\S*/\S{60,}`)

func TestHelpFitsInto80Columns(t *testing.T) {
	for _, c := range everyCommand() {
		for _, width := range []int{80, 100} {
			for line := range strings.Lines(helpOf(c, width)) {
				if line = strings.TrimSuffix(line, "\n"); display.Width(line) > width && !unbreakable.MatchString(line) {
					t.Errorf("%s: %d columns: %q", c.CommandPath(), display.Width(line), line)
				}
			}
		}
	}
}

func TestHelpKeepsFlagsWhole(t *testing.T) {
	for _, c := range everyCommand() {
		if text := helpOf(c, 80); regexp.MustCompile(`(?m)[ (]--?$`).MatchString(text) {
			t.Errorf("%s: a line ends within a flag:\n%s", c.CommandPath(), text)
		}
	}
}

func TestHelpHasEveryFlagOnce(t *testing.T) {
	for _, c := range everyCommand() {
		text := helpOf(c, 80)
		c.Flags().VisitAll(func(f *pflag.Flag) {
			line := regexp.MustCompile(`(?m)^  (-\w, |    )--` + f.Name + `\b( |$)`)
			if n := len(line.FindAllString(text, -1)); !f.Hidden && n != 1 {
				t.Errorf("%s: --%s stands %d times in\n%s", c.CommandPath(), f.Name, n, text)
			}
		})
	}
}

func TestHelpGroupsFlags(t *testing.T) {
	for name, titles := range map[string][]string{
		"load": {"Load:", "Requests:", "Connections:", "Observe the service:", "Output:", everywhere + ":"},
		"try":  {"Limits and settings:", "Requests:", "Objective and search:", "Output:"},
		"run":  {"Run:", "Output:", "With --on kubernetes:"},
	} {
		c, _, err := command().Find([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		text, at := helpOf(c, 80), 0
		for _, title := range titles {
			i := strings.Index(text[at:], "\n"+title+"\n")
			if i < 0 {
				t.Errorf("%s: no %q behind the group before it in\n%s", name, title, text)
				break
			}
			at += i
		}
	}
}

// A new user's first command is try.
func TestBareCommandNamesTryFirst(t *testing.T) {
	root := command()
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetArgs(nil)
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	first := regexp.MustCompile(`millicore (\w+)`).FindStringSubmatch(out.String())
	if first == nil || first[1] != "try" {
		t.Errorf("%q stands first in\n%s", first, out.String())
	}
}

func TestCommandLinesBreakBetweenWords(t *testing.T) {
	got := wrapCommand("millicore load -R 2000 --threshold 'p99 < 300ms' [-c 50 | -d 10s] http://127.0.0.1/", 40)
	want := "  millicore load -R 2000 --threshold \\\n    'p99 < 300ms' [-c 50 | -d 10s] \\\n    http://127.0.0.1/"
	if got != want {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
}

func TestCompletion(t *testing.T) {
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"run", "qui"}, []string{"quick"}},
		{[]string{"experiments", "break"}, []string{"breaking-point"}},
		{[]string{"run", "--on", ""}, platforms},
		{[]string{"compare", "--format", ""}, compareForms},
		{[]string{"top", "--sort", ""}, []string{"throttling", "throttled-time", "cpu", "name"}},
		{[]string{"doctor", "--level", ""}, []string{"info", "warning", "critical"}},
		{[]string{"load", "--color", ""}, display.Colours},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			root := command()
			var out bytes.Buffer
			root.SetOut(&out)
			root.SetArgs(append([]string{"__completeNoDesc"}, c.args...))
			if err := root.Execute(); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			if got := lines[:len(lines)-1]; !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
