// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/report"
	"github.com/pipedeck/pipedeck/devenv/workspace"
)

// exclusion is one --exclude.
type exclusion struct {
	given string
	// key and value are of a label; glob is nil then.
	key, value string
	glob       *regexp.Regexp
	used       bool
}

type exclusions []*exclusion

// readExclusions reads label:KEY=VALUE, path:GLOB and plain paths, which are relative to the root of the repository.
func readExclusions(given []string) (list exclusions, err error) {
	for _, text := range given {
		one := &exclusion{given: text}
		if label, is := strings.CutPrefix(text, "label:"); is {
			key, value, has := strings.Cut(label, "=")
			if !has || key == "" {
				return nil, fmt.Errorf("--exclude %q has no key and value: write label:KEY=VALUE", text)
			}
			one.key, one.value = key, value
			list = append(list, one)
			continue
		}
		name, isGlob := strings.CutPrefix(text, "path:")
		clean := path.Clean(name)
		switch {
		case name == "", path.IsAbs(name), clean == "..", strings.HasPrefix(clean, "../"):
			return nil, fmt.Errorf("--exclude %q is not a path in the repository: write it relative to the root",
				text)
		case isGlob:
			one.glob = compileGlob(clean)
		default:
			one.glob = regexp.MustCompile("^" + regexp.QuoteMeta(clean) + "$")
		}
		list = append(list, one)
	}
	return list, nil
}

// compileGlob makes a regular expression of a pattern: * and ? stand for characters of one name, ** for any.
func compileGlob(glob string) *regexp.Regexp {
	pattern := regexp.QuoteMeta(glob)
	pattern = strings.NewReplacer(`\*\*/`, `(?:.*/)?`, `\*\*`, `.*`, `\*`, `[^/]*`, `\?`, `[^/]`).Replace(pattern)
	return regexp.MustCompile("^" + pattern + "$") // what was quoted is an expression
}

// name reports whether one of them names the application. All that do are used then.
func (l exclusions) name(app *workspace.Checked) (named bool) {
	for _, one := range l {
		if one.names(app) {
			one.used, named = true, true
		}
	}
	return named
}

// names reports whether it names the application: by a label, by its configuration file, or by a directory of that.
func (e *exclusion) names(app *workspace.Checked) bool {
	if e.glob == nil {
		value, has := app.Labels[e.key]
		return has && value == e.value
	}
	for name := app.File; ; name = path.Dir(name) {
		if e.glob.MatchString(name) {
			return true
		}
		if name == "." || name == "/" {
			return false
		}
	}
}

// apply leaves out of the run what they name.
func (l exclusions) apply(r *results, checked []*workspace.Checked) {
	for _, one := range checked {
		if l.name(one) {
			r.leaveOut(one.File, report.Excluded, "--exclude names it")
		}
	}
}

// unused are those that name no application.
func (l exclusions) unused() (given []string) {
	for _, one := range l {
		if !one.used {
			given = append(given, one.given)
		}
	}
	return given
}
