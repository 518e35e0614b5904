// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger

import (
	"errors"
	"path"
	"regexp"
	"strings"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
)

// file is one application configuration file at the head commit. It is not changed once made.
type file struct {
	// path is relative to the repository.
	path string
	// application is nil when err says why it cannot be used.
	application *config.Application
	err         error
	// name is the application's name, or the best guess when it cannot be read.
	name string
	// nameless is the mistake of having no name; nil for others. The application cannot be registered.
	nameless *config.Error
}

func (f *file) dir() string  { return path.Dir(f.path) }
func (f *file) base() string { return path.Base(f.path) }

func readFile(name string, data []byte, err error) *file {
	f := &file{path: name}
	if err != nil {
		f.err = err
	} else if report := config.ReadApplication(data, name); len(report.Errors) > 0 {
		f.err = report.Errors
	} else {
		f.application, f.nameless = report.Application, report.Nameless()
	}
	if f.err != nil {
		f.name = guessName(data, f.dir())
		return f
	}
	f.name = f.application.Name
	return f
}

// nameLine is "name: x" as a key of a mapping, not of a list's item, in the way that it is mostly written.
var nameLine = regexp.MustCompile(`(?m)^ {1,8}name:[ \t]*["']?([^"'#\s][^"'#\r\n]{0,99})`)

// guessName is for showing an application whose configuration is broken; the directory's name will do.
func guessName(data []byte, dir string) string {
	if found := nameLine.FindSubmatch(data); found != nil {
		return strings.TrimSpace(string(found[1]))
	}
	if base := path.Base(dir); base != "." {
		return base
	}
	return "application"
}

// firstLine is the first mistake of an error.
func firstLine(err error) string {
	var one *config.Error
	if errors.As(err, &one) {
		return one.Error()
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// gitPathOf is a directory as the control plane accepts it: at least two characters (PipeCD v1:
// ^[^/].+$), which would shut out the top directory and those with a name of one letter.
func gitPathOf(dir string) string {
	switch {
	case dir == ".":
		return "./"
	case len(dir) < 2:
		return "./" + dir
	default:
		return dir
	}
}

// kindOf is how PipeCD v0 calls an application; v1 has one kind only and ignores this.
func kindOf(f *file) model.ApplicationKind {
	if f.application == nil {
		return model.ApplicationKind_KUBERNETES
	}
	return model.ApplicationKind(model.ApplicationKind_value[f.application.ChainKind()])
}
