// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/inventory"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// claimTimeout bounds how long the manifests of other applications are loaded. Those that come later count as
// applications that cannot be loaded.
const claimTimeout = time.Minute

// Claim says which application has an object in Git, or may have it.
type Claim struct {
	// Application is the name, File its configuration, relative to the repository.
	Application, File string
	// Moved: it is the application itself, whose configuration is in another place now.
	Moved bool
	// Unloadable is why the application cannot be loaded, so that it may have the object; nil when it has it.
	Unloadable error
	// Unapplied is why no deployment of the application applies the object, although its manifests name it; empty when
	// one does.
	Unapplied string
	// Former is the commit at which the application has the object, when it does not have it at the head of the branch
	// any more; mostly empty.
	Former string
}

// Reason completes "X is kept, …".
func (c Claim) Reason() string {
	who := "because the application " + c.Application + " (" + c.File + ")"
	if c.Moved {
		who = "because the application has moved to " + c.File + ", which"
	}
	switch {
	case c.Unloadable != nil:
		return who + " may have it in Git now: that one cannot be loaded: " + oneLine(c.Unloadable)
	case c.Unapplied != "":
		return who + " names it in Git, but does not take it over: " + c.Unapplied
	case c.Former != "" && c.Moved:
		return who + " has it in Git at commit " + c.Former + ", though not at the head of the branch"
	case c.Former != "":
		return who + " has it in Git at commit " + c.Former + ", though not at the head of the branch, and takes it " +
			"over only when such a commit is deployed"
	case c.Moved:
		return who + " has it in Git now"
	}
	return who + " has it in Git now, and takes it over when it is deployed"
}

// oneLine is an error without its line breaks.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// Claimed asks which objects other applications claim.
type Claimed struct {
	Targets []Target
	// Now is the application at the new commit, or the repository at the head; Running is what was deployed last, or
	// nil.
	Now, Running *Source
	// Namespace is that of manifests without one.
	Namespace string
	// Application is the id of the application that has lost the objects; may be empty.
	Application string
	// Repository is the id of the repository, and Known the applications that piped knows; may be empty.
	Repository string
	Known      KnownApplications
	Items      []inventory.Item
}

// Claims returns which of the objects other applications of the repository have in Git, or may have. An object that
// moves from one application to another in a commit must not be deleted by the first, which may be deployed before the
// other: it may hold data.
//
// An application that goes to the same deploy target, as piped or its label says, has what it has, for however long.
// Another one may deploy to another cluster, as the overlays of one base do: what it has had before does not count,
// unless a failed deployment of another application has given the object back. Of an application that cannot be loaded,
// no one can say what it has: it keeps what holds data, and what its files name.
func (l *Loader) Claims(ctx context.Context, c Claimed) (map[manifest.Key]Claim, error) {
	if len(c.Items) == 0 || len(c.Targets) == 0 {
		return nil, nil
	}
	now, err := neighbours(ctx, c.Now)
	if err != nil || len(now) == 0 {
		return nil, err
	}
	var before []*neighbour
	if c.Running != nil && c.Running.CommitHash != "" {
		if before, err = neighbours(ctx, c.Running); err != nil {
			return nil, err
		}
	}
	loading, cancel := context.WithTimeout(ctx, claimTimeout)
	defer cancel()
	look := claimLook{Claimed: c, loader: l, known: c.Known.inRepository(c.Repository),
		claims: map[manifest.Key]Claim{}}
	for _, n := range now {
		var was *neighbour
		if i := slices.IndexFunc(before, func(b *neighbour) bool { return b.file == n.file }); i >= 0 {
			was = before[i]
		}
		look.at(loading, n, was)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return look.claims, nil
}

// claimLook looks for objects in applications.
type claimLook struct {
	Claimed
	loader *Loader
	known  map[string]KnownApplication // by file
	claims map[manifest.Key]Claim
}

// at notes what a neighbour claims. was is the same one at the running commit, or nil.
func (l claimLook) at(ctx context.Context, n, was *neighbour) {
	where := l.reach(n)
	if where == elsewhere {
		return
	}
	objects, err := n.objects(ctx, l.loader, l.Targets)
	if err != nil {
		l.hold(ctx, n, was, where, err)
		return
	}
	has := l.among(objects)
	if len(has) > 0 && where != here && was != nil {
		had := map[manifest.Key]bool{}
		if objects, err := was.objects(ctx, l.loader, l.Targets); err == nil {
			for _, item := range l.among(objects) {
				had[item.Key] = true
			}
		}
		has = slices.DeleteFunc(has, func(i inventory.Item) bool { return had[i.Key] && !isGivenBack(i) })
	}
	why := l.unapplied(ctx, n, objects, has, was != nil)
	for i, item := range has {
		if _, claimed := l.claims[item.Key]; !claimed || why[i] == "" {
			l.claims[item.Key] = Claim{Application: n.name, File: n.file, Moved: l.isSelf(n), Unapplied: why[i]}
		}
	}
}

// unapplied says for each item why the neighbour does not apply it: it is a hook of another moment, or a chart that
// looks it up leaves it out as long as it is there.
func (l claimLook) unapplied(ctx context.Context, n *neighbour, objects []namedObject, items []inventory.Item,
	upgrade bool) []string {
	why := make([]string, len(items))
	if len(items) == 0 {
		return why
	}
	seen, offline, err := n.load(ctx, l.loader, l.Targets, Loading{Connect: l.loader.Reaching(l.Targets),
		Upgrade: upgrade})
	for i, item := range items {
		if named := l.namedAs(objects, item); !slices.ContainsFunc(named, isApplied) {
			why[i] = named[0].unapplied
		} else if err == nil && !offline && len(l.namedAs(seen, item)) == 0 {
			why[i] = "its chart leaves it out, as the cluster is now"
		}
	}
	return why
}

func isApplied(o namedObject) bool { return o.unapplied == "" }

// hold notes what an application may have that cannot be loaded: what holds data, and what a file of it names. One
// that could not be loaded before either, and has not changed since, has not taken anything since.
func (l claimLook) hold(ctx context.Context, n, was *neighbour, where reach, cause error) {
	if ctx.Err() == nil && !n.isOurs() {
		return
	}
	root := repositoryRoot(l.Now)
	same := false
	if was != nil && l.Running != nil {
		_, err := was.objects(ctx, l.loader, l.Targets)
		same = err != nil && n.sameFiles(root, repositoryRoot(l.Running), l.Now)
	}
	for _, item := range l.Items {
		if _, claimed := l.claims[item.Key]; claimed {
			continue
		}
		may := !same && holdsData(item.Key) && !n.isTemplate(cause)
		if !may && (!same || where == here || isGivenBack(item)) {
			may = n.mentions(root, item.Key)
		}
		if may {
			l.claims[item.Key] = Claim{Application: n.name, File: n.file, Moved: l.isSelf(n), Unloadable: cause}
		}
	}
}

// reach says whether an application deploys to the deploy target.
type reach int

const (
	elsewhere reach = iota
	unsure
	here
)

func (l claimLook) reach(n *neighbour) reach {
	a, listed := l.known[n.file]
	switch target := l.Targets[0].Name; {
	case n.target == target, listed && a.deploysTo(target):
		return here
	case n.target != "", listed:
		return elsewhere
	}
	return unsure
}

// isSelf reports whether a neighbour is the application itself in the place to which it was moved since.
func (l claimLook) isSelf(n *neighbour) bool {
	a, listed := l.known[n.file]
	return listed && l.Application != "" && a.ID == l.Application
}

// among returns those of the items that are among objects in Git.
func (l claimLook) among(objects []namedObject) []inventory.Item {
	return slices.DeleteFunc(slices.Clone(l.Items), func(i inventory.Item) bool {
		return len(l.namedAs(objects, i)) == 0
	})
}

// namedAs returns those of the objects that are the item.
func (l claimLook) namedAs(objects []namedObject, item inventory.Item) []namedObject {
	return slices.DeleteFunc(slices.Clone(objects), func(o namedObject) bool { return !l.isSame(o.key, item.Key) })
}

// isSame compares what a manifest names with an object in the cluster. An object without a namespace is of a kind that
// has none, whatever the manifest says.
func (l claimLook) isSame(written, live manifest.Key) bool {
	if live.Namespace == "" {
		written.Namespace = ""
	} else {
		written.Namespace = cmp.Or(written.Namespace, l.Namespace)
	}
	return written.Fold() == live.Fold()
}

func isGivenBack(i inventory.Item) bool {
	return i.Meta.Annotations[manifest.AnnotationGivenBack] != ""
}

// heldItem is an object that is left because an application that cannot be loaded may have it, or because one names it
// and does not apply it.
type heldItem struct {
	inventory.Item
	Claim
}

// handOver leaves the objects alone that other applications claim, and returns those that are not claimed and those
// that are held. What another application has does not belong to this one any more: a later deployment of it must not
// delete that either, while the other one is not deployed. What an application may have, or does not take over, keeps
// its marks: it would belong to no one otherwise, and no one would see it.
func handOver(ctx context.Context, req *Request, c *cluster.Client, s *Source, claims map[manifest.Key]Claim,
	items []inventory.Item) (own []inventory.Item, held []heldItem, err error) {
	for _, item := range items {
		claim, claimed := claims[item.Key]
		switch {
		case !claimed:
			own = append(own, item)
		case claim.Unloadable != nil, claim.Unapplied != "":
			held = append(held, heldItem{item, claim})
		case claim.Moved: // its next deployment is from the new place, and finds the object by its marks
			req.Log.Infof("- %s: kept, %s", item.Key.Human(), claim.Reason())
		default:
			if err := inventory.Release(ctx, c, item, s.App.VariantLabel.Key); err != nil {
				return nil, nil, err
			}
			req.Log.Infof("- %s: kept, %s; it is not part of this application any more", item.Key.Human(),
				claim.Reason())
		}
	}
	return own, held, nil
}

// unclaimed separates what other applications have in Git, or may have, from the objects that this one has lost, as
// handOver does. now is the commit, or the head, where the others are looked for, s what is deployed.
func (e *Executor) unclaimed(ctx context.Context, req *Request, c *cluster.Client, now, s *Source,
	items []inventory.Item) (own []inventory.Item, held []heldItem, err error) {
	claims, err := claimsAt(ctx, e.loader, req, c, now, items)
	if err != nil {
		return nil, nil, err
	}
	return handOver(ctx, req, c, s, claims, items)
}

// claimsAt are the claims of other applications at a commit, or at the head of the branch.
func claimsAt(ctx context.Context, l *Loader, req *Request, c *cluster.Client, now *Source,
	items []inventory.Item) (map[manifest.Key]Claim, error) {
	if len(items) == 0 {
		return nil, nil
	}
	return l.Claims(ctx, Claimed{
		Targets: req.Targets, Now: now, Running: req.Running, Namespace: c.Namespace,
		Application: req.Deployment.Application.ID, Repository: req.Deployment.Application.RepositoryID,
		Known: knownApplications(ctx, req), Items: items,
	})
}

// sayHeld names what is left, and what a user does next.
func sayHeld(req *Request, held []heldItem) {
	unloadable, unapplied := divide(held)
	for _, h := range unloadable {
		req.Log.Infof("- %s: left, %s", h.Key.Human(), h.Reason())
	}
	if len(unloadable) > 0 {
		req.Log.Infof("next step: correct %s in Git, or delete it there; the next deployment with pruning then "+
			"deletes what no application has", culprits(unloadable))
	}
	for _, h := range unapplied {
		req.Log.Infof("- %s: kept, %s; it stays part of this application, which does not have it in Git",
			h.Key.Human(), h.Reason())
	}
	if len(unapplied) > 0 {
		req.Log.Infof("next step: change the manifests of %s so that a deployment applies it, which takes it over; or "+
			"delete it there, and the next deployment with pruning of this application deletes it", culprits(unapplied))
	}
}

// divide separates what applications that cannot be loaded may have from what applications name and do not apply.
func divide(held []heldItem) (unloadable, unapplied []heldItem) {
	for _, h := range held {
		if h.Unloadable != nil {
			unloadable = append(unloadable, h)
		} else {
			unapplied = append(unapplied, h)
		}
	}
	return unloadable, unapplied
}

// culprits names the applications because of which objects are held, each with its file.
func culprits(held []heldItem) string {
	var names []string
	for _, h := range held {
		if name := fmt.Sprintf("%s (%s)", h.Application, h.File); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}
