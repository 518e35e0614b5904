// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/apply"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/inventory"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/phase"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/stage"
)

// parallelTrials bounds the requests to a cluster that run at once.
const parallelTrials = 8

// silent takes what no one reads.
type silent struct{}

func (silent) Infof(string, ...any)    {}
func (silent) Successf(string, ...any) {}

// trial tries a commit in a cluster, which changes nothing there.
type trial struct {
	question        *question
	loader          *stage.Loader
	client          *cluster.Client
	running, wanted []manifest.Manifest
	// hooks are those that would run.
	hooks []manifest.Manifest
	rule  pruning
	// found gets what the deployment would do.
	found *changes
}

// run tries all manifests, and looks for what would be pruned.
func (t *trial) run(ctx context.Context) error {
	q := t.question
	label := q.Wanted.App.VariantLabel
	stamp := manifest.Stamp{
		PipedID: q.pipedID, ApplicationID: q.applicationID, CommitHash: q.Wanted.CommitHash,
		VariantKey: label.Key, Variant: label.PrimaryValue, DeployTarget: q.Wanted.App.DeployTarget(),
	}
	stamped := manifest.CloneAll(slices.Concat(t.wanted, t.hooks))
	stamp.Apply(stamped)
	ordered, err := phase.Sort(stamped)
	if err != nil {
		return err
	}
	trials := make([]apply.Trial, len(ordered))
	refusals := make([]error, len(ordered))
	applier := apply.New(t.client, silent{})
	applier.Scaled = apply.Scaled(stamped)
	comes := comesWith(ordered, q)
	group, trying := errgroup.WithContext(ctx)
	group.SetLimit(parallelTrials)
	for i, m := range ordered {
		group.Go(func() error {
			trials[i], refusals[i] = applier.Try(trying, m)
			if refusals[i] != nil && comes.explains(m, refusals[i]) {
				trials[i], refusals[i] = apply.Trial{Manifest: m}, nil
			}
			return context.Cause(trying)
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	immutable := takeImmutable(trials, refusals)
	if err := refused(refusals); err != nil {
		return err
	}
	stay := staying{}
	for i, one := range trials {
		stay.keys = append(stay.keys, one.Manifest.Key())
		if one.Live != nil {
			stay.uids = append(stay.uids, one.Live.GetUID())
		}
		switch {
		case manifest.IsHook(one.Manifest):
			t.found.hook(one)
		case immutable[i] != nil:
			t.found.immutable(one, immutable[i])
		default:
			t.found.applied(one, q.applicationID)
		}
	}
	if err := t.findNamespace(ctx); err != nil {
		return err
	}
	return t.findUnwanted(ctx, stay)
}

// takeImmutable takes the refusals out that are about fields which cannot be changed: those are shown, by the position
// of the manifest, because there is something to decide.
func takeImmutable(trials []apply.Trial, refusals []error) map[int]*apply.RefusedError {
	taken := map[int]*apply.RefusedError{}
	for i, err := range refusals {
		var refusal *apply.RefusedError
		if errors.As(err, &refusal) && refusal.Immutable() && trials[i].Live != nil {
			taken[i], refusals[i] = refusal, nil
		}
	}
	return taken
}

// findNamespace notes that the deployment would create its namespace.
func (t *trial) findNamespace(ctx context.Context) error {
	in := t.question.Wanted.App.Input
	if !in.AutoCreateNamespace || in.Namespace == "" {
		return nil
	}
	namespaces := t.client.Metadata.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
	_, err := namespaces.Get(ctx, in.Namespace, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		t.found.notes = append(t.found.notes,
			"the namespace "+in.Namespace+" would be created (input.autoCreateNamespace)")
	case err != nil && !apierrors.IsForbidden(err): // who may not look may still be allowed to use it
		return fmt.Errorf("look for the namespace %s: %w", in.Namespace, err)
	}
	return nil
}

// newcomers are namespaces and kinds that the deployment itself would bring, so that the API cannot try what needs
// them.
type newcomers struct{ namespaces, kinds map[string]bool }

func comesWith(manifests []manifest.Manifest, q *question) newcomers {
	n := newcomers{namespaces: map[string]bool{}, kinds: map[string]bool{}}
	if in := q.Wanted.App.Input; in.AutoCreateNamespace {
		n.namespaces[in.Namespace] = true
	}
	for _, m := range manifests {
		switch {
		case m.Is(manifest.KindNamespace):
			n.namespaces[m.GetName()] = true
		case m.Is(manifest.KindCRD):
			group, _, _ := unstructured.NestedString(m.Object, "spec", "group")
			kind, _, _ := unstructured.NestedString(m.Object, "spec", "names", "kind")
			n.kinds[group+"/"+kind] = true
		}
	}
	return n
}

func (n newcomers) explains(m manifest.Manifest, err error) bool {
	if meta.IsNoMatchError(err) {
		return n.kinds[m.GroupVersionKind().Group+"/"+m.GetKind()]
	}
	return apierrors.IsNotFound(err) && n.namespaces[m.GetNamespace()]
}

// maxRefusals bounds the manifests that an error names.
const maxRefusals = 10

// refused puts all refusals into one error.
func refused(errs []error) error {
	var list []string
	more := 0
	for _, err := range errs {
		switch {
		case err == nil:
		case len(list) < maxRefusals:
			list = append(list, err.Error())
		default:
			more++
		}
	}
	if more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	if len(list) == 0 {
		return nil
	}
	return fmt.Errorf("the cluster would refuse the deployment: %s", strings.Join(list, "\n"))
}

// staying are the objects that the commit has.
type staying struct {
	keys []manifest.Key
	uids []types.UID
}

// findUnwanted looks for the application's objects that are not in the commit, as pruning does.
func (t *trial) findUnwanted(ctx context.Context, stay staying) error {
	items, err := t.present(ctx)
	if err != nil {
		return err
	}
	for _, key := range t.found.unapplied {
		key.Namespace = cmp.Or(key.Namespace, t.client.Namespace)
		stay.keys = append(stay.keys, key)
	}
	unwanted := slices.DeleteFunc(inventory.ExceptSame(inventory.Except(items, stay.keys), stay.uids),
		func(i inventory.Item) bool {
			return manifest.IsElsewhere(i.Meta.Annotations, t.question.Wanted.App.DeployTarget())
		})
	if !t.rule.enabled {
		for _, item := range unwanted {
			t.found.left = append(t.found.left, item.Key)
		}
		return nil
	}
	return t.findPruned(ctx, unwanted)
}

// present are the objects of the application in the cluster that pruning looks at.
func (t *trial) present(ctx context.Context) ([]inventory.Item, error) {
	app, c, rule := t.question.Wanted.App, t.client, t.rule
	selector := inventory.Labels(t.question.applicationID)
	if rule.onlyPrimary || !rule.enabled {
		selector = labels.Merge(selector, labels.Set{app.VariantLabel.Key: app.VariantLabel.PrimaryValue})
	}
	namespaces := []string{c.Namespace}
	if app.Input.Namespace != "" {
		namespaces = []string{app.Input.Namespace}
	}
	items, skipped, err := inventory.List(ctx, c, selector, namespaces)
	if err != nil || !rule.enabled {
		return items, err
	}
	if len(skipped) > 0 {
		t.found.notes = append(t.found.notes,
			"these kinds could not be looked at, and objects of them that Git does not name would be left alone: "+
				inventory.Words(skipped))
	}
	were, err := inventory.Lookup(ctx, c, t.question.applicationID, t.running)
	if err != nil {
		return nil, err
	}
	return inventory.Union(slices.DeleteFunc(were, func(i inventory.Item) bool {
		return rule.onlyPrimary && i.Meta.Annotations[app.VariantLabel.Key] != app.VariantLabel.PrimaryValue
	}), items), nil
}

// findPruned notes which of the unwanted objects would be deleted.
func (t *trial) findPruned(ctx context.Context, unwanted []inventory.Item) error {
	unwanted, err := t.withoutClaimed(ctx, unwanted)
	if err != nil {
		return err
	}
	deletable, kept, err := inventory.Deletable(ctx, t.client, unwanted)
	if err != nil {
		return err
	}
	for _, k := range kept {
		t.found.kept(k.Key, k.Reason)
	}
	for _, item := range deletable {
		live, err := t.client.Dynamic.Resource(item.Resource).Namespace(item.Key.Namespace).Get(ctx, item.Key.Name,
			metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return fmt.Errorf("read %s, which would be deleted: %w", item.Key.Human(), err)
		default:
			t.found.removed(item.Key, live)
		}
	}
	return nil
}

// withoutClaimed leaves out what another application has in the commit, too, and notes it.
func (t *trial) withoutClaimed(ctx context.Context, unwanted []inventory.Item) ([]inventory.Item, error) {
	q := t.question
	claims, err := t.loader.Claims(ctx, stage.Claimed{Targets: []stage.Target{q.Target}, Now: q.Wanted,
		Running: q.Running, Namespace: t.client.Namespace, Items: unwanted})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(unwanted, func(i inventory.Item) bool {
		claim, claimed := claims[i.Key]
		if claimed {
			t.found.kept(i.Key, claim.Reason())
		}
		return claimed
	}), nil
}
