// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package reference

import (
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// Manual writes a manual page of section 1 for each command into a directory, which it creates. date and version are
// those of the release; a zero date leaves the date away.
func Manual(tree *cobra.Command, dir, version string, date time.Time) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	tree.DisableAutoGenTag = true
	for _, cmd := range shown(tree) {
		cmd.InitDefaultHelpFlag()
	}
	header := &doc.GenManHeader{Title: "PIPEDECK", Section: "1", Source: "pipedeck " + version, Manual: "pipedeck",
		Date: &date}
	return doc.GenManTree(tree, header, dir)
}
