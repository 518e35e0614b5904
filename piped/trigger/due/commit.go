// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package due

import (
	"fmt"
	"path"
	"strings"

	"github.com/moby/patternmatcher"

	"github.com/pipedeck/pipedeck/piped/config"
)

// OnCommit says whether the move of the branch from the commit that was triggered last calls for a
// deployment, and why. previous is empty when nothing was ever triggered; changed lists the files that
// differ and is only called when they matter. PipeCD v1, but for one thing: ignored files are overlooked,
// they do not hold back the others of the same commit.
func OnCommit(
	rule config.OnCommit, dir, previous, head string, changed func() ([]string, error),
) (reason string, due bool, err error) {
	switch {
	case rule.Disabled, previous == head:
		return "", false, nil
	case previous == "":
		return "it was never deployed", true, nil
	}
	files, err := changed()
	if err != nil {
		return "", false, err
	}
	return Touches(rule, dir, files)
}

// Touches looks for a file that belongs to the application in dir, and returns it as a reason.
func Touches(rule config.OnCommit, dir string, files []string) (reason string, touched bool, err error) {
	ignores, err := matcher("ignores", rule.Ignores)
	if err != nil {
		return "", false, err
	}
	paths, err := matcher("paths", rule.Paths)
	if err != nil {
		return "", false, err
	}
	inside := within(dir)
	for _, file := range files {
		ignored, err := ignores(file)
		if err != nil {
			return "", false, err
		}
		if ignored {
			continue
		}
		matched, err := paths(file)
		if err != nil {
			return "", false, err
		}
		if matched || inside(file) {
			return file + " was changed", true, nil
		}
	}
	return "", false, nil
}

// matcher reads the patterns under a key of trigger.onCommit. Without patterns it looks at nothing: one commit may
// change thousands of files, and they are matched for each of a thousand applications.
func matcher(key string, patterns []string) (func(file string) (bool, error), error) {
	if len(patterns) == 0 {
		return func(string) (bool, error) { return false, nil }, nil
	}
	compiled, err := patternmatcher.New(patterns)
	if err != nil {
		return nil, fmt.Errorf("read trigger.onCommit.%s: %w", key, err)
	}
	return func(file string) (bool, error) {
		matched, err := compiled.MatchesOrParentMatches(file)
		if err != nil {
			return false, fmt.Errorf("match %s with trigger.onCommit.%s: %w", file, key, err)
		}
		return matched, nil
	}, nil
}

// within reports whether files are somewhere under the directory; both are relative to the repository.
func within(dir string) func(file string) bool {
	dir = path.Clean(dir)
	return func(file string) bool {
		return dir == "." || strings.HasPrefix(file, dir) && len(file) > len(dir) && file[len(dir)] == '/'
	}
}
