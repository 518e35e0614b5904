// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package revision

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/tui/text"
)

// git runs git in a work tree.
type git struct{ root string }

// run returns what git prints. It asks the user for nothing, and the repository is that of the directory.
func (g git) run(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = g.root
	cmd.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, "GIT_DIR=") || strings.HasPrefix(variable, "GIT_WORK_TREE=") ||
			strings.HasPrefix(variable, "GIT_INDEX_FILE=")
	})
	cmd.Env = append(cmd.Env, "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0")
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return "", fmt.Errorf("run git %s in %s: %w: %s", args[0], g.root, err, strings.TrimSpace(string(exit.Stderr)))
	}
	if errors.Is(err, exec.ErrNotFound) {
		return "", errors.New("the git program is not installed; install git")
	}
	if err != nil {
		return "", fmt.Errorf("run git %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}

func (g git) lines(ctx context.Context, args ...string) ([]string, error) {
	out, err := g.run(ctx, args...)
	if err != nil || out == "" {
		return nil, err
	}
	return strings.Split(out, "\n"), nil
}

// commit returns the hash of the commit that a name stands for; "" when there is none.
func (g git) commit(ctx context.Context, name string) (string, error) {
	hash, err := g.run(ctx, "rev-parse", "--verify", "--quiet", name+"^{commit}")
	if exitCode(err) == 1 {
		return "", nil
	}
	return hash, err
}

func (g git) shallow(ctx context.Context) (bool, error) {
	is, err := g.run(ctx, "rev-parse", "--is-shallow-repository")
	return is == "true", err
}

func (g git) detached(ctx context.Context) (bool, error) {
	_, err := g.run(ctx, "symbolic-ref", "--quiet", "HEAD")
	if exitCode(err) == 1 {
		return true, nil
	}
	return false, err
}

// word is an argument as a shell reads it.
func word(argument string) string { return text.ShellWord(argument) }
