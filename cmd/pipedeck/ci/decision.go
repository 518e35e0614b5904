// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package ci

import (
	"fmt"
	"path"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/trigger/due"
)

// configurations are the application configurations of a commit, by their files.
type configurations map[string]*config.Report

// application returns a configuration that piped can deploy; nil where it refuses the file or cannot register the
// application.
func (c configurations) application(file string) *config.Application {
	report := c[file]
	if report == nil || report.Application == nil || len(report.Errors) > 0 || report.Application.Name == "" {
		return nil
	}
	return report.Application
}

// followers returns the files of the applications that the chains of others deploy, each with the name of an
// application whose chain it is in.
func (c configurations) followers(deployed func(file string) bool) map[string]string {
	found := map[string]string{}
	for first := range c {
		app := c.application(first)
		if app == nil || !deployed(first) || app.PostSync == nil || app.PostSync.Chain == nil {
			continue
		}
		for _, member := range app.PostSync.Chain.Applications {
			for file := range c {
				if other := c.application(file); other != nil && file != first && isMember(member, other) {
					found[file] = app.Name
				}
			}
		}
	}
	return found
}

// isMember reports whether a chain deploys an application by its name or labels. A chain that names a kind is left to
// the control plane, which knows it.
func isMember(member config.ChainApplication, app *config.Application) bool {
	if app.Trigger.OnChain.Disabled || member.Kind != "" || member.Name != "" && member.Name != app.Name {
		return false
	}
	for key, value := range member.Labels {
		if app.Labels[key] != value {
			return false
		}
	}
	return true
}

// decision decides what a range does to each application, as the trigger of piped will.
type decision struct {
	files      []string
	from, to   string
	base, head configurations
}

func (d *decision) decide() ([]Application, error) {
	first := func(file string) bool {
		app := d.base.application(file)
		return app != nil && !app.Trigger.OnCommit.Disabled
	}
	atBase := d.base.followers(first)
	var list []Application
	for _, file := range d.all() {
		_, follows := atBase[file]
		a, err := d.fate(file, first(file) || follows)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		a.follows = follows && !first(file)
		list = append(list, a)
	}
	touched := map[string]bool{}
	for _, a := range list {
		touched[a.File] = a.AtHead
	}
	followers := d.head.followers(func(file string) bool { return touched[file] })
	for i := range list {
		if by, follows := followers[list[i].File]; follows && !list[i].AtHead {
			list[i].Fate, list[i].Why, list[i].AtHead = Touched, "it is in the deployment chain of "+by, true
			list[i].follows = true
		}
	}
	return list, nil
}

// fate decides about one application. deployed says that the base deploys it.
func (d *decision) fate(file string, deployed bool) (Application, error) {
	before, after := d.base.application(file), d.head.application(file)
	a := Application{File: file, AtBase: deployed}
	switch {
	case after != nil:
		a.Name = after.Name
	case before != nil:
		a.Name = before.Name
	}
	var rule config.OnCommit
	switch {
	case d.head[file] == nil:
		a.Fate, a.Why = Removed, "its configuration "+file+" is not at HEAD, so nothing deploys or deletes it there"
		return a, nil
	case after != nil:
		rule = after.Trigger.OnCommit
	}
	previous := ""
	if deployed {
		previous = d.from
	}
	why, isDue, err := due.OnCommit(rule, path.Dir(file), previous, d.to,
		func() ([]string, error) { return d.files, nil })
	a.AtHead = isDue
	switch {
	case err != nil:
		return a, err
	case rule.Disabled:
		a.Fate, a.Why = Manual, "no commit deploys it"
	case isDue && !deployed:
		a.Fate, a.Why = New, d.whyNew(file)
	case isDue:
		a.Fate, a.Why = Touched, why
	default:
		a.Fate, a.Why = Unchanged, "no file of it differs"
	}
	return a, nil
}

// whyNew says why the base does not deploy an application.
func (d *decision) whyNew(file string) string {
	report := d.base[file]
	switch {
	case report == nil:
		return "it is not at the base, so HEAD is its first deployment"
	case d.base.application(file) != nil:
		return "no commit deploys it at the base, so HEAD is its first deployment"
	case len(report.Errors) > 0:
		return "its configuration at the base is not valid, so HEAD is its first deployment: " +
			report.Errors[0].Error()
	}
	return "it has no name at the base, so HEAD is its first deployment"
}
