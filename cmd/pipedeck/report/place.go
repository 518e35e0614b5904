// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// placed is a file with a line in a text: "web/deployment.yaml:12", "web/app.pipecd.yaml:3:5".
var placed = regexp.MustCompile(`([^\s:"'()\[\],;]+):(\d{1,9})(?::(\d{1,9}))?`)

// String is "file", "file:line" or "file:line:column".
func (p *Place) String() string {
	switch {
	case p == nil:
		return ""
	case p.Line == 0:
		return p.File
	case p.Column == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// locate finds the place of what is wrong: the one that is known, else the first file of the repository that the reason
// names, else the configuration file.
func (f *Facts) locate(a *Application, known string) {
	switch a.Result {
	case Invalid, Failure, Missing, Cancelled, Unhealthy, Undeployed, Unfinished:
	default:
		return
	}
	dir := path.Dir(a.File)
	place, written := f.find(known, dir)
	if place == nil {
		place, written = f.find(a.Reason, dir)
	}
	if place == nil {
		a.Place = &Place{File: a.File}
		return
	}
	a.Place = place
	if !strings.Contains(a.Reason, place.String()) {
		// Readers of the report are at the root of the repository.
		a.Reason = strings.Replace(a.Reason, written, place.String(), 1)
	}
}

func (f *Facts) find(in, dir string) (place *Place, written string) {
	return FindPlace(f.Root, in, dir)
}

// FindPlace returns the first place in a text whose file is in the work tree at root, below its folder dir or below the
// root, and how it is written in the text; nil for none.
func FindPlace(root, in, dir string) (place *Place, written string) {
	for _, match := range placed.FindAllStringSubmatch(in, 20) {
		for _, file := range []string{match[1], path.Join(dir, match[1])} {
			if file = path.Clean(file); !has(root, file) {
				continue
			}
			place := &Place{File: file}
			place.Line, _ = strconv.Atoi(match[2]) // digits only, or empty
			place.Column, _ = strconv.Atoi(match[3])
			return place, match[0]
		}
	}
	return nil, ""
}

// has reports whether the work tree has the file.
func has(root, file string) bool {
	if root == "" || !filepath.IsLocal(filepath.FromSlash(file)) {
		return false
	}
	info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(file)))
	return err == nil && info.Mode().IsRegular()
}
