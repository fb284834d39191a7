package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/millicore/millicore/experiments"
	"github.com/millicore/millicore/internal/data/record"
)

// completeWords completes the value of a flag of a command with these words.
func completeWords(c *cobra.Command, flag string, words []string) {
	err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // the command has no such flag
	}
}

// completionCommand gives cobra's command completion an error for an unknown shell.
func completionCommand(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	c, _, err := root.Find([]string{"completion"})
	if err != nil {
		panic(err) // cobra has no such command
	}
	var shells []string
	for _, one := range c.Commands() {
		shells = append(shells, one.Name())
	}
	c.Use, c.Short = "completion SHELL", "Print the script with which a shell completes commands and flags"
	c.Long = "Completion prints a script. With it a shell completes commands, flags, their words, the names of experiments and records."
	c.Example = "  source <(millicore completion bash)\n" +
		"  millicore completion fish > ~/.config/fish/completions/millicore.fish"
	c.Args = func(_ *cobra.Command, args []string) error {
		got := "none"
		if len(args) > 0 {
			got = args[0]
		}
		return fmt.Errorf("completion: expected a shell (one of %s), got %s", strings.Join(shells, ", "), got)
	}
	c.RunE = func(*cobra.Command, []string) error { return nil } // Args refuses whatever is no shell
}

// completeExperiments completes the names of the experiments that ship, and with files
// also YAML files.
func completeExperiments(files bool) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var all []cobra.Completion
		for _, name := range experiments.Names() {
			if strings.HasPrefix(name, typed) {
				all = append(all, name)
			}
		}
		if !files {
			return all, cobra.ShellCompDirectiveNoFileComp
		}
		found, _ := filepath.Glob(typed + "*.y*ml") // a pattern that is not valid matches no file
		if all = append(all, found...); len(all) > 0 {
			return all, cobra.ShellCompDirectiveNoFileComp
		}
		return []cobra.Completion{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
	}
}

// completeRecords completes up to most folders of records: those in the typed folder and
// in runs, the newest first.
func completeRecords(most int) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var all []cobra.Completion
		for _, pattern := range []string{typed + "*", "runs/*"} {
			found, _ := filepath.Glob(filepath.Join(pattern, record.RunFile))
			for i := len(found) - 1; i >= 0; i-- {
				if dir := filepath.Dir(found[i]); strings.HasPrefix(dir, typed) {
					all = append(all, dir)
				}
			}
		}
		if len(all) == 0 {
			return nil, cobra.ShellCompDirectiveFilterDirs
		}
		return all, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeFlags completes the flags that take one of a few words, of commands whose
// flags have been defined.
func completeFlags(root *cobra.Command) {
	for _, c := range root.Commands() {
		for flag, words := range enumerated[c.Name()] {
			if c.Flags().Lookup(flag) != nil {
				completeWords(c, flag, words)
			}
		}
		for _, flag := range []string{"out", "save", "junit", "hlog", "body-file", "cacert", "cert", "key", "kubeconfig"} {
			_ = c.MarkFlagFilename(flag) // an error: the command has no such flag
		}
	}
}

// enumerated are the flags that take one of a few words, by command.
var enumerated = map[string]map[string][]string{
	"run":     {"on": platforms},
	"clean":   {"on": platforms},
	"compare": {"format": compareForms},
	"doctor":  {"level": {"info", "warning", "critical"}},
	"top":     {"sort": {"throttling", "throttled-time", "cpu", "name"}},
	"load":    {"method": {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}},
	"try":     {"cpu": {"250m", "500m", "1", "2", "none"}},
}
