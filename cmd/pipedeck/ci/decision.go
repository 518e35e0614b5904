// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package ci

import (
	"fmt"
	"maps"
	"path"
	"slices"

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
// application whose chain it is in. A chain that names a kind is left to the control plane, which knows it.
func (c configurations) followers(deployed func(file string) bool) map[string]string {
	found := map[string]string{}
	c.eachMember(func(first, file string, member config.ChainApplication) {
		if deployed(first) && member.Kind == "" {
			found[file] = c.application(first).Name
		}
	})
	return found
}

// eachMember calls visit for each application of each chain, with the configuration files of the application that
// begins the chain and of the member.
func (c configurations) eachMember(visit func(first, file string, member config.ChainApplication)) {
	for _, first := range slices.Sorted(maps.Keys(c)) {
		app := c.application(first)
		if app == nil || app.PostSync == nil || app.PostSync.Chain == nil {
			continue
		}
		for _, member := range app.PostSync.Chain.Applications {
			for file := range c {
				if other := c.application(file); other != nil && file != first && isMember(member, other) {
					visit(first, file, member)
				}
			}
		}
	}
}

// isMember reports whether a chain deploys an application by its name or labels.
func isMember(member config.ChainApplication, app *config.Application) bool {
	if app.Trigger.OnChain.Disabled || member.Name != "" && member.Name != app.Name {
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
	// unsound are configurations at the base that piped reads, but that have mistakes or need what the environment
	// lacks, each with the first reason.
	unsound map[string]string
	// leftOut reports applications that are deployed at neither commit; nil for none.
	leftOut func(file string) bool
}

func (d *decision) isOut(file string) bool { return d.leftOut != nil && d.leftOut(file) }

func (d *decision) decide() ([]Application, error) {
	first := func(file string) bool {
		app := d.base.application(file)
		return app != nil && !app.Trigger.OnCommit.Disabled
	}
	atBase := d.base.followers(func(file string) bool { return first(file) && !d.isOut(file) })
	var list []Application
	for _, file := range d.all() {
		_, follows := atBase[file]
		a, err := d.fate(file, first(file) || follows)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		a.follows = follows && !first(file)
		_, a.unsound = d.unsound[file]
		if d.isOut(file) {
			a.AtBase, a.AtHead = false, false
		}
		list = append(list, a)
	}
	d.addFollowers(list)
	return list, nil
}

// addFollowers deploys at HEAD what the chains of touched applications deploy.
func (d *decision) addFollowers(list []Application) {
	deployed := map[string]bool{}
	for _, a := range list {
		deployed[a.File] = a.AtHead
	}
	followers := d.head.followers(func(file string) bool { return deployed[file] })
	for i := range list {
		a := &list[i]
		if by, follows := followers[a.File]; follows && !a.AtHead && !d.isOut(a.File) {
			a.Fate, a.Why, a.AtHead, a.Touched = Touched, "it is in the deployment chain of "+by, true, true
			a.follows = true
		}
	}
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
		a.Fate, a.Why = Removed, "its configuration "+file+" is not at HEAD"
		if before != nil {
			a.onRemoved = before.OnRemoved
		}
		return a, nil
	case after != nil:
		rule = after.Trigger.OnCommit
	}
	why, touched, err := due.Touches(rule, path.Dir(file), d.files)
	if err != nil {
		return a, err
	}
	previous := ""
	if deployed {
		previous = d.from
	}
	a.Touched = touched
	_, a.AtHead, err = due.OnCommit(rule, path.Dir(file), previous, d.to,
		func() ([]string, error) { return d.files, nil })
	_, unsound := d.unsound[file]
	switch {
	case err != nil:
		return a, err
	case rule.Disabled && touched:
		a.Fate, a.Why = Undeployed, why+", but "+d.head.only(file, d.isOut)
	case rule.Disabled && d.head.byHand(file):
		a.Fate, a.Why = Manual, onlyUsers
	case a.AtHead && (!deployed || unsound):
		a.Fate, a.Why = New, d.whyNew(file)
	case a.AtHead:
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
	case d.unsound[file] != "":
		return "the base cannot be deployed here, so HEAD is its first deployment: " + d.unsound[file]
	case d.base.application(file) != nil:
		return "no commit deploys it at the base, so HEAD is its first deployment"
	case len(report.Errors) > 0:
		return "its configuration at the base is not valid, so HEAD is its first deployment: " +
			report.Errors[0].Error()
	}
	return "it has no name at the base, so HEAD is its first deployment"
}
