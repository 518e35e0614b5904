// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package revision

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/system/spelling"
)

const (
	// maxNear bounds the branches that an error names.
	maxNear = 5
	// hashLength is that of a full SHA-1 name; shortHash is the shortest name that is taken for a hash.
	hashLength, shortHash = 40, 7
)

// missing returns the error of a revision that is not there.
func missing(ctx context.Context, g git, ref string, remotes []string) error {
	shallow, err := g.shallow(ctx)
	if err != nil {
		return err
	}
	if !shallow {
		return absent(ctx, g, ref)
	}
	problem := fmt.Sprintf("this shallow clone does not have %s", ref)
	if len(remotes) == 0 {
		return &MissingError{problem, "it has no remote to fetch from; clone the repository with its history"}
	}
	hint, err := fetch(ctx, g, ref, remotes)
	if err != nil {
		return err
	}
	return &MissingError{problem, hint}
}

// fetch is the command that brings a revision into a shallow clone.
func fetch(ctx context.Context, g git, ref string, remotes []string) (string, error) {
	remote := originFirst(remotes)[0]
	base, rest := split(ref)
	for _, one := range remotes {
		if name, found := strings.CutPrefix(base, one+"/"); found {
			remote, base = one, name
		}
	}
	command := "git -C " + word(g.root) + " fetch "
	all := command + "--unshallow " + word(remote)
	if known, err := g.commit(ctx, ref[:len(ref)-len(rest)]); err != nil || known != "" {
		back, ok := generations(rest)
		if err != nil || !ok {
			return all, err
		}
		deepen := command + "--deepen=" + strconv.Itoa(back) + " " + word(remote)
		if base != "HEAD" {
			return deepen, nil
		}
		detached, err := g.detached(ctx)
		if err != nil || !detached {
			return deepen, err
		}
		// No branch of the remote may contain the commit, such as the merge commit of a pull request.
		return deepen + " " + known, nil
	}
	_, err := hex.DecodeString(strings.Repeat("0", len(base)%2) + base)
	isHash := err == nil && len(base) >= shortHash
	switch {
	case isHash && len(base) == hashLength && rest == "":
		return command + "--depth=1 " + word(remote) + " " + base, nil
	case isHash:
		return all, nil // only a full name can be fetched by itself
	case rest != "":
		return fmt.Sprintf("%s %s", all, branchSpec(remote, base)), nil
	}
	return fmt.Sprintf("%s--depth=1 %s %s\nor, when it is a tag: %s--depth=1 %s tag %s", command, word(remote),
		branchSpec(remote, base), command, word(remote), word(base)), nil
}

// branchSpec keeps a branch where a clone of one branch would not.
func branchSpec(remote, branch string) string {
	return word("+refs/heads/" + branch + ":refs/remotes/" + remote + "/" + branch)
}

// generations is how far back ~2, ^ or ^1~1 leads; not ok for other parents, which another line of commits leads to.
func generations(rest string) (back int, ok bool) {
	for rest != "" {
		mark := rest[0]
		digits := len(rest) - len(strings.TrimLeft(rest[1:], "0123456789")) - 1
		n, err := 1, error(nil)
		if digits > 0 {
			n, err = strconv.Atoi(rest[1 : 1+digits])
		}
		switch {
		case err != nil:
			return 0, false
		case mark == '~':
			back += n
		case mark == '^' && n <= 2:
			back++
		default:
			return 0, false
		}
		rest = rest[1+digits:]
	}
	return back, back > 0
}

// absent is the error of a repository with its whole history.
func absent(ctx context.Context, g git, ref string) error {
	problem := fmt.Sprintf("the repository has no commit %s", ref)
	base, rest := split(ref)
	if known, err := g.commit(ctx, ref[:len(ref)-len(rest)]); err != nil {
		return err
	} else if rest != "" && known != "" {
		return &MissingError{fmt.Sprintf("%s: the history of %s, commit %s, does not reach as far", problem, base,
			line.Commit(known)), "see it: git -C " + word(g.root) + " log --oneline " + word(base)}
	}
	list := "list the branches: git -C " + word(g.root) + " branch --all"
	names, err := g.lines(ctx, "for-each-ref", "--format=%(refname:short)", "--sort=-committerdate", "--count=1000",
		"refs/heads", "refs/remotes", "refs/tags")
	if err != nil {
		return err
	}
	near := slices.DeleteFunc(names, func(name string) bool { return !isNear(name, base) })
	if len(near) == 0 {
		return &MissingError{problem, list + "; or fetch first: git -C " + word(g.root) + " fetch"}
	}
	return &MissingError{problem, "did you mean " + strings.Join(near[:min(len(near), maxNear)], ", ") + "? " + list}
}

// isNear reports whether a name may be what was meant by another one: one contains the other, or they differ in two
// characters at most.
func isNear(name, meant string) bool {
	name, meant = strings.ToLower(name), strings.ToLower(meant)
	if len(meant) > 1 && strings.Contains(name, meant) {
		return true
	}
	short := name[strings.LastIndexByte(name, '/')+1:]
	meant = meant[strings.LastIndexByte(meant, '/')+1:]
	if len(meant) < 2 || short == "" {
		return false
	}
	return strings.Contains(short, meant) || len(short) > 2 && strings.Contains(meant, short) ||
		len(meant) > 3 && spelling.Distance(short, meant, 3) <= 2
}
