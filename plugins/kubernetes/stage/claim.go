// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/inventory"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// claimTimeout bounds how long the manifests of other applications are loaded. Those that come later are searched for
// the names.
const claimTimeout = time.Minute

// Claim says which application has an object in Git.
type Claim struct {
	// Application is the name, File its configuration, relative to the repository.
	Application, File string
}

// Reason completes "X is kept, …".
func (c Claim) Reason() string {
	return "because the application " + c.Application + " (" + c.File + ") has it in Git now, and takes it over when " +
		"it is deployed"
}

// Claims returns which of the objects other applications of the repository have taken since the running commit. An
// object that moves from one application to another in a commit must not be deleted by the first, which may be deployed
// before the other: it may hold data. namespace is that of manifests without one.
//
// An application that has had the object for longer has deployed it, or deploys to another cluster, as the overlays of
// one base do. Two are exceptions: an application whose labels name the deploy target of this one, which may still wait
// for an approval, and an object that a failed deployment of another application has given back.
func (l *Loader) Claims(ctx context.Context, targets []Target, s, running *Source, namespace string,
	items []inventory.Item) (map[manifest.Key]Claim, error) {
	keys := keysOf(items)
	if len(keys) == 0 || len(targets) == 0 {
		return nil, nil
	}
	now, err := neighbours(ctx, s)
	if err != nil || len(now) == 0 {
		return nil, err
	}
	loading, cancel := context.WithTimeout(ctx, claimTimeout)
	defer cancel()
	look := claimLook{loader: l, targets: targets, namespace: namespace}
	var before []*neighbour
	if running != nil && running.CommitHash != "" {
		if before, err = neighbours(ctx, running); err != nil {
			return nil, err
		}
	}
	claims := map[manifest.Key]Claim{}
	for _, n := range now {
		if !n.mayDeployTo(targets[0]) {
			continue
		}
		has := look.among(loading, repositoryRoot(s), n, keys)
		if i := slices.IndexFunc(before, func(b *neighbour) bool { return b.file == n.file }); i >= 0 && len(has) > 0 &&
			n.target == "" {
			had := look.among(loading, repositoryRoot(running), before[i], has)
			has = slices.DeleteFunc(has, func(k manifest.Key) bool {
				return slices.Contains(had, k) && !givenBack(items, k)
			})
		}
		for _, key := range has {
			claims[key] = Claim{Application: n.name, File: n.file}
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return claims, nil
}

func givenBack(items []inventory.Item, key manifest.Key) bool {
	return slices.ContainsFunc(items, func(i inventory.Item) bool {
		return i.Key == key && i.Meta.Annotations[manifest.AnnotationGivenBack] != ""
	})
}

// claimLook looks for objects in applications.
type claimLook struct {
	loader    *Loader
	targets   []Target
	namespace string
}

// among returns those of the keys that an application has.
func (c claimLook) among(ctx context.Context, root string, n *neighbour, keys []manifest.Key) []manifest.Key {
	objects, known := n.objects(ctx, c.loader, c.targets)
	var has []manifest.Key
	for _, key := range keys {
		if !known && n.mentions(root, key) || known && slices.ContainsFunc(objects,
			func(o manifest.Key) bool { return c.isSame(o, key) }) {
			has = append(has, key)
		}
	}
	return has
}

// isSame compares what a manifest names with an object in the cluster. An object without a namespace is of a kind that
// has none, whatever the manifest says.
func (c claimLook) isSame(written, live manifest.Key) bool {
	if live.Namespace == "" {
		written.Namespace = ""
	} else {
		written.Namespace = cmp.Or(written.Namespace, c.namespace)
	}
	return written.Fold() == live.Fold()
}

// handOver leaves the objects alone that another application claims, and returns the others. They do not belong to
// this application any more: a later deployment of it must not delete them either, while the other one is not deployed.
func handOver(ctx context.Context, req *Request, c *cluster.Client, s *Source, claims map[manifest.Key]Claim,
	items []inventory.Item) ([]inventory.Item, error) {
	var own []inventory.Item
	for _, item := range items {
		claim, claimed := claims[item.Key]
		if !claimed {
			own = append(own, item)
			continue
		}
		if err := inventory.Release(ctx, c, item, s.App.VariantLabel.Key); err != nil {
			return nil, err
		}
		req.Log.Infof("- %s: kept, %s; it is not part of this application any more", item.Key.Human(), claim.Reason())
	}
	return own, nil
}
