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
			dir = watched(t, cmd)
		}
		return fromGit(cmd.Context(), dir, "for-each-ref", "--sort=-creatordate", "--count="+strconv.Itoa(maxOffers),
			"--format=%(refname:short)%09%(contents:subject)", "refs/heads", "refs/tags", "refs/remotes")
	}
}

// commits offers the newest commits of the repository that the running environment watches, or else of the one around
// the working directory.
func commits(t *session.Target) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return fromGit(cmd.Context(), watched(t, cmd), "log", "--max-count="+strconv.Itoa(maxOffers),
			"--format=%h%x09%s")
	}
}

// watched returns the directory of the repository that the running environment watches; the working directory when none
// is known.
func watched(t *session.Target, cmd *cobra.Command) string {
	if s := read(cmd.Context(), t); s != nil && s.Environment().GetRepository() != "" {
		return s.Environment().GetRepository()
	}
	return "."
}

// fromGit offers what git prints in a directory: a name, a tab and a description in each line.
func fromGit(ctx context.Context, dir string, args ...string) ([]cobra.Completion, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...).Output()
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
