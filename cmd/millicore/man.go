package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
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
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fmt.Errorf("create the folder of the manual pages: %w", err)
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true // it has the date, and a release builds the same bytes each time
			return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "Millicore " + version, Manual: "Millicore"}, args[0])
		},
	}
}
