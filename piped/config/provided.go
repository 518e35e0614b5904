// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/piped/git/address"
)

// Provided is what an environment adds to the piped configuration of a user, so that the file need not have it: who
// piped is, its key and the address of the control plane in every case.
type Provided struct {
	// Plugins are the names of the plugins whose url the environment knows.
	Plugins []string
	// Repositories are the ids of the repositories of the environment.
	Repositories []string
}

// CheckProvided is [Check] for a piped configuration that an environment completes.
func CheckProvided(data []byte, filename string, provided Provided) *Report {
	d := newDecoder(filename)
	d.repositories = provided.Repositories
	report := d.report(d.tree(data), pipedTarget(&Piped{}))
	report.Errors = slices.DeleteFunc(slices.Clone(report.Errors),
		func(e *Error) bool { return provided.has(report.Piped, e) })
	return report.forAuthors()
}

// IsPart reports whether a piped configuration says nothing of who piped is, its key and its control plane: it is for
// an environment, which completes it.
func (p *Piped) IsPart() bool {
	return p.ProjectID == "" && p.PipedID == "" && p.APIAddress == "" && p.PipedKeyFile == "" && p.PipedKeyData == ""
}

// has reports whether a mistake is the absence of what the environment provides.
func (p Provided) has(piped *Piped, e *Error) bool {
	switch {
	case len(e.missing) == 0 || piped == nil:
		return false
	case slices.Contains([]string{"spec.projectID", "spec.pipedID", "spec.apiAddress"}, e.Field):
		return true
	case e.Field == "spec":
		return slices.Contains(e.missing, "pipedKeyFile")
	}
	for i, plugin := range piped.Plugins {
		if e.Field == fmt.Sprintf("spec.plugins[%d].url", i) {
			return plugin.URL == "" && slices.Contains(p.Plugins, plugin.Name)
		}
	}
	return false
}

// LocalPath returns the path of a repository on this machine, as it is written; local is false for every other one.
func (r Repository) LocalPath() (path string, local bool) {
	a, err := address.Parse(r.Remote)
	if err != nil || a.Scheme != "file" {
		return "", false
	}
	return a.Path, true
}

// SameRemote reports whether two remotes name the same repository, whichever way they log in.
func SameRemote(a, b string) bool {
	first, err := address.Parse(a)
	if err != nil {
		return false
	}
	second, err := address.Parse(b)
	if err != nil || (first.Scheme == "file") != (second.Scheme == "file") {
		return false
	}
	plain := func(path string) string { return strings.TrimSuffix(strings.Trim(path, "/"), ".git") }
	return strings.EqualFold(first.Host, second.Host) && plain(first.Path) == plain(second.Path)
}
