// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/checkout"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/inventory"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// The notes of piped on a deployment with which a user goes back behind the newest commit: the deployment that had the
// commit, and the newest commit of then. PipeCD's piped has neither.
const (
	rollbackToKey  sdk.SharedKey[sdk.Text] = "pipedeck/rollback-to"
	newerCommitKey sdk.SharedKey[sdk.Text] = "pipedeck/newer-commit"
)

// goesBack reports whether a user has asked for an earlier commit although there was a newer one. A commit that waits
// for its approval while a newer one arrives does not go back.
func goesBack(ctx context.Context, req *Request) (bool, error) {
	for _, key := range []sdk.SharedKey[sdk.Text]{rollbackToKey, newerCommitKey} {
		if _, found, err := key.Get(ctx, req.Client); err != nil || found {
			return found, err
		}
	}
	return false, nil
}

// ownHead looks for objects in the application that is deployed, as the head of the branch has it.
type ownHead struct {
	*Executor
	req    *Request
	client *cluster.Client
	// head is the application there, and deployed as it is deployed, or has failed.
	head, deployed *Source
}

// headItems are objects that the head of the branch has, or may have, in the application.
type headItems struct {
	items []inventory.Item
	// commit is the head, and file the configuration of the application there.
	commit, file string
	// unloadable is why the manifests cannot be loaded there, so that they may have the objects; nil when they have
	// them.
	unloadable error
}

// except leaves out what the application has, or may have, at the head, and says so. These objects keep their marks. A
// user who goes back wants what a newer commit has created deleted, but for what holds data.
func (o ownHead) except(ctx context.Context, items []inventory.Item) ([]inventory.Item, error) {
	found, err := o.find(ctx, items)
	if err != nil || len(found.items) == 0 {
		return items, err
	}
	back := false
	if !isRollback(o.req) {
		if back, err = goesBack(ctx, o.req); err != nil {
			return nil, err
		}
	}
	if back {
		found.items = slices.DeleteFunc(found.items, func(i inventory.Item) bool { return !holdsData(i.Key) })
	}
	found.say(o.req, back)
	return inventory.Except(items, keysOf(found.items)), nil
}

// find returns which of the objects the application has, or may have, at the head, when that is another commit and has
// another application. A deployment of the head follows, and would create them again, empty. When the manifests cannot
// be loaded there, they may have what holds data, and what files of the application name.
func (o ownHead) find(ctx context.Context, items []inventory.Item) (found headItems, err error) {
	if o.head == nil || o.head.CommitHash == o.deployed.CommitHash || len(items) == 0 {
		return found, nil
	}
	root := repositoryRoot(o.head)
	n, err := ownNeighbour(root, o.head)
	if err != nil || n == nil {
		return found, err
	}
	loading, cancel := context.WithTimeout(ctx, claimTimeout)
	defer cancel()
	if o.same(loading, n, root) {
		return found, nil
	}
	found.commit, found.file = short(o.head.CommitHash), n.file
	look := claimLook{Claimed: Claimed{Namespace: o.client.Namespace, Items: items}}
	objects, _, err := n.load(loading, o.loader, o.req.Targets, Loading{Upgrade: IsUpgrade(o.req.Running)})
	switch {
	case ctx.Err() != nil:
		return found, context.Cause(ctx)
	case err != nil:
		found.unloadable = err
		found.items = slices.DeleteFunc(slices.Clone(items), func(i inventory.Item) bool {
			return !holdsData(i.Key) && !n.mentions(root, i.Key)
		})
	default:
		found.items = look.among(objects)
	}
	return found, nil
}

// same reports whether the application at the head is the one that is deployed: by the files in its directory, and, if
// one of them leads out of it, by its manifests.
func (o ownHead) same(ctx context.Context, n *neighbour, root string) bool {
	same, closed := n.sameFolder(root, repositoryRoot(o.deployed), n.templates)
	if !same || closed {
		return same
	}
	before, err := o.loader.LoadAs(ctx, o.req.Targets, o.deployed, Loading{})
	if err != nil || len(n.sources) != 1 {
		return false
	}
	at := n.sources[0]
	if len(at.App.Input.MultiTargets) > 0 {
		at = At(at, o.req.Targets[0])
	}
	if at == nil {
		return false
	}
	now, err := o.loader.LoadAs(ctx, o.req.Targets, at, Loading{})
	return err == nil && slices.EqualFunc(before.Manifests, now.Manifests, func(a, b manifest.Manifest) bool {
		return equality.Semantic.DeepEqual(a.Object, b.Object)
	})
}

// ownNeighbour reads the application at the head of the branch, as neighbours are read; nil when it is not there any
// more. Where it has moved, it is found among the neighbours.
func ownNeighbour(root string, head *Source) (*neighbour, error) {
	tree, err := checkout.Open(root)
	if err != nil {
		return nil, err
	}
	name := filepath.Join(head.Dir, head.ConfigFilename)
	data, err := tree.ReadFile(name)
	if err != nil {
		return nil, nil
	}
	file, err := filepath.Rel(root, name)
	if err != nil {
		return nil, err
	}
	return neighbourOf(root, filepath.ToSlash(file), data), nil
}

// say names the objects, and what a user does next.
func (h headItems) say(req *Request, back bool) {
	why := "has it in this application"
	if h.unloadable != nil {
		why = "may have it in this application: its manifests cannot be loaded there: " + oneLine(h.unloadable)
	} else if back {
		why += ", and its deletion may lose data"
	}
	var names []string
	for _, item := range h.items {
		req.Log.Infof("- %s: kept, because the head of the branch (commit %s) %s", item.Key.Human(), h.commit, why)
		names = append(names, kubectlName(item.Key))
	}
	switch {
	case len(names) == 0:
	case h.unloadable != nil:
		req.Log.Infof("next step: correct %s and its manifests in Git; the next deployment with pruning then deletes "+
			"what they do not have", h.file)
	case back:
		req.Log.Infof("next step: delete what is not needed from %s in Git, and the next deployment with pruning "+
			"deletes it; or delete it by hand: kubectl delete %s", path.Dir(h.file),
			strings.Join(names, "; kubectl delete "))
	}
}

// notAtHead leaves out what the head of the branch has, or may have, of what a failed deployment has created, and says
// so, as pruning does: the deployment may have been superseded, or cancelled when newer commits were there.
func notAtHead(ctx context.Context, e *Executor, req *Request, c *cluster.Client, s *Source,
	created []inventory.Item) ([]inventory.Item, error) {
	if len(created) == 0 {
		return nil, nil
	}
	head, err := headNow(ctx, req, req.Target)
	if err != nil {
		return nil, err
	}
	created, err = ownHead{e, req, c, head, req.Target}.except(ctx, created)
	if err != nil {
		return nil, err
	}
	failed := *req
	failed.Running = req.Target
	own, held, err := e.unclaimed(ctx, &failed, c, head, s, created)
	sayHeld(req, held)
	return own, err
}
