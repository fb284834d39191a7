package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/millicore/millicore/experiments"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/experiment/spelling"
	"github.com/millicore/millicore/internal/front/traffic"
)

// flagError is the error about a flag of a command line that could not be read.
func flagError(c *cobra.Command, err error, args []string) error {
	help := fmt.Sprintf("see %s --help", c.CommandPath())
	var unknown *pflag.NotExistError
	var lacks *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	if _, own, findErr := c.Root().Find(args); findErr == nil {
		if missing := missingDashes(c, own); missing != nil {
			return missing
		}
	}
	switch {
	case errors.As(err, &unknown):
		return unknownFlag(c, unknown, args, help)
	case errors.As(err, &lacks):
		kind, usage := pflag.UnquoteUsage(lacks.GetFlag())
		return fmt.Errorf("--%s needs a value (%s): %s", lacks.GetFlag().Name, kind, usage)
	case errors.As(err, &invalid):
		if typed, near := oneDash(c, invalid, args); near != "" {
			return fmt.Errorf("unknown flag %s; did you mean --%s?", typed, near)
		}
		return fmt.Errorf("--%s %q: expected %s", invalid.GetFlag().Name, invalid.GetValue(), formOf(invalid))
	}
	return fmt.Errorf("%w; %s", err, help)
}

// missingDashes is the error of a flag of the server's command that try read as one of its
// own, because -- is missing before the command; nil if the flags before the command are
// wrong themselves. It is called only if a flag is wrong; args are those of the command.
func missingDashes(c *cobra.Command, args []string) error {
	if c.Name() != "try" || slices.Contains(args, "--") {
		return nil
	}
	at := firstArgument(c, args)
	if at < 0 || longFlags(c, args[:at]) != nil || c.Flags().Parse(args[:at]) != nil {
		return nil
	}
	before := strings.Join(append([]string{c.CommandPath()}, args[:at]...), " ")
	return fmt.Errorf("write -- before the server's command, so that its flags are not read as those of try: %s -- %s", before, strings.Join(args[at:], " "))
}

// firstArgument is the index of the first argument that is neither a flag nor the value of
// one; -1: there is none.
func firstArgument(c *cobra.Command, args []string) int {
	for i, arg := range args {
		if !strings.HasPrefix(arg, "-") && (i == 0 || !takesNext(c, args[i-1])) {
			return i
		}
	}
	return -1
}

// misplaced is the error of an argument of try that is not a part of the server's command:
// a number after --users, which is a switch here, or words before --.
func misplaced(c *cobra.Command, args []string, attach bool) error {
	if len(args) == 0 {
		return nil
	}
	_, err := strconv.ParseFloat(args[0], 64)
	dash := c.ArgsLenAtDash()
	switch {
	case err == nil && c.Flags().Changed("users"):
		return fmt.Errorf("--users takes no number: it is a switch, and the search finds how many users the server holds; leave out %s", args[0])
	case dash > 0 && !attach:
		return fmt.Errorf("try: %s stands before --, after which the server's command begins; leave it out, or write it after --", strings.Join(args[:dash], " "))
	}
	return nil
}

// formOf is what a flag takes.
func formOf(err *pflag.InvalidValueError) string {
	if errors.Is(err, errNoUnit) {
		return "a time with its unit, as in 100ms or 1s"
	}
	forms := map[string]string{"int": "a whole number", "int64": "a whole number", "uint64": "a whole number from 0 up", "float64": "a number",
		"duration": "a time, as in 10s, 500ms or 2m", "bool": "true or false", "port": "a port from 1 to 65535, or HOST:CONTAINER of an image", "intSlice": "whole numbers, as in 200,201"}
	if form := forms[err.GetFlag().Value.Type()]; form != "" {
		return form
	}
	return display.Problem(err.Unwrap())
}

// longFlag is the error of a long flag with one dash, which would be read as a short flag
// with its value: -duration as -d uration.
func longFlag(root *cobra.Command, args []string) error {
	c, args, err := root.Find(args)
	if err != nil {
		return nil
	}
	wrong := longFlags(c, args)
	if missing := missingDashes(c, args); wrong != nil && missing != nil {
		return missing
	}
	return wrong
}

// longFlags finds the long flag with one dash among the arguments of a command.
func longFlags(c *cobra.Command, args []string) error {
	for i, arg := range args {
		name, _, _ := strings.Cut(strings.TrimPrefix(arg, "-"), "=")
		switch {
		case arg == "--":
			return nil
		case !strings.HasPrefix(arg, "-") || len(name) < 2 || strings.HasPrefix(name, "-") || i > 0 && takesNext(c, args[i-1]):
		case c.Flag(name) != nil:
			return fmt.Errorf("unknown flag -%s; did you mean --%s?", name, name)
		}
	}
	return nil
}

// takesNext reports whether an argument is a flag whose value is the next argument.
func takesNext(c *cobra.Command, arg string) bool {
	var f *pflag.Flag
	if name, long := strings.CutPrefix(arg, "--"); long {
		f = c.Flag(name)
	} else if len(arg) == 2 && arg[0] == '-' {
		f = c.Flags().ShorthandLookup(arg[1:])
	}
	return f != nil && f.NoOptDefVal == ""
}

// oneDash finds the long flag that was probably meant by a wrong value of a short one:
// -duraton is read as -d uraton.
func oneDash(c *cobra.Command, err *pflag.InvalidValueError, args []string) (typed, near string) {
	whole := "-" + err.GetFlag().Shorthand + err.GetValue()
	if err.GetFlag().Shorthand == "" || !slices.Contains(args, whole) {
		return "", ""
	}
	return whole, spelling.Nearest(whole[1:], flagNames(c))
}

func flagNames(c *cobra.Command) []string {
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return names
}

// removedFlags are flags that earlier versions had, by command, with what to use instead.
var removedFlags = map[string]map[string]string{
	"load": {"hgrm": "use --hlog, whose file HdrHistogram's tools turn into percentiles"},
	"try":  {"unix-socket": "let the server listen on a port; millicore load --unix-socket loads a server that runs"},
}

// unknownFlag suggests the nearest flag of the command.
func unknownFlag(c *cobra.Command, err *pflag.NotExistError, args []string, help string) error {
	typed, shown := err.GetSpecifiedName(), "--"+err.GetSpecifiedName()
	if letters := err.GetSpecifiedShortnames(); letters != "" {
		typed, shown = letters, "-"+letters // a long flag with one dash, perhaps
		for _, arg := range args {          // whose first letters are flags that exist
			if strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && strings.HasSuffix(arg, letters) {
				typed, shown = arg[1:], arg
			}
		}
	}
	if instead := removedFlags[c.Name()][typed]; instead != "" {
		return fmt.Errorf("%s was removed; %s", shown, instead)
	}
	if here := traffic.Instead(c.Name(), typed); here != "" {
		return fmt.Errorf("unknown flag %s; here %s", shown, here)
	}
	if near := spelling.Nearest(typed, flagNames(c)); near != "" && len(typed) > 1 {
		return fmt.Errorf("unknown flag %s; did you mean --%s?", shown, near)
	}
	if same := startingWith(typed, c); len(typed) == 1 && len(same) > 0 {
		return fmt.Errorf("unknown flag %s; did you mean %s?", shown, strings.Join(same, " or "))
	}
	return fmt.Errorf("unknown flag %s; %s", shown, help)
}

// startingWith returns the flags that a letter may have meant: the one whose short form is
// the same letter in the other case, otherwise the long ones that begin with it.
func startingWith(letter string, c *cobra.Command) []string {
	if other := strings.ToUpper(letter); len(letter) == 1 && other != letter {
		if f := c.Flags().ShorthandLookup(other); f != nil {
			return []string{"-" + other + " (--" + f.Name + ")"}
		}
	}
	var same []string
	for _, name := range flagNames(c) {
		if strings.HasPrefix(name, letter) {
			same = append(same, "--"+name)
		}
	}
	return same
}

var (
	exclusiveFlags = regexp.MustCompile(`^if any flags in the group .*\[(.*)\] were all set$`)
	experimentFile = regexp.MustCompile(`\.ya?ml$`)
)

// flagGroupError rephrases cobra's error about flags that exclude each other.
func flagGroupError(err error) error {
	m := exclusiveFlags.FindStringSubmatch(err.Error())
	if m == nil {
		return err
	}
	return fmt.Errorf("--%s exclude each other; keep one", strings.ReplaceAll(m[1], " ", " and --"))
}

// unknownCommand suggests what was probably meant by a first word that is no command.
func unknownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	word := args[0]
	problem := fmt.Sprintf("unknown command %q", word)
	var names []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	mean := func(command string) error {
		return fmt.Errorf("%s; did you mean: millicore %s", problem, command)
	}
	if near := spelling.Nearest(word, names); near != "" {
		return mean(near)
	}
	switch u, err := url.Parse(word); {
	case slices.Contains(experiments.Names(), word), experimentFile.MatchString(word):
		return mean("run " + word)
	case err == nil && (u.Scheme == "http" || u.Scheme == "https"):
		return mean("load " + word)
	}
	if info, err := os.Stat(word); err == nil {
		if info.IsDir() {
			return mean("report " + word)
		}
		return mean("try -- " + strings.Join(args, " "))
	}
	return fmt.Errorf("%s; commands: %s", problem, strings.Join(names, ", "))
}

// exactly is cobra.ExactArgs with a description of the arguments in its error.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if cmd.Name() == "load" && len(args) > n && cmd.Flags().Changed("quiet") {
			return errors.New("-q takes no value: it is --quiet; here " + traffic.Instead("load", "q"))
		}
		if len(args) != n {
			got := "none"
			if len(args) > 0 {
				got = display.Counted(int64(len(args)), "argument")
			}
			return fmt.Errorf("%s: expected %s, got %s; see %s --help", cmd.Name(), what, got, cmd.CommandPath())
		}
		return nil
	}
}

// oneOf is the error of a flag whose value is none of its words; nil if it is one.
func oneOf(flag, value string, words []string) error {
	if slices.Contains(words, value) {
		return nil
	}
	text := fmt.Sprintf("--%s %s: want one of %s", flag, value, strings.Join(words, ", "))
	if near := spelling.Nearest(value, words); near != "" {
		text += fmt.Sprintf("; did you mean %s?", near)
	}
	return errors.New(text)
}
