// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package ci

import (
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/piped/config"
)

// onlyUsers is the reason of an application that nothing but users deploy.
const onlyUsers = "neither a commit, drift nor a chain deploys it"

// ByHand returns the applications of a run without a range that nothing in it deploys, by their configuration files,
// with the reason: only users deploy them, or the chains of applications that the run leaves out.
func ByHand(head *workspace.Repository, leftOut func(file string) bool) (map[string]string, error) {
	all, err := head.Configurations()
	if err != nil {
		return nil, err
	}
	read := configurations(all)
	begins := func(file string) bool {
		app := read.application(file)
		return app != nil && !leftOut(file) && (!app.Trigger.OnCommit.Disabled || !app.Trigger.OnOutOfSync.Disabled)
	}
	deployed := map[string]bool{}
	read.eachMember(func(first, file string, _ config.ChainApplication) {
		deployed[file] = deployed[file] || begins(first)
	})
	found := map[string]string{}
	for file := range read {
		switch {
		case read.application(file) == nil, leftOut(file), begins(file), deployed[file]:
		default:
			found[file] = read.only(file, leftOut)
		}
	}
	return found, nil
}

// byHand reports whether nothing but users can deploy an application that no commit deploys.
func (c configurations) byHand(file string) bool {
	app := c.application(file)
	return app != nil && app.Trigger.OnOutOfSync.Disabled && len(c.leaders(file)) == 0
}

// leaders are the configuration files of the applications whose chains deploy an application, sorted.
func (c configurations) leaders(of string) (files []string) {
	c.eachMember(func(first, file string, _ config.ChainApplication) {
		if file == of && !slices.Contains(files, first) {
			files = append(files, first)
		}
	})
	return files
}

// only says what would deploy an application that no commit deploys, and why that does not happen.
func (c configurations) only(file string, leftOut func(file string) bool) string {
	leaders := c.leaders(file)
	if len(leaders) == 0 {
		if c.byHand(file) {
			return onlyUsers
		}
		return "only drift deploys it: trigger.onCommit is disabled"
	}
	var names, out []string
	for _, leader := range leaders {
		name := c.application(leader).Name
		names = append(names, name)
		if leftOut(leader) {
			out = append(out, name)
		}
	}
	chains := "only the deployment chain of " + strings.Join(names, " or ") + " deploys it, "
	switch {
	case len(out) == len(names):
		return chains + "and this run leaves out " + strings.Join(names, " and ")
	case len(out) > 0:
		return chains + "and nothing in this run starts that"
	}
	return chains + "which nothing in this run starts"
}
