// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package complete

import (
	"bytes"
	"context"
	"os/exec"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
)

// references offers the branches and tags of the repository: the argument of the command if it has one, else the one
// that the running environment watches, else the one around the working directory.
func references(t *session.Target) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		dir := "."
		switch {
		case len(args) > 0:
			dir = args[0]
		case path(cmd) == "plan-preview":
			if s := read(cmd.Context(), t); s != nil && s.Environment().GetRepository() != "" {
				dir = s.Environment().GetRepository()
			}
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), patience)
		defer cancel()
		list := exec.CommandContext(ctx, "git", "-C", dir, "for-each-ref", "--sort=-creatordate",
			"--count="+strconv.Itoa(maxOffers), "--format=%(refname:short)%09%(contents:subject)", "refs/heads",
			"refs/tags", "refs/remotes")
		out, err := list.Output()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		found := &offers{}
		for line := range bytes.Lines(out) {
			name, subject, _ := strings.Cut(strings.TrimSpace(string(line)), "\t")
			found.add(name, "%s", subject)
		}
		return found.list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}
