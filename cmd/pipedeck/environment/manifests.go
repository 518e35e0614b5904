// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/pluginflag"
	"github.com/pipedeck/pipedeck/piped/config"
)

// manifests are the files of applications in the repository of the environment. It is the user's working tree; git and
// the user's settings of it do the work.
type manifests struct{}

// Find prefers the file that the environment names, then the first manifest of the application, then its configuration.
func (manifests) Find(e *deckv1.Environment, a *deckv1.Application) (string, error) {
	root, err := os.OpenRoot(e.GetRepository())
	if err != nil {
		return "", err
	}
	defer root.Close()
	head, err := root.ReadFile(".git/HEAD")
	branch := strings.TrimPrefix(strings.TrimSpace(string(head)), "ref: refs/heads/")
	switch {
	case err != nil:
		return "", errors.New("its repository is not a working tree on this machine")
	case branch != e.GetBranch():
		return "", fmt.Errorf("the working tree is at %s; check out %s, which is watched", branch, e.GetBranch())
	}
	dir := filepath.ToSlash(filepath.Clean(a.GetPath()))
	if hint := e.GetEditHint(); strings.HasPrefix(hint, dir+"/") && isFile(root, hint) {
		return filepath.Join(e.GetRepository(), hint), nil
	}
	entries, err := fs.ReadDir(root.FS(), dir)
	if err != nil {
		return "", fmt.Errorf("%s is not in the working tree of %s", a.GetPath(), e.GetRepository())
	}
	i := slices.IndexFunc(entries, func(entry fs.DirEntry) bool {
		extension := filepath.Ext(entry.Name())
		return (extension == ".yaml" || extension == ".yml") && entry.Type().IsRegular() &&
			!config.IsApplicationFilename(entry.Name())
	})
	file := dir + "/" + a.GetConfigFilename()
	if i >= 0 {
		file = dir + "/" + entries[i].Name()
	}
	if !isFile(root, file) {
		return "", fmt.Errorf("%s is not a file in the working tree", file)
	}
	return filepath.Join(e.GetRepository(), file), nil
}

// isFile reports whether name is a regular file below root, and not a link.
func isFile(root *os.Root, name string) bool {
	info, err := root.Lstat(name)
	return err == nil && info.Mode().IsRegular()
}

// Diff returns the difference to the last commit.
func (manifests) Diff(ctx context.Context, file string) (string, error) {
	return gitNextTo(ctx, file, "diff", "--no-ext-diff", "--no-color", "HEAD", "--", filepath.Base(file))
}

// Check reads the file as piped does when it is one of piped's configurations, with the schemas of the known plugins;
// else as YAML. Templates are no YAML before they are filled, so they are not checked.
func (manifests) Check(ctx context.Context, file string) []string {
	content, err := os.ReadFile(file)
	name := filepath.Base(file)
	if err != nil {
		return []string{fmt.Sprintf("%s: cannot read it: %v", name, err)}
	}
	if config.IsApplicationFilename(name) || config.Claimed(content, name) {
		report := config.Check(content, name)
		if checker, err := pluginflag.NewChecker(ctx, nil, io.Discard); err == nil {
			checker.CheckOptions(report)
		}
		var mistakes []string
		for _, mistake := range report.Errors {
			mistakes = append(mistakes, mistake.Error())
		}
		return mistakes
	}
	extension := filepath.Ext(name)
	if extension != ".yaml" && extension != ".yml" && extension != ".json" || bytes.Contains(content, []byte("{{")) {
		return nil
	}
	return yamlMistakes(name, content)
}

// Commit commits the file alone, whatever is staged besides.
func (manifests) Commit(ctx context.Context, file, message string) error {
	_, err := gitNextTo(ctx, file, "commit", "--quiet", "-m", message, "--", filepath.Base(file))
	return err
}

// gitNextTo runs a git command next to a file. It asks nothing: the terminal belongs to the UI.
func gitNextTo(ctx context.Context, file string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = filepath.Dir(file)
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "GIT_DIR=") && !strings.HasPrefix(variable, "GIT_WORK_TREE=") &&
			!strings.HasPrefix(variable, "GIT_INDEX_FILE=") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	cmd.Env = append(cmd.Env, "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=true")
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && len(exit.Stderr) > 0 {
		return "", fmt.Errorf("git %s: %s", args[0], strings.TrimSpace(string(exit.Stderr)))
	}
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return string(out), nil
}
