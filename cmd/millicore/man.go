package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/millicore/millicore/internal/base/safefile"
)

// manCommand writes the manual pages that the packages contain. It is hidden:
// only the release needs it.
func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "man FOLDER",
		Short:  "Write the manual pages of all commands into a folder",
		Args:   exactly(1, "the folder"),
		Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := safefile.MkdirAll(args[0], 0o755); err != nil {
				return fmt.Errorf("create the folder of the manual pages: %w", err)
			}
			cmd.Root().DisableAutoGenTag = true // it has the date, and a release builds the same bytes each time
			return writePages(cmd.Root(), args[0])
		},
	}
}

// writePages writes the pages of a command and of those below it. Package doc has the same,
// but follows a link that another user made in the folder.
func writePages(of *cobra.Command, folder string) error {
	for _, c := range of.Commands() {
		if c.IsAvailableCommand() && !c.IsAdditionalHelpTopicCommand() {
			if err := writePages(c, folder); err != nil {
				return err
			}
		}
	}
	var page bytes.Buffer
	if err := doc.GenMan(of, &doc.GenManHeader{Section: "1", Source: "Millicore " + version, Manual: "Millicore"}, &page); err != nil {
		return err
	}
	name := strings.ReplaceAll(of.CommandPath(), " ", "-") + ".1"
	if err := safefile.WriteFile(filepath.Join(folder, name), page.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write a manual page: %w", err)
	}
	return nil
}
