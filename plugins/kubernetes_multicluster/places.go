// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/stage"
)

// place is a deploy target with the application as it is there.
type place struct {
	target stage.Target
	// wanted is at the new commit.
	wanted *stage.Source
	// running is nil before the first success, and where that commit was not deployed to.
	running *stage.Source
}

// request is that of the stage as it is at the place.
func (p place) request(req *stage.Request) *stage.Request {
	at := req.At(p.target)
	at.Target, at.Running = p.wanted, p.running
	return at
}

// places returns the deploy targets that the new commit is deployed to, in their order. others are the names of the
// rest.
func places(targets []stage.Target, wanted, running *stage.Source) (chosen []place, others []string) {
	for _, t := range targets {
		at := stage.At(wanted, t)
		if at == nil {
			others = append(others, t.Name)
			continue
		}
		chosen = append(chosen, place{target: t, wanted: at, running: stage.At(running, t)})
	}
	return chosen, others
}

// placesOf returns those of a stage: all, or the ones that it names.
func placesOf(req *stage.Request, names []string) ([]place, error) {
	all, others := places(req.Targets, req.Target, req.Running)
	if len(all) == 0 {
		return nil, nowhere(others)
	}
	if len(others) > 0 {
		req.Log.Infof("Not deployed to: %s, for which input.multiTargets has no entry", strings.Join(others, ", "))
	}
	if len(names) == 0 {
		return all, nil
	}
	var known []string
	for _, p := range all {
		known = append(known, p.target.Name)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("with.multiTargets: the application is not deployed to %q; its deploy targets "+
				"are %s", name, strings.Join(known, ", "))
		}
	}
	return slices.DeleteFunc(all, func(p place) bool { return !slices.Contains(names, p.target.Name) }), nil
}

// nowhere is an application whose configuration leaves out all of its deploy targets.
func nowhere(targets []string) error {
	return fmt.Errorf("input.multiTargets has an entry for none of the application's deploy targets, which are: "+
		"%s; name one of them, or leave input.multiTargets out to deploy to all",
		strings.Join(targets, ", "))
}

// unusedKeys are keys of PipeCD that have no meaning here, because no other program is run.
func unusedKeys(app *config.Application) []string {
	var keys []string
	for i, e := range app.Input.MultiTargets {
		if e.KubectlVersion != "" {
			keys = append(keys, fmt.Sprintf("input.multiTargets[%d].kubectlVersion", i))
		}
		if e.KustomizeVersion != "" {
			keys = append(keys, fmt.Sprintf("input.multiTargets[%d].kustomizeVersion", i))
		}
	}
	return keys
}
