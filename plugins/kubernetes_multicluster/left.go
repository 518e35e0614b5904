// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/stage"
)

// deployedKey is where the plugin keeps to which deploy targets it has ever deployed an application, across its
// deployments: a target that is taken out of input.multiTargets keeps the objects.
const deployedKey = "deployed-to"

// deployedTo are the names of deploy targets that an application has been deployed to, sorted, but for those that were
// found empty since.
type deployedTo struct {
	Targets []string `json:"targets"`
}

func (d deployedTo) has(name string) bool { return slices.Contains(d.Targets, name) }

func deployedTargets(ctx context.Context, req *stage.Request) (d deployedTo, err error) {
	data, found, err := req.Client.SharedObject(ctx, req.Deployment.Application.ID, deployedKey)
	if err != nil || !found {
		return d, err
	}
	if err := json.Unmarshal(data, &d); err != nil {
		return d, fmt.Errorf("read to which deploy targets the application has been deployed: %w", err)
	}
	return d, nil
}

// put stores the targets where they are others than before.
func (d deployedTo) put(ctx context.Context, req *stage.Request, before deployedTo) error {
	slices.Sort(d.Targets)
	d.Targets = slices.Compact(d.Targets)
	if slices.Equal(d.Targets, before.Targets) {
		return nil
	}
	data, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return req.Client.PutSharedObject(ctx, req.Deployment.Application.ID, deployedKey, data)
}

// leftAt is what an application has at a deploy target that it is not deployed to any more.
type leftAt struct {
	place
	objects []manifest.Key
	// err is why that is not known.
	err error
}

// look looks at deploy targets for what an application has left there.
func (p *plugin) look(ctx context.Context, req *stage.Request, targets []stage.Target) []leftAt {
	found := make([]leftAt, len(targets))
	var group errgroup.Group
	group.SetLimit(parallelTargets)
	for i, target := range targets {
		group.Go(func() error {
			at := place{target: target, wanted: stage.LeftAt(req.Target, target),
				running: stage.LeftAt(req.Running, target)}
			objects, err := p.Left(ctx, at.request(req))
			found[i] = leftAt{place: at, objects: objects, err: err}
			return nil
		})
	}
	_ = group.Wait() // the errors are in found
	return found
}

// noteTargets notes, before it happens, that the application is deployed to the places of the new commit, and that it
// was to those of the running one.
func noteTargets(ctx context.Context, req *stage.Request) error {
	before, err := deployedTargets(ctx, req)
	if err != nil {
		return err
	}
	now, _ := places(req.Targets, req.Target, nil)
	noted := deployedTo{Targets: append(namesOf(now), before.Targets...)}
	for _, target := range req.Targets {
		if stage.At(req.Running, target) != nil {
			noted.Targets = append(noted.Targets, target.Name)
		}
	}
	return noted.put(ctx, req, before)
}

// sayLeft says where something of the application stays that it is not deployed to any more, and forgets targets where
// nothing does. It never fails the stage.
func (p *plugin) sayLeft(ctx context.Context, req *stage.Request) {
	noted, err := deployedTargets(ctx, req)
	now, _ := places(req.Targets, req.Target, nil)
	gone := slices.DeleteFunc(slices.Clone(p.known), func(t stage.Target) bool {
		return !noted.has(t.Name) || slices.Contains(namesOf(now), t.Name)
	})
	if err == nil && len(gone) > 0 {
		kept := deployedTo{Targets: namesOf(now)}
		for _, left := range p.look(ctx, req, gone) {
			if left.err != nil || len(left.objects) > 0 {
				kept.Targets = append(kept.Targets, left.target.Name)
				left.say(req)
			}
		}
		err = kept.put(ctx, req, noted)
	}
	if err != nil && ctx.Err() == nil {
		req.Log.Infof("It is not known whether something of the application stays at former deploy targets: %v", err)
	}
}

// say says what stays at the target, and what a user does about it.
func (l leftAt) say(req *stage.Request) {
	if l.err != nil {
		req.Log.Infof("Deploy target %s: the application is not deployed there any more, and it is not known whether "+
			"something of it stays there: %v", l.target.Name, l.err)
		return
	}
	is := "stay"
	if len(l.objects) == 1 {
		is = "stays"
	}
	req.Log.Infof("Deploy target %s: the application is not deployed there any more, and %s of it %s there: %s\n"+
		"next step: delete with kubectl there what is not needed; when the application is gone from Git, pipedeck "+
		"remove %s --cascade deletes it, too", l.target.Name, count(len(l.objects)), is, named(l.objects),
		req.Deployment.Application.Name)
}

// leftPlaces are the deploy targets besides the places where a removal finds something of the application, among all
// that the plugin knows. One that does not answer is among them where the application has been.
func (p *plugin) leftPlaces(ctx context.Context, req *stage.Request, chosen []place) (all []place, err error) {
	deployed, err := deployedTargets(ctx, req)
	if err != nil {
		return nil, err
	}
	others := slices.DeleteFunc(slices.Clone(p.known), func(t stage.Target) bool {
		return slices.Contains(namesOf(chosen), t.Name)
	})
	for _, left := range p.look(ctx, req, others) {
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case left.err != nil && !deployed.has(left.target.Name):
			req.Log.Infof("Deploy target %s: it is not known whether something of the application is there: %v",
				left.target.Name, left.err)
		case left.err != nil, len(left.objects) > 0:
			all = append(all, left.place)
		}
	}
	return all, nil
}

func namesOf(places []place) []string {
	names := make([]string, len(places))
	for i, p := range places {
		names[i] = p.target.Name
	}
	return names
}

// maxNamed bounds the objects that one line names.
const maxNamed = 5

func named(objects []manifest.Key) string {
	var names []string
	for i, key := range objects {
		if i == maxNamed {
			names = append(names, fmt.Sprintf("%d more", len(objects)-i))
			break
		}
		names = append(names, key.Human())
	}
	return strings.Join(names, ", ")
}

func count(n int) string {
	if n == 1 {
		return "1 resource"
	}
	return fmt.Sprintf("%d resources", n)
}
