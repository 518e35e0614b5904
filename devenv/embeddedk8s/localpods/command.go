// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package localpods

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/kubernetes/third_party/forked/golang/expansion"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/programs"
)

// errNotAllowed is in the chain of errors about programs that a manifest names and that may not run.
var errNotAllowed = errors.New("it is neither the image's own program nor one that this image may run")

// command is the program of a container with its arguments: the image's own one unless the manifest names another that
// may run. As in Kubernetes, a command of the manifest replaces the arguments of the image too.
func (c *container) command(program programs.Program, env variables) (path string, args []string, err error) {
	expand := expansion.MappingFuncFor(env)
	for _, arg := range c.spec.Args {
		args = append(args, expansion.Expand(arg, expand))
	}
	if len(c.spec.Command) == 0 {
		if len(args) == 0 {
			args = program.Args
		}
		return program.Path, args, nil
	}
	var command []string
	for _, part := range c.spec.Command {
		command = append(command, expansion.Expand(part, expand))
	}
	path, err = allowed(program, command[0], env["PATH"])
	return path, append(command[1:], args...), err
}

// allowed is the path of a program that a manifest names, on a search path.
func allowed(program programs.Program, name, search string) (string, error) {
	if isOwn(program, name) {
		return program.Path, nil
	}
	path := name
	if !strings.ContainsRune(name, filepath.Separator) {
		path = findIn(search, name)
	}
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("run %s: there is no such program", name)
	}
	if !program.Allows(path) {
		return "", fmt.Errorf("run %s: %w\nnext step: let image %s run %s, or use the image's own program",
			name, errNotAllowed, program.Image, path)
	}
	return path, nil
}

// isOwn reports whether a name stands for the image's own program, which has another path in the image.
func isOwn(program programs.Program, name string) bool {
	return name == program.Path || program.Entrypoint != "" && (name == program.Entrypoint ||
		name == filepath.Base(program.Entrypoint))
}

// findIn finds a program on a search path; empty when it is not there.
func findIn(search, name string) string {
	for _, dir := range filepath.SplitList(search) {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if err == nil && filepath.IsAbs(path) && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}
