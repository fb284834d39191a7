package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/experiment/span"
)

const (
	// unknownHelpWidth is the width of help that goes to a pipe or a file.
	unknownHelpWidth = 80
	// widestHelp is the width beyond which lines of text are hard to read.
	widestHelp = 100
	// flagColumn is the column in which the descriptions of flags begin.
	flagColumn = 26
)

// helpWidth is the width of the terminal; without one, COLUMNS or 80.
func helpWidth() int {
	if width, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil && width > 0 {
		return min(width, widestHelp)
	}
	if width, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && width > 0 {
		return min(width, widestHelp)
	}
	return unknownHelpWidth
}

// showHelp is cobra's function for --help, and for the command help.
func showHelp(c *cobra.Command, _ []string) {
	fmt.Fprint(c.OutOrStdout(), helpOf(c, helpWidth()))
}

// helpCommand is cobra's command help, with an error for a command that does not exist.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "help [COMMAND]",
		Short:  "Show the help of a command",
		Hidden: true,
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, one := range c.Root().Commands() {
				if len(args) == 0 && one.IsAvailableCommand() {
					names = append(names, one.Name())
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			found, rest, err := c.Root().Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return unknownCommand(c.Root(), rest)
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
	}
}

// helpOf is the help of a command, in lines of at most this width.
func helpOf(c *cobra.Command, width int) string {
	c.InitDefaultHelpFlag()
	t := display.Terminal{Width: width}
	long := c.Long
	if long == "" {
		long = c.Short + "."
	}
	parts := []string{reflow(long, t), usageOf(c, t)}
	if c.HasExample() {
		var lines []string
		for line := range strings.Lines(c.Example) {
			lines = append(lines, wrapCommand(strings.TrimSpace(line), width))
		}
		parts = append(parts, "Examples:\n"+strings.Join(lines, "\n"))
	}
	if c.HasAvailableSubCommands() {
		parts = append(parts, commandsOf(c, t)...)
	}
	for _, g := range groupsOf(c) {
		parts = append(parts, g.title+":\n"+flagLines(g.flags, t))
	}
	if c.HasAvailableSubCommands() {
		parts = append(parts, t.Wrap(fmt.Sprintf("%s COMMAND --help describes a command and its flags.", c.CommandPath()), ""))
	}
	return strings.Join(parts, "\n\n") + "\n"
}

func usageOf(c *cobra.Command, t display.Terminal) string {
	if !c.HasAvailableSubCommands() {
		return "Usage:\n" + wrapCommand(c.UseLine(), t.Width)
	}
	return "Usage:\n  " + c.CommandPath() + " COMMAND [flags]"
}

// commandsOf lists the subcommands by their groups.
func commandsOf(c *cobra.Command, t display.Terminal) []string {
	widest := 0
	for _, one := range c.Commands() {
		if one.IsAvailableCommand() {
			widest = max(widest, len(one.Name()))
		}
	}
	list := func(group string) string {
		var b strings.Builder
		for _, one := range c.Commands() {
			if one.IsAvailableCommand() && one.GroupID == group {
				b.WriteString(hanging("  "+one.Name(), 2+widest+2, one.Short, t) + "\n")
			}
		}
		return strings.TrimRight(b.String(), "\n")
	}
	var parts []string
	for _, g := range c.Groups() {
		if text := list(g.ID); text != "" {
			parts = append(parts, g.Title+"\n"+text)
		}
	}
	if text := list(""); text != "" {
		parts = append(parts, "Other commands:\n"+text)
	}
	return parts
}

// flagLines describe flags, each on lines of its own.
func flagLines(flags []*pflag.Flag, t display.Terminal) string {
	var lines []string
	for _, f := range flags {
		head := "      --" + f.Name
		if f.Shorthand != "" {
			head = "  -" + f.Shorthand + ", --" + f.Name
		}
		kind, usage := pflag.UnquoteUsage(f)
		if kind != "" {
			head += " " + strings.TrimSuffix(kind, "Array")
		}
		if shown := shownDefault(f); shown != "" && !strings.Contains(usage, "default") {
			usage += " (default " + shown + ")"
		}
		lines = append(lines, hanging(head, flagColumn, usage, t))
	}
	return strings.Join(lines, "\n")
}

// shownDefault is the default of a flag; "" for a value that stands for none.
func shownDefault(f *pflag.Flag) string {
	switch f.DefValue {
	case "", "0", "0s", "false", "[]":
		return ""
	}
	if d, err := time.ParseDuration(f.DefValue); err == nil && f.Value.Type() == "duration" {
		return span.Text(d) // 1m, not 1m0s
	}
	return f.DefValue
}

// hanging writes a text in a column beside a head, or below a head that reaches into it.
func hanging(head string, column int, text string, t display.Terminal) string {
	indent := strings.Repeat(" ", column)
	wrapped := t.Wrap(text, indent)
	if len(head)+2 > column {
		return head + "\n" + wrapped
	}
	return head + indent[len(head):] + strings.TrimPrefix(wrapped, indent)
}

// reflow breaks the paragraphs of a text at the width of the terminal. Lines that are
// indented stay as they are.
func reflow(text string, t display.Terminal) string {
	var out, paragraph []string
	flush := func() {
		if len(paragraph) > 0 {
			out = append(out, t.Wrap(strings.Join(paragraph, " "), ""))
			paragraph = nil
		}
	}
	for line := range strings.Lines(strings.TrimSpace(text)) {
		line = strings.TrimRight(line, "\n")
		if line != "" && line[0] != ' ' && line[0] != '\t' {
			paragraph = append(paragraph, line)
			continue
		}
		flush()
		out = append(out, line)
	}
	flush()
	return strings.Join(out, "\n")
}

// wrapCommand breaks a command line between its words, as a shell continues it: quoted
// words stay whole.
func wrapCommand(command string, width int) string {
	const first, later = "  ", "    "
	line, lines := first, []string{}
	for _, word := range words(command) {
		switch {
		case strings.TrimSpace(line) == "":
			line += word
		case len(line)+1+len(word)+len(` \`) <= width:
			line += " " + word
		default:
			lines = append(lines, line+` \`)
			line = later + word
		}
	}
	return strings.Join(append(lines, line), "\n")
}

// words splits a command line at spaces outside of quotes and brackets.
func words(line string) []string {
	var all []string
	var word strings.Builder
	var quote rune
	depth := 0
	for _, r := range line {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '\'' || r == '"':
			quote = r
		case r == '[':
			depth++
		case r == ']':
			depth--
		}
		if r == ' ' && quote == 0 && depth == 0 {
			if word.Len() > 0 {
				all = append(all, word.String())
				word.Reset()
			}
			continue
		}
		word.WriteRune(r)
	}
	if word.Len() > 0 {
		all = append(all, word.String())
	}
	return all
}
