// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/distribution/reference"
)

// Program is what a container of an image runs.
type Program struct {
	// Image is a reference with its registry. One without tag and digest stands for all tags and digests.
	Image string `json:"image"`
	// Path is the absolute path of the executable, built for this machine.
	Path string `json:"path"`
	// SHA256 is that of the file's content, 64 hexadecimal digits.
	SHA256 string `json:"sha256"`
	// Args are the image's own arguments; a container's args replace them.
	Args []string `json:"args,omitempty"`
	// Env is the image's own environment; a container's variables replace those of the same name.
	Env map[string]string `json:"env,omitempty"`
	// WorkingDir is absolute; empty for the directory of the pod.
	WorkingDir string `json:"workingDir,omitempty"`
	// HonoursPort says that the program listens on $PORT.
	HonoursPort bool `json:"honoursPort,omitempty"`
	// MayRun are the absolute paths of the other programs that manifests may name as a command, a probe or a hook.
	// Anything stands for every program.
	MayRun []string `json:"mayRun,omitempty"`
	// Entrypoint is the program's path in the image, which a manifest may name as its command; may be empty.
	Entrypoint string `json:"entrypoint,omitempty"`
}

// Anything in MayRun allows every program.
const Anything = "*"

// Allows reports whether a manifest may have the program at path run in a container of the image.
func (p Program) Allows(path string) bool {
	return path == p.Path || path != "" && path == p.Entrypoint ||
		slices.Contains(p.MayRun, path) || slices.Contains(p.MayRun, Anything)
}

var (
	hexSHA256    = regexp.MustCompile(`^[0-9a-f]{64}$`)
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// validate returns what is wrong with an entry of the list.
func (p Program) validate() error {
	if _, err := reference.ParseNormalizedNamed(p.Image); err != nil {
		return fmt.Errorf("image %q: %w", p.Image, err)
	}
	problem := ""
	switch {
	case !filepath.IsAbs(p.Path):
		problem = fmt.Sprintf("path %q is not absolute", p.Path)
	case !hexSHA256.MatchString(p.SHA256):
		problem = fmt.Sprintf("sha256 %q is not a SHA-256", p.SHA256)
	case p.WorkingDir != "" && !filepath.IsAbs(p.WorkingDir):
		problem = fmt.Sprintf("workingDir %q is not absolute", p.WorkingDir)
	case slices.ContainsFunc(p.MayRun, func(other string) bool { return other != Anything && !filepath.IsAbs(other) }):
		problem = fmt.Sprintf("mayRun %q: want absolute paths or %q", p.MayRun, Anything)
	case slices.ContainsFunc(append([]string{p.Path, p.WorkingDir}, p.Args...), hasNUL):
		problem = "a path or an argument holds a NUL character"
	}
	for name, value := range p.Env {
		if !variableName.MatchString(name) || hasNUL(value) {
			problem = fmt.Sprintf("environment variable %q is not valid", name)
		}
	}
	if problem != "" {
		return fmt.Errorf("image %s: %w", p.Image, errors.New(problem))
	}
	return nil
}

func hasNUL(text string) bool { return strings.ContainsRune(text, 0) }
