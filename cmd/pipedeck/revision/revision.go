// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package revision

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// Revision is a commit by the name that it was found by.
type Revision struct {
	// Name is what was asked for, or the branch of a remote where only that exists ("origin/main" for "main").
	Name string
	// Commit is the full hash.
	Commit string
}

// MissingError is a revision that a repository does not have.
type MissingError struct {
	// Problem says what is missing and why; Hint is the command that brings it, or names what there is.
	Problem, Hint string
}

func (e *MissingError) Error() string { return e.Problem }

// Find returns the commit that ref names in the repository with the work tree root: a branch, a tag, a hash, or one of
// these with what git allows after it, such as HEAD~1. Where there is no such branch, the one of a remote counts. A
// *MissingError when there is no such commit.
func Find(ctx context.Context, root, ref string) (Revision, error) {
	if ref == "" || strings.HasPrefix(ref, "-") || strings.ContainsFunc(ref, func(r rune) bool { return r < ' ' }) {
		return Revision{}, &MissingError{fmt.Sprintf("%q is not the name of a commit", ref),
			"give a branch, a tag or a hash, for example origin/main or HEAD~1"}
	}
	if base, _, isRange := strings.Cut(ref, ".."); isRange {
		return Revision{}, &MissingError{fmt.Sprintf("%s is a range of commits", ref),
			"give the commit that it begins with: " + cmp.Or(base, "HEAD~1")}
	}
	if _, rest := split(ref); strings.Contains(rest, "^{") {
		return Revision{}, &MissingError{fmt.Sprintf("%s may not be a commit", ref),
			"give a branch, a tag or a hash, for example origin/main or HEAD~1"}
	}
	g := git{root}
	remotes, err := g.lines(ctx, "remote")
	if err != nil {
		return Revision{}, err
	}
	for _, name := range candidates(ref, remotes) {
		commit, err := g.commit(ctx, name)
		if err != nil {
			return Revision{}, err
		}
		if commit != "" {
			return Revision{Name: name, Commit: commit}, nil
		}
	}
	return Revision{}, missing(ctx, g, ref, remotes)
}

// candidates are the names to try: as it is given, then as a branch of each remote, origin first.
func candidates(ref string, remotes []string) []string {
	names := []string{ref}
	if base, _ := split(ref); base == "HEAD" || base == "" {
		return names
	}
	for _, remote := range originFirst(remotes) {
		names = append(names, remote+"/"+ref)
	}
	return names
}

func originFirst(remotes []string) []string {
	sorted := slices.Clone(remotes)
	slices.SortStableFunc(sorted, func(a, b string) int {
		switch {
		case a == b:
			return 0
		case a == "origin":
			return -1
		case b == "origin":
			return 1
		}
		return 0
	})
	return sorted
}

// split returns a name and what git allows after it: main and ~2 for main~2. @ is HEAD.
func split(ref string) (base, rest string) {
	at := len(ref)
	for _, mark := range []string{"~", "^", "@{"} {
		if i := strings.Index(ref, mark); i >= 0 {
			at = min(at, i)
		}
	}
	base, rest = ref[:at], ref[at:]
	if base == "@" {
		base = "HEAD"
	}
	return base, rest
}

// Relation is how a base is related to a head.
type Relation int

// The relations.
const (
	// Ancestor: the head contains the base.
	Ancestor Relation = iota + 1
	// Apart: the head does not contain the base.
	Apart
	// Unknown: the history of a shallow clone ends before that shows.
	Unknown
)

// Relate returns how two commits of a repository are related.
func Relate(ctx context.Context, root, base, head string) (Relation, error) {
	g := git{root}
	_, err := g.run(ctx, "merge-base", "--is-ancestor", base, head)
	switch {
	case err == nil:
		return Ancestor, nil
	case exitCode(err) != 1:
		return 0, err
	}
	shallow, err := g.shallow(ctx)
	if err != nil || shallow {
		return Unknown, err
	}
	return Apart, nil
}

// exitCode is that of git; -1 for another error.
func exitCode(err error) int {
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return -1
}
