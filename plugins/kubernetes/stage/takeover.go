// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"context"
	"fmt"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/inventory"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

const (
	// maxTakenOver bounds the objects of other applications whose marks a deployment remembers, and maxFound all those
	// that it remembers not to have created: metadata is bounded.
	maxTakenOver, maxFound = 200, 700
	// moreFound stands for the objects that are not remembered any more.
	moreFound types.UID = "more"
)

// takenOver are the objects that a deployment has taken from other applications, with their marks from before, and,
// without marks, those of no application that came after it had begun. What is older need not be known.
type takenOver map[types.UID]manifest.Marks

// has reports whether the deployment has not created an object, or may not have.
func (t takenOver) has(uid types.UID) bool {
	_, known := t[uid]
	_, more := t[moreFound]
	return known || more
}

// add notes an object, within the bounds, unless it is known.
func (t takenOver) add(uid types.UID, marks manifest.Marks) {
	_, known := t[uid]
	switch {
	case known:
	case len(t) < maxTakenOver:
		t[uid] = marks
	case len(t) < maxFound:
		t[uid] = manifest.Marks{}
	default:
		t[moreFound] = manifest.Marks{}
	}
}

func takenOverKey(app *config.Application) sdk.DeploymentKey[takenOver] {
	if target := app.DeployTarget(); target != "" {
		return sdk.DeploymentKey[takenOver]("taken-over/" + target)
	}
	return "taken-over"
}

// noteTakenOver notes whose objects a deployment takes over, before it does, and what it has found to be there. What an
// earlier stage or attempt has noted stays: since then they may belong to this application.
func noteTakenOver(req *Request, s *Source) func(context.Context, map[types.UID]manifest.Marks) error {
	var mu sync.Mutex
	return func(ctx context.Context, others map[types.UID]manifest.Marks) error {
		mu.Lock()
		defer mu.Unlock()
		key := takenOverKey(&s.App)
		noted, _, err := key.Get(ctx, req.Client)
		if err != nil {
			return err
		}
		if noted == nil {
			noted = takenOver{}
		}
		before := len(noted)
		for uid, marks := range others {
			noted.add(uid, marks)
		}
		if len(noted) == before {
			return nil
		}
		return key.Put(ctx, req.Client, noted)
	}
}

// letGo gives an object that the failed deployment has only changed back to the application that had it; without one
// the object stays without an owner. One that is Terminating was deleted by someone else, and is left alone.
func letGo(ctx context.Context, req *Request, c *cluster.Client, s *Source, item inventory.Item, was takenOver) error {
	if inventory.IsLeaving(item) {
		return nil
	}
	variantKey, name := s.App.VariantLabel.Key, item.Key.Human()
	if marks, known := was[item.Meta.UID]; known && marks.Application() != "" {
		if err := inventory.GiveBack(ctx, c, item, variantKey, marks); err != nil {
			return err
		}
		owner := naming(ctx, req)(marks.Application())
		req.Log.Infof("- %s: given back to the application %s, which had it before; what this deployment has changed "+
			"in it is drift there; to undo that: pipedeck sync %s", name, owner, owner)
		return nil
	}
	if err := inventory.Release(ctx, c, item, variantKey); err != nil {
		return err
	}
	req.Log.Info(keptText(item, req.Target.CommitHash))
	return nil
}

// keptText says of an object that no application had before what the failed deployment leaves in it. Its former values
// are not kept anywhere, but for those that kubectl has noted.
func keptText(item inventory.Item, commit string) string {
	object := kubectlName(item.Key)
	next := "set its former values again: kubectl edit " + object
	if item.Meta.Annotations[corev1.LastAppliedConfigAnnotation] != "" {
		next = "set its former values again, which may be those of: kubectl apply view-last-applied " + object
	}
	return fmt.Sprintf("- %s: is kept, since it was there before this deployment applied it; it is not part of the "+
		"application. The fields that commit %s has keep that commit's values, because what they were before is not "+
		"known\n  next step: %s", item.Key.Human(), short(commit), next)
}

// kubectlName is how kubectl is given an object.
func kubectlName(key manifest.Key) string {
	object := strings.ToLower(key.Kind) + "/" + key.Name
	if key.Group != "" {
		object = strings.ToLower(key.Kind) + "." + key.Group + "/" + key.Name
	}
	if key.Namespace != "" {
		object += " -n " + key.Namespace
	}
	return object
}
